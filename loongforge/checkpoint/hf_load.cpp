#include "loongforge/checkpoint/hf_load.h"

#include <algorithm>
#include <cstring>

#include "loongforge/base/error.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/models/card.h"
#include "loongforge/models/config_reader.h"

namespace loongforge {
namespace {

// Buffers that old checkpoints carry although they follow from the configuration.
bool is_derived(const std::string& name) {
  return name.ends_with(".rotary_emb.inv_freq");
}
bool is_derived_or_head(const std::string& name) {
  return is_derived(name) || name == "lm_head.weight";
}

// A tied model's file may hold the head as well, if it is the embedding.
bool holds_equal_head(const SafetensorsSet& set, const Model& model) {
  constexpr std::string_view kTable = "embedding.weight";
  std::string name = model.head()->spec.name;
  if (!name.ends_with(kTable)) return false;
  const std::string table = model.names().to_file(name);
  name.replace(name.size() - kTable.size(), kTable.size(), "head.weight");
  const std::string head = model.names().to_file(name);
  const TensorInfo* a = set.find(head);
  const TensorInfo* b = set.find(table);
  if (a == nullptr || b == nullptr || a->shape != b->shape || a->dtype != b->dtype) return false;
  const auto left = set.bytes(head), right = set.bytes(table);
  return std::memcmp(left.data(), right.data(), left.size()) == 0;
}

// Our names of the file's tensors → the file's, whichever of several forms it writes.
std::map<std::string, std::string> found_names(const SafetensorsSet& set, const NameMap& names) {
  std::map<std::string, std::string> found;
  for (const TensorInfo& info : set.tensors()) {
    if (const auto ours = names.from_file(info.name)) found.emplace(*ours, info.name);
  }
  return found;
}

// The file's name of our parameter: the form that it writes, else the first.
std::string name_in_file(const std::map<std::string, std::string>& found, const NameMap& names,
                         const std::string& param) {
  const auto it = found.find(param);
  return it != found.end() ? it->second : names.to_file(param);
}

// Biases that Qwen2.5-VL's language model has and a Llama put into it lacks; they start at zero.
bool is_llama_without_biases(const Json& config, const std::filesystem::path& where) {
  ConfigReader reader(config, where.string());
  return reader.text("model_type", "") == "llama" && !reader.flag("attention_bias", false);
}
bool is_bias_of_attention(const std::string& name) {
  return name.ends_with(".q_proj.bias") || name.ends_with(".k_proj.bias") || name.ends_with(".v_proj.bias");
}

}  // namespace

Json read_hf_config(const std::filesystem::path& dir) {
  check<CheckpointError>(std::filesystem::is_directory(dir), dir.string(),
                         ": expected a Hugging Face model directory, got ",
                         std::filesystem::exists(dir) ? "a file" : "nothing of that name");
  return read_json<CheckpointError>(dir / "config.json");
}

void load_hf(const std::filesystem::path& path, Model& model) {
  const SafetensorsSet set(path);
  const std::map<std::string, std::string> found = found_names(set, model.names());
  std::map<std::string, Param*> params;
  for (const ParamRef& param : model.params()) {
    if (param->spec.adapter) continue;
    params[name_in_file(found, model.names(), param->spec.name)] = param.get();
  }
  fill_params(set, params, holds_equal_head(set, model) ? is_derived_or_head : is_derived);
}

void load_part(const std::filesystem::path& folder, Model& model, const std::string& prefix) {
  const Json config = read_hf_config(folder);
  const Card& card = model_registry().find(config, (folder / "config.json").string());
  const NameMap names = card.names(config).under(prefix);
  const bool without_biases = is_llama_without_biases(config, folder / "config.json");
  const SafetensorsSet set(folder);
  const std::map<std::string, std::string> found = found_names(set, names);
  std::map<std::string, Param*> params;
  const std::pair<Param*, Param*> tables(model.embedding().get(), model.head().get());
  std::set<std::string> grown;
  for (const ParamRef& param : model.params()) {
    if (param->spec.adapter || !param->spec.name.starts_with(prefix)) continue;
    const std::string name = name_in_file(found, names, param->spec.name);
    if (param.get() == tables.first || param.get() == tables.second) grown.insert(name);
    const bool absent = without_biases && is_bias_of_attention(name) && set.find(name) == nullptr;
    if (!absent) params[name] = param.get();
  }
  const bool tied = tables.first == tables.second;
  const auto unused = [&](const std::string& name) {
    return (tied ? is_derived_or_head : is_derived)(name) ||
           std::ranges::any_of(card.unused_tensors,
                               [&](const std::string& start) { return name.starts_with(start); });
  };
  fill_params(set, params, unused, grown);
}

std::unique_ptr<Model> load_hf_model(const std::filesystem::path& dir, const ParamPlan& plan,
                                     std::uint64_t seed) {
  const Json config = read_hf_config(dir);
  std::unique_ptr<Model> model = build_model(config, plan, (dir / "config.json").string());
  load_hf(dir, *model);
  initialize_unfilled(model->params(), seed);
  return model;
}

}  // namespace loongforge
