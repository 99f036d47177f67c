// Calls of the checkpoint floor for the scripts beside it: parity, tower, convert, adapter, merge.
#include <cstdio>
#include <string>
#include <vector>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/checkpoint/compose.h"
#include "loongforge/checkpoint/convert_gguf.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/checkpoint/parity.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/models/vision/tower.h"

namespace {

using namespace loongforge;

at::ScalarType dtype_of(const std::string& name) {
  if (name == "float64") return at::kDouble;
  return name == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

// MODEL INPUT OUTPUT DTYPE [recompute] [fused]
void run_parity(const std::vector<std::string>& args) {
  ParityOptions options;
  options.model = args.at(0);
  options.input = args.at(1);
  options.output = args.at(2);
  options.dtype = dtype_of(args.at(3));
  for (std::size_t i = 4; i < args.size(); ++i) {
    if (args[i] == "recompute") options.recompute.mode = RecomputePolicy::Mode::kLayer;
    if (args[i] == "fused") options.fused = true;
  }
  parity(options);
}

// A model that is a vision tower alone, with the weights of its folder.
std::unique_ptr<Model> load_tower(const std::string& folder, at::ScalarType dtype) {
  const std::string prefix = "vision.", where = folder + "/config.json";
  const Json config = tower_config(read_hf_config(folder), where);
  const Card& card = model_registry().find(config, where);
  ParamPlan plan;
  plan.compute = dtype;
  ModelParts parts;
  parts.names = card.names(config).under(prefix);
  ParamBuilder builder(plan, parts.names);
  const ParamBuilder::Scope scope(builder, prefix);
  parts.segments = card.vision(config, builder, where).segments;
  parts.plan = builder.plan();
  parts.params = builder.params();
  auto model = std::make_unique<Model>(std::move(parts));
  load_part(folder, *model, prefix);
  model->check_filled();
  return model;
}

// FOLDER INPUT OUTPUT DTYPE: last_hidden_state of a vision tower for pixel_values and grid_thw, and grad.NAME
// of its sum weighted by `weights`.
void run_tower(const std::vector<std::string>& args) {
  const auto model = load_tower(args.at(0), dtype_of(args.at(3)));
  const SafetensorsSet set(args.at(1));
  const auto given = [&](const char* name) { return tensor_of(set, *set.find(name)); };
  AccumulateGrads sink;
  Context context;
  context.grads = &sink;
  const Flow flow{{vision_flow::kPixels, given("pixel_values")}, {vision_flow::kGrid, given("grid_thw")}};
  const at::Tensor hidden = model->run(context, flow).at(vision_flow::kPatches);
  hidden.mul(given("weights")).sum().backward();
  std::vector<std::pair<std::string, at::Tensor>> results{{"last_hidden_state", hidden.detach()}};
  for (const ParamRef& param : model->params())
    results.emplace_back("grad." + model->names().to_file(param->spec.name),
                         param->grad.view(param->spec.shape_in_files()));
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : results)
    infos.push_back({name, file_dtype(tensor.scalar_type()), tensor.sizes().vec()});
  SafetensorsWriter writer(args.at(2), infos);
  for (const auto& [name, tensor] : results) writer.write(name, bytes_of(tensor));
  writer.commit();
}

// BASE OUTPUT RANK TARGET...: an adapter with random A and B.
void make_adapter(const std::vector<std::string>& args) {
  ParamPlan plan;
  plan.lora = LoraOptions{std::stoll(args.at(2)), 12.0, 0.0, {args.begin() + 3, args.end()}};
  const auto model = load_hf_model(args.at(0), plan, 11);
  for (const ParamRef& param : model->params()) {
    if (!param->spec.name.ends_with(".lora_b")) continue;
    at::Tensor values = param->value.detach().clone();
    const CounterRandom random(3, param->spec.name);
    float* data = values.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i)
      data[i] = 0.1F * static_cast<float>(random.normal(0, i));
    assign(*param, values);
  }
  save_peft(*model, args.at(0), args.at(1));
}

// ADAPTER OUTPUT: the base with the adapter merged in.
void merge(const std::vector<std::string>& args) {
  ParamPlan plan;
  plan.train = false;
  plan.lora = read_peft_options(args.at(0));
  const auto model = load_hf_model(read_peft_base(args.at(0)), plan);
  load_peft(args.at(0), *model);
  HfSaveOptions options;
  options.merge_adapters = true;
  save_hf(*model, args.at(1), options);
}

void run(const std::string& command, const std::vector<std::string>& args) {
  if (command == "parity") return run_parity(args);
  if (command == "tower") return run_tower(args);
  if (command == "convert") return convert_gguf(args.at(0), args.at(1), dtype_of(args.at(2)));
  if (command == "adapter") return make_adapter(args);
  if (command == "merge") return merge(args);
  throw ConfigError("models_probe: expected parity, tower, convert, adapter or merge, got '" + command + "'");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
