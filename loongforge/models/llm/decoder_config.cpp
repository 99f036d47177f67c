#include "loongforge/base/error.h"
#include "loongforge/models/llm/decoder.h"

namespace loongforge {
namespace {

// transformers' default where the key is missing.
constexpr double kDefaultTheta = 10000.0;

Llama3Scaling read_llama3(ConfigReader& reader) {
  Llama3Scaling scaling;
  scaling.factor = reader.number("factor", 0.0);
  scaling.low_freq_factor = reader.number("low_freq_factor", 0.0);
  scaling.high_freq_factor = reader.number("high_freq_factor", 0.0);
  scaling.original_max_positions = reader.number("original_max_position_embeddings", 0.0);
  if (scaling.high_freq_factor <= scaling.low_freq_factor) {
    reader.refuse("high_freq_factor", concat("a number above low_freq_factor ", scaling.low_freq_factor));
  }
  return scaling;
}

// The shares of time, height and width in the frequencies of a head, e.g. [16, 24, 24].
std::vector<std::int64_t> read_sections(ConfigReader& reader, const Json& rope, std::int64_t head_dim) {
  reader.ignore("mrope_section");
  const auto it = rope.find("mrope_section");
  if (it == rope.end() || it->is_null()) return {};
  std::vector<std::int64_t> sections;
  std::int64_t sum = 0;
  const std::string expected = concat("three whole numbers of sum head_dim / 2 = ", head_dim / 2);
  if (!it->is_array() || it->size() != 3) reader.refuse("mrope_section", expected);
  for (const Json& section : *it) {
    if (!section.is_number_integer() || section.get<std::int64_t>() < 0)
      reader.refuse("mrope_section", expected);
    sections.push_back(section.get<std::int64_t>());
    sum += sections.back();
  }
  if (sum != head_dim / 2) reader.refuse("mrope_section", expected);
  return sections;
}

// `rope_parameters` (transformers 5: theta inside) or `rope_scaling` with `rope_theta` beside it.
RopeOptions read_rope(ConfigReader& reader, std::int64_t head_dim) {
  RopeOptions rope;
  rope.theta = reader.number("rope_theta", 0.0, kDefaultTheta);
  const Json* scaling = reader.object("rope_scaling");
  const Json* parameters = reader.object("rope_parameters");
  const std::string key = parameters != nullptr ? "rope_parameters" : "rope_scaling";
  const Json* chosen = parameters != nullptr ? parameters : scaling;
  if (chosen == nullptr) return rope;
  ConfigReader inner(*chosen, reader.where() + ": " + key);
  rope.theta = inner.number("rope_theta", 0.0, rope.theta);
  rope.sections = read_sections(inner, *chosen, head_dim);
  const std::string old_name = inner.text("type", "default");
  const std::string type = inner.text("rope_type", old_name);
  if (type == "llama3") {
    rope.llama3 = read_llama3(inner);
  } else if (type == "linear") {
    rope.linear_factor = inner.number("factor", 0.0);
  } else if (type != "default" && !(type == "mrope" && !rope.sections.empty())) {
    inner.refuse(chosen->contains("rope_type") ? "rope_type" : "type", "default, linear or llama3");
  }
  inner.finish();
  return rope;
}

}  // namespace

DecoderOptions read_decoder(ConfigReader& reader, const Json& config) {
  DecoderOptions out;
  out.vocab_size = reader.integer("vocab_size", 1);
  out.hidden_size = reader.integer("hidden_size", 1);
  out.intermediate_size = reader.integer("intermediate_size", 1);
  out.layers = reader.integer("num_hidden_layers", 1);
  out.heads = reader.integer("num_attention_heads", 1);
  out.kv_heads = reader.integer("num_key_value_heads", 1, out.heads);
  if (out.heads % out.kv_heads != 0) {
    reader.refuse("num_key_value_heads", concat("a divisor of num_attention_heads ", out.heads));
  }
  if (!config.contains("head_dim") && out.hidden_size % out.heads != 0) {
    reader.refuse("hidden_size", concat("a multiple of num_attention_heads ", out.heads));
  }
  out.head_dim = reader.integer("head_dim", 2, out.hidden_size / out.heads);
  if (out.head_dim % 2 != 0)
    reader.refuse("head_dim", "an even number (hidden_size / num_attention_heads if absent)");
  out.max_positions = reader.integer("max_position_embeddings", 1, 2048);
  out.norm_eps = reader.number("rms_norm_eps", 0.0, 1e-6);
  out.init_std = reader.number("initializer_range", 0.0, 0.02);
  out.tied = reader.flag("tie_word_embeddings", false);
  out.rope = read_rope(reader, out.head_dim);
  return out;
}

void ignore_decoder_habits(ConfigReader& reader) {
  reader.only("hidden_act", "silu", "the gated MLP's activation");
  reader.only("attention_dropout", 0.0, "attention has no dropout");
  reader.only("quantization_config", nullptr, "weights are read as floating-point numbers");
  for (const char* key :
       {"model_type", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache",
        "bos_token_id", "eos_token_id", "pad_token_id", "_name_or_path", "auto_map", "max_length",
        "output_attentions", "output_hidden_states", "return_dict", "unk_token_id", "tokenizer_class"}) {
    reader.ignore(key);
  }
}

}  // namespace loongforge
