#include "loongforge/models/vision/qwen2_5_vit/config.h"

#include "loongforge/base/error.h"
#include "loongforge/models/config_reader.h"

namespace loongforge::qwen2_5_vit {
namespace {

std::vector<std::int64_t> read_full_blocks(ConfigReader& reader, const Json& config, std::int64_t depth) {
  reader.ignore("fullatt_block_indexes");
  const std::string expected = concat("a list of block numbers below depth ", depth);
  std::vector<std::int64_t> out;
  const auto it = config.find("fullatt_block_indexes");
  if (it == config.end() || it->is_null()) return {7, 15, 23, 31};
  if (!it->is_array()) reader.refuse("fullatt_block_indexes", expected);
  for (const Json& block : *it) {
    const std::int64_t index = block.is_number_integer() ? block.get<std::int64_t>() : -1;
    if (index < 0 || index >= depth) reader.refuse("fullatt_block_indexes", expected);
    out.push_back(index);
  }
  return out;
}

double read_theta(ConfigReader& reader) {
  constexpr double kTheta = 10000.0;
  const Json* parameters = reader.object("rope_parameters");
  if (parameters == nullptr) return kTheta;
  ConfigReader inner(*parameters, reader.where() + ": rope_parameters");
  const double theta = inner.number("rope_theta", 0.0, kTheta);
  inner.only("rope_type", "axial", "height and width turn a half of each head");
  inner.finish();
  return theta;
}

void ignore_habits(ConfigReader& reader) {
  reader.only("hidden_act", "silu", "the gated MLP's activation");
  for (const char* key : {"model_type", "dtype", "torch_dtype", "in_chans", "spatial_patch_size",
                          "_name_or_path", "architectures", "transformers_version", "output_attentions",
                          "output_hidden_states", "return_dict"}) {
    reader.ignore(key);
  }
}

}  // namespace

TowerConfig read_config(const Json& config, const std::string& where) {
  ConfigReader reader(config, where);
  TowerConfig out;
  out.depth = reader.integer("depth", 1, 32);
  out.hidden_size = reader.integer("hidden_size", 4, 3584);
  out.intermediate_size = reader.integer("intermediate_size", 1, 3420);
  out.heads = reader.integer("num_heads", 1, 16);
  if (out.hidden_size % (4 * out.heads) != 0)
    reader.refuse("hidden_size", concat("a multiple of 4 * num_heads = ", 4 * out.heads));
  out.in_channels = reader.integer("in_channels", 1, reader.integer("in_chans", 1, 3));
  out.patch_size = reader.integer("patch_size", 1, 14);
  out.temporal_patch_size = reader.integer("temporal_patch_size", 1, 2);
  out.merge_size = reader.integer("spatial_merge_size", 1, 2);
  const std::int64_t window = reader.integer("window_size", 1, 112);
  out.window = window / out.merge_size / out.patch_size;
  if (out.window < 1)
    reader.refuse("window_size",
                  concat("at least spatial_merge_size * patch_size = ", out.merge_size * out.patch_size));
  out.full_blocks = read_full_blocks(reader, config, out.depth);
  out.out_hidden_size = reader.integer("out_hidden_size", 1, 3584);
  out.tokens_per_second = reader.number("tokens_per_second", 0.0, 4.0);
  out.init_std = reader.number("initializer_range", 0.0, 0.02);
  out.rope_theta = read_theta(reader);
  ignore_habits(reader);
  reader.finish();
  return out;
}

}  // namespace loongforge::qwen2_5_vit
