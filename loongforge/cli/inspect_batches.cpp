// `inspect batches`: what exactly a run would see, written for other tools.
#include "loongforge/base/config/load.h"
#include "loongforge/base/files.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/cli/command.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/train/config.h"
#include "loongforge/train/open_model.h"
#include "loongforge/train/setup.h"

namespace loongforge::cli {
namespace {

struct BatchesArguments {
  std::string config;
  std::vector<std::string> overrides;
  fs::path out;
  std::int64_t steps = 1, first = 0;
  bool json = false;
};

void write_batches(const BatchesArguments& arguments) {
  RunConfig config;
  Fields fields;
  config.fields(fields);
  load_config(fields, arguments.config, arguments.overrides);
  validate(config);
  const RunParts parts = open_run(with_model_folders(config));
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  BatchCounts counts;
  Json pictures = Json::array();  // and clips, of each batch
  for (std::int64_t step = arguments.first; step < arguments.first + arguments.steps; ++step) {
    const StepBatches batches = read_step(*parts.train, step);
    counts += batches.counts;
    for (std::size_t micro = 0; micro < batches.micro_batches.size(); ++micro) {
      const Batch& batch = batches.micro_batches[micro];
      pictures.push_back(batch.counts.pictures + batch.counts.clips);
      for (const auto& [name, tensor] : batch.tensors)
        tensors.emplace_back(concat("step.", step, ".micro.", micro, ".", name), tensor.contiguous());
    }
  }
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors)
    infos.push_back({name, file_dtype(tensor.scalar_type()), tensor.sizes().vec()});
  if (arguments.out.has_parent_path()) make_directories(arguments.out.parent_path());
  SafetensorsWriter writer(arguments.out, infos);
  for (const auto& [name, tensor] : tensors) writer.write(name, bytes_of(tensor));
  writer.commit();
  Json out = {{"file", arguments.out.string()},
              {"steps", arguments.steps},
              {"tokens", counts.tokens},
              {"trained", counts.trained},
              {"padding", counts.padding}};
  if (parts.model->info().visual) {
    out["pictures_a_batch"] = pictures;
    out["visual_tokens"] = counts.visual_tokens;
  }
  print_json(out);
}

}  // namespace

void add_inspect_batches(Command inspect) {
  Command command = inspect.subcommand("batches", "Write the batches that a run would see as safetensors");
  auto arguments = std::make_shared<BatchesArguments>();
  command.option("CONFIG", arguments->config, "Configuration of the run").required();
  command.option("OVERRIDES", arguments->overrides, "key.path=value");
  command.option("--out", arguments->out, "File: step.K.micro.J.{input_ids, labels, ...}").required();
  command.option("--steps", arguments->steps, "Number of steps").range(1, 1 << 20).show_default();
  command.option("--first", arguments->first, "First step, from 0").range(0).show_default();
  command.example(
      "loongforge inspect batches examples/quickstart/pretrain.yaml --steps 2 --out "
      "batches.safetensors");
  command.action([arguments] { write_batches(*arguments); });
}

}  // namespace loongforge::cli
