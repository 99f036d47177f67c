#include "loongforge/checkpoint/compose.h"

#include "loongforge/base/error.h"
#include "loongforge/models/card.h"

namespace loongforge {
namespace {

void put_tokens(Json& config, const Composition& parts) {
  config["image_token_id"] = parts.image_token;
  config["video_token_id"] = parts.video_token;
  config["vision_start_token_id"] = parts.start_token;
  config["vision_end_token_id"] = parts.end_token;
}

// Rotary positions under their newer name, with the type "default" where nothing scales them.
Json rope_of(const Json& text) {
  Json rope = Json::object();
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto given = text.find(key);
    if (given != text.end() && given->is_object()) rope.update(*given);
  }
  if (!rope.contains("rope_type")) rope["rope_type"] = rope.value("type", "default");
  rope.erase("type");
  return rope;
}

// The language model's configuration inside the whole's.
Json text_of(const Composition& parts) {
  Json text = parts.language;
  text["vocab_size"] = parts.vocab_size;
  if (parts.sections.empty()) return text;
  Json rope = rope_of(text);
  if (!rope.contains("rope_theta")) rope["rope_theta"] = text.value("rope_theta", 10000.0);
  rope["mrope_section"] = parts.sections;
  text.erase("rope_theta");
  text.erase("rope_scaling");
  text["rope_parameters"] = rope;
  return text;
}

// What a Qwen2.5-VL has and `parts` have not; empty when they are one.
std::string missing_for_qwen(const Composition& parts) {
  const Json& text = parts.language;
  const std::string tower = parts.vision.value("model_type", "");
  if (tower != "qwen2_5_vl_vision")
    return concat("a vision tower of model_type qwen2_5_vl_vision, got ", tower);
  if (parts.projector.value("kind", "patch_merge") != "patch_merge" ||
      parts.projector.value("hidden_size", 0) != 0)
    return "a projector of kind patch_merge without a hidden size of its own";
  const std::string family = text.value("model_type", "");
  if (family != "llama" && family != "qwen2")
    return concat("a language model of model_type llama or qwen2, got ", family);
  if (text.value("attention_bias", false) || text.value("mlp_bias", false))
    return "a language model without attention_bias and mlp_bias";
  if (rope_of(text).at("rope_type") != "default")
    return concat("unscaled rotary positions in the language model, got rope_type ",
                  rope_of(text).at("rope_type"));
  if (parts.sections.empty()) return "tokens on three axes";
  return "";
}

}  // namespace

Json tower_config(const Json& folder_config, const std::string& where) {
  const auto within = folder_config.find("vision_config");
  const bool has_more = within != folder_config.end() && within->is_object();
  return has_more && model_registry().find(folder_config, where).vision ? *within : folder_config;
}

Json composed_config(const Composition& parts) {
  Json config = {{"model_type", "loongforge_vlm"},
                 {"vision_config", parts.vision},
                 {"projector_config", parts.projector},
                 {"text_config", text_of(parts)}};
  put_tokens(config, parts);
  return config;
}

Json qwen2_5_vl_config(const Composition& parts) {
  const std::string reason = missing_for_qwen(parts);
  check<ConfigError>(reason.empty(), "model.form: qwen2_5_vl: expected ", reason,
                     "; take model.form: composed");
  Json text = text_of(parts), vision = parts.vision;
  const bool tied = text.value("tie_word_embeddings", false);
  for (const char* key : {"attention_bias", "mlp_bias", "pretraining_tp", "rope_interleaved", "architectures",
                          "is_llama_config", "transformers.js_config", "_name_or_path",
                          "transformers_version", "torch_dtype", "dtype"})
    text.erase(key);
  text["model_type"] = "qwen2_5_vl_text";
  vision["out_hidden_size"] = text.at("hidden_size");
  Json config = {{"model_type", "qwen2_5_vl"},
                 {"architectures", Json::array({"Qwen2_5_VLForConditionalGeneration"})},
                 {"vision_config", vision},
                 {"text_config", text},
                 {"tie_word_embeddings", tied}};
  put_tokens(config, parts);
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"})
    if (text.contains(key)) config[key] = text[key];
  return config;
}

}  // namespace loongforge
