#include "loongforge/models/llm/llama/config.h"

namespace loongforge::llama {

DecoderOptions read_config(const Json& config, const std::string& where) {
  ConfigReader reader(config, where);
  DecoderOptions out = read_decoder(reader, config);
  out.qkv_bias = out.out_bias = reader.flag("attention_bias", false);
  out.mlp_bias = reader.flag("mlp_bias", false);
  ignore_decoder_habits(reader);
  reader.only("sliding_window", nullptr, "every token sees its whole document");
  reader.only("use_sliding_window", false, "every token sees its whole document");
  reader.only("pretraining_tp", 1, "weights are whole");
  reader.only("rope_interleaved", false, "halves are turned, not pairs");
  reader.only("partial_rotary_factor", 1.0, "all of a head is turned");
  reader.ignore("is_llama_config");
  reader.ignore("transformers.js_config");
  reader.finish();
  return out;
}

}  // namespace loongforge::llama
