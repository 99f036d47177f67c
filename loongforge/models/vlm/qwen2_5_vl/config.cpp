#include "loongforge/models/vlm/qwen2_5_vl/config.h"

#include "loongforge/base/error.h"
#include "loongforge/models/llm/qwen2/config.h"

namespace loongforge::qwen2_5_vl {
namespace {

// Upstream's defaults that differ from those of text models.
constexpr double kNormEps = 1e-5, kTheta = 1e6;
constexpr std::int64_t kImageToken = 151655, kVideoToken = 151656;

// text_config, or in the flat form all that is not of the whole.
Json text_of(const Json& config, const std::string& where) {
  Json text = config;
  const auto nested = config.find("text_config");
  if (nested != config.end() && !nested->is_null()) {
    check<CheckpointError>(nested->is_object(), where, ": key 'text_config': expected an object, got ",
                           nested->type_name());
    text = *nested;
    // Old files say it inside, new ones outside.
    if (ConfigReader(config, where).flag("tie_word_embeddings", false)) text["tie_word_embeddings"] = true;
  }
  for (const char* key : {"vision_config", "image_token_id", "video_token_id", "vision_start_token_id",
                          "vision_end_token_id", "vision_token_id"})
    text.erase(key);
  if (!text.contains("rms_norm_eps")) text["rms_norm_eps"] = kNormEps;
  if (!text.contains("rope_theta") && !text.contains("rope_parameters")) text["rope_theta"] = kTheta;
  return text;
}

}  // namespace

VlmConfig read_config(const Json& config, const std::string& where) {
  ConfigReader reader(config, where);
  const Json* vision = reader.object("vision_config");
  check<CheckpointError>(vision != nullptr, where, ": key 'vision_config': expected an object, got nothing");
  VlmConfig out;
  out.tower = qwen2_5_vit::read_config(*vision, where + ": vision_config");
  const bool nested = config.contains("text_config");
  out.language = qwen2::read_config(text_of(config, where), nested ? where + ": text_config" : where);
  out.image_token = reader.integer("image_token_id", 0, kImageToken);
  out.video_token = reader.integer("video_token_id", 0, kVideoToken);
  for (const std::int64_t token : {out.image_token, out.video_token})
    check<CheckpointError>(token < out.language.vocab_size, where,
                           ": keys 'image_token_id' and 'video_token_id': expected ids below vocab_size ",
                           out.language.vocab_size, ", got ", token);
  check<CheckpointError>(
      out.language.heads * out.language.head_dim == out.language.hidden_size, where,
      ": key 'head_dim': expected hidden_size / num_attention_heads, as upstream computes it, "
      "got ",
      out.language.head_dim);
  check<CheckpointError>(!out.language.rope.sections.empty(), where,
                         ": key 'mrope_section' (in rope_parameters or rope_scaling): expected three whole "
                         "numbers, got nothing");
  check<CheckpointError>(
      out.tower.out_hidden_size == out.language.hidden_size, where,
      ": key 'out_hidden_size' (vision_config): expected the language model's hidden_size ",
      out.language.hidden_size, ", got ", out.tower.out_hidden_size);
  return out;
}

}  // namespace loongforge::qwen2_5_vl
