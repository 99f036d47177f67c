#include "loongforge/models/llm/qwen2/config.h"

#include "loongforge/base/error.h"

namespace loongforge::qwen2 {
namespace {

// The lengths of windows count only where they are used.
void read_windows(ConfigReader& reader, const Json& config) {
  reader.only("use_sliding_window", false, "every token sees its whole document");
  reader.ignore("sliding_window");
  reader.ignore("max_window_layers");
  reader.ignore("layer_types");
  const auto types = config.find("layer_types");
  if (types == config.end() || types->is_null()) return;
  for (const Json& type : *types)
    if (type != "full_attention") reader.refuse("layer_types", "\"full_attention\" in every layer");
}

}  // namespace

DecoderOptions read_config(const Json& config, const std::string& where) {
  ConfigReader reader(config, where);
  DecoderOptions out = read_decoder(reader, config);
  out.qkv_bias = true;
  ignore_decoder_habits(reader);
  read_windows(reader, config);
  reader.finish();
  return out;
}

}  // namespace loongforge::qwen2
