#include "loongforge/checkpoint/hf_save.h"

#include <ATen/core/grad_mode.h>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/base/log.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/ops/matmul.h"

namespace loongforge {
namespace {

// The first version of transformers that reads what is written here.
constexpr const char* kTransformersVersion = "4.56.0";
constexpr std::string_view kWeight = ".weight";

at::Tensor copy_as(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.detach().to(at::kCPU, dtype, /*non_blocking=*/false, /*copy=*/true).contiguous();
}

std::int64_t count_infinite(const at::Tensor& half) {
  return half.isfinite().logical_not().sum().item<std::int64_t>();
}

// W + scaling·B·A in float32 or wider; W itself where there is no adapter.
at::Tensor merged(const Model& model, const Param& param) {
  const at::Tensor& base = best_value(param);
  if (!param.spec.name.ends_with(kWeight)) return base;
  const std::string linear = param.spec.name.substr(0, param.spec.name.size() - kWeight.size());
  const Param* a = model.find(linear + ".lora_a");
  const Param* b = model.find(linear + ".lora_b");
  if (a == nullptr || b == nullptr) return base;
  const at::ScalarType wide = wide_dtype(base.scalar_type());
  at::Tensor delta = ops::matmul_nn(best_value(*b).detach().to(wide), best_value(*a).detach().to(wide), wide);
  return delta.mul_(model.plan().lora_of(linear)->scaling()).add_(base.detach().to(wide));
}

Json config_of(const Model& model, at::ScalarType dtype) {
  Json config = model.config();
  config.erase("torch_dtype");
  config["dtype"] = config_dtype(dtype);
  config["transformers_version"] = kTransformersVersion;
  return config;
}

Json generation_config_of(const Json& config) {
  Json out = Json::object();
  out["_from_model_config"] = true;
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    if (config.contains(key) && !config.at(key).is_null()) out[key] = config.at(key);
  }
  out["transformers_version"] = kTransformersVersion;
  return out;
}

}  // namespace

HfSnapshot snapshot_hf(const Model& model, const HfSaveOptions& options) {
  const at::NoGradGuard no_grad;
  model.check_filled();
  HfSnapshot snapshot;
  snapshot.config = config_of(model, options.dtype);
  snapshot.generation_config = generation_config_of(model.config());
  snapshot.max_shard_bytes = options.max_shard_bytes;
  std::int64_t beyond = 0;
  for (const ParamRef& param : model.params()) {
    if (param->spec.adapter) continue;
    const at::Tensor value = options.merge_adapters ? merged(model, *param) : best_value(*param);
    const std::string name = model.names().to_file(param->spec.name);
    const at::Tensor copy = copy_as(value, options.dtype);
    if (options.dtype == at::kHalf) beyond += count_infinite(copy);
    snapshot.tensors.emplace_back(name, copy.view(param->spec.shape_in_files()));
  }
  if (beyond > 0)
    log_warning(beyond,
                " weights are beyond float16 and are written as infinite; set checkpoint.hf_dtype to "
                "bfloat16 or float32");
  return snapshot;
}

void write_hf(const HfSnapshot& snapshot, const std::filesystem::path& dir) {
  make_directories(dir);
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : snapshot.tensors) {
    infos.push_back({name, file_dtype(tensor.scalar_type()), tensor.sizes().vec()});
  }
  ShardedSafetensorsWriter writer(dir, "model", static_cast<std::uint64_t>(snapshot.max_shard_bytes), infos);
  for (const auto& [name, tensor] : snapshot.tensors) writer.write(name, bytes_of(tensor));
  writer.commit();
  write_file_atomic(dir / "config.json", dump_json_pretty(snapshot.config));
  write_file_atomic(dir / "generation_config.json", dump_json_pretty(snapshot.generation_config));
}

void save_hf(const Model& model, const std::filesystem::path& dir, const HfSaveOptions& options) {
  write_hf(snapshot_hf(model, options), dir);
}

}  // namespace loongforge
