#include "loongforge/checkpoint/peft_adapter.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/models/config_reader.h"

namespace loongforge {
namespace {

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kStem = "adapter_model";
constexpr const char* kPrefix = "base_model.model.";

bool nothing(const std::string&) {
  return false;
}

// Our linear and PEFT's matrix name of an adapter's parameter.
std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot) == ".lora_a" ? ".lora_A.weight" : ".lora_B.weight"};
}

// PEFT's name of an adapter's parameter → the parameter, in the model's order.
std::vector<std::pair<std::string, ParamRef>> adapters_of(const Model& model) {
  std::vector<std::pair<std::string, ParamRef>> out;
  for (const ParamRef& param : model.params()) {
    if (param->spec.adapter) out.emplace_back(peft_name(model, param->spec.name), param);
  }
  return out;
}

// The last parts of the adapted modules' names.
std::vector<std::string> target_modules(const Model& model) {
  std::vector<std::string> out;
  for (const ParamRef& param : model.params()) {
    if (!param->spec.adapter) continue;
    const std::string module = model.module_names().module_to_file(split_name(param->spec.name).first);
    const std::string last = module.substr(module.rfind('.') + 1);
    if (std::find(out.begin(), out.end(), last) == out.end()) out.push_back(last);
  }
  return out;
}

Json adapter_config(const Model& model, const std::string& base_model) {
  const LoraOptions& lora = *model.plan().lora;
  Json config = Json::object();
  config["peft_type"] = "LORA";
  config["task_type"] = "CAUSAL_LM";
  config["base_model_name_or_path"] = base_model;
  config["revision"] = nullptr;
  config["inference_mode"] = true;
  config["r"] = lora.rank;
  config["lora_alpha"] = lora.alpha;
  config["lora_dropout"] = lora.dropout;
  config["target_modules"] = target_modules(model);
  config["bias"] = "none";
  config["fan_in_fan_out"] = false;
  config["init_lora_weights"] = true;
  config["modules_to_save"] = nullptr;
  config["use_rslora"] = false;
  config["use_dora"] = false;
  config["rank_pattern"] = Json::object();
  config["alpha_pattern"] = Json::object();
  return config;
}

std::vector<std::string> read_targets(const Json& config, ConfigReader& reader) {
  reader.ignore("target_modules");
  const Json targets = config.value("target_modules", Json());
  if (targets == "all-linear") return {"all-linear"};
  if (!targets.is_array() || targets.empty())
    reader.refuse("target_modules", "a list of names or all-linear");
  std::vector<std::string> out;
  for (const Json& target : targets) {
    if (!target.is_string()) reader.refuse("target_modules", "a list of names or all-linear");
    out.push_back(target.get<std::string>());
  }
  return out;
}

void refuse_variants(ConfigReader& reader) {
  reader.only("peft_type", "LORA", "the kind of adapter");
  reader.only("bias", "none", "biases are not adapted");
  reader.only("use_rslora", false, "the scale is alpha / r");
  reader.only("use_dora", false, "plain low-rank adapters");
  reader.only("use_qalora", false, "plain low-rank adapters");
  reader.only("fan_in_fan_out", false, "weights are (out, in)");
  reader.only("lora_bias", false, "adapters have no bias");
  for (const char* key : {"modules_to_save", "layers_to_transform", "layers_pattern", "exclude_modules",
                          "layer_replication", "target_parameters", "trainable_token_indices"}) {
    reader.only(key, nullptr, "every target of the model carries one adapter");
  }
  for (const char* key : {"rank_pattern", "alpha_pattern"})
    reader.only(key, Json::object(), "one rank and scale");
}

}  // namespace

std::string peft_name(const Model& model, const std::string& name) {
  const auto [linear, matrix] = split_name(name);
  return kPrefix + model.module_names().module_to_file(linear) + matrix;
}

bool is_peft_dir(const std::filesystem::path& dir) {
  return std::filesystem::is_regular_file(dir / kConfig);
}

LoraOptions read_peft_options(const std::filesystem::path& dir) {
  const Json config = read_json<CheckpointError>(dir / kConfig);
  ConfigReader reader(config, (dir / kConfig).string());
  refuse_variants(reader);
  LoraOptions options;
  options.rank = reader.integer("r", 1);
  options.alpha = reader.number("lora_alpha", 0.0);
  options.dropout = reader.number("lora_dropout", -1.0, 0.0);
  if (options.dropout < 0.0 || options.dropout >= 1.0) reader.refuse("lora_dropout", "a share in [0, 1)");
  options.targets = read_targets(config, reader);
  return options;
}

std::string read_peft_base(const std::filesystem::path& dir) {
  const Json config = read_json<CheckpointError>(dir / kConfig);
  return ConfigReader(config, (dir / kConfig).string()).text("base_model_name_or_path", "");
}

void load_peft(const std::filesystem::path& dir, Model& model) {
  std::map<std::string, Param*> params;
  for (const auto& [name, param] : adapters_of(model)) params[name] = param.get();
  fill_params(SafetensorsSet(dir, kStem), params, nothing);
}

HfSnapshot snapshot_peft(const Model& model, const std::string& base_model) {
  const at::NoGradGuard no_grad;
  check(model.plan().lora.has_value(), "adapter: the model has none");
  HfSnapshot snapshot;
  snapshot.config = adapter_config(model, base_model);
  for (const auto& [name, param] : adapters_of(model)) {
    check(param->filled, "adapter: neither loaded nor initialised: ", param->spec.name);
    snapshot.tensors.emplace_back(name, best_value(*param).detach().clone().contiguous());
  }
  return snapshot;
}

void write_peft(const HfSnapshot& snapshot, const std::filesystem::path& dir) {
  make_directories(dir);
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : snapshot.tensors) {
    infos.push_back({name, file_dtype(tensor.scalar_type()), tensor.sizes().vec()});
  }
  SafetensorsWriter writer(dir / (std::string(kStem) + ".safetensors"), infos);
  for (const auto& [name, tensor] : snapshot.tensors) writer.write(name, bytes_of(tensor));
  writer.commit();
  write_file_atomic(dir / kConfig, dump_json_pretty(snapshot.config));
}

void save_peft(const Model& model, const std::string& base_model, const std::filesystem::path& dir) {
  write_peft(snapshot_peft(model, base_model), dir);
}

}  // namespace loongforge
