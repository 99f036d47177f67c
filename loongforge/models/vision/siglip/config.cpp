#include "loongforge/models/vision/siglip/config.h"

#include "loongforge/base/error.h"
#include "loongforge/models/config_reader.h"

namespace loongforge::siglip {
namespace {

void ignore_habits(ConfigReader& reader) {
  reader.only("hidden_act", "gelu_pytorch_tanh", "the MLP's activation");
  reader.only("attention_dropout", 0.0, "attention has no dropout");
  // The pooling head is no part of the tower.
  reader.flag("vision_use_head", false);
  for (const char* key : {"architectures", "dtype", "torch_dtype", "transformers_version", "_name_or_path",
                          "output_attentions", "output_hidden_states", "return_dict"}) {
    reader.ignore(key);
  }
}

}  // namespace

TowerConfig read_config(const Json& config, const std::string& where) {
  ConfigReader reader(config, where);
  reader.only("model_type", "siglip_vision_model", "the tower within a whole siglip is its vision_config");
  TowerConfig out;
  out.depth = reader.integer("num_hidden_layers", 1, 12);
  out.hidden_size = reader.integer("hidden_size", 1, 768);
  out.intermediate_size = reader.integer("intermediate_size", 1, 3072);
  out.heads = reader.integer("num_attention_heads", 1, 12);
  if (out.hidden_size % out.heads != 0)
    reader.refuse("hidden_size", concat("a multiple of num_attention_heads = ", out.heads));
  out.channels = reader.integer("num_channels", 1, 3);
  out.patch_size = reader.integer("patch_size", 1, 16);
  out.image_size = reader.integer("image_size", out.patch_size, 224);
  out.norm_eps = reader.number("layer_norm_eps", 0.0, 1e-6);
  out.merge_size = reader.integer("spatial_merge_size", 1, 1);
  out.tokens_per_second = reader.number("tokens_per_second", 0.0, 2.0);
  out.init_std = reader.number("initializer_range", 0.0, 0.02);
  ignore_habits(reader);
  reader.finish();
  return out;
}

}  // namespace loongforge::siglip
