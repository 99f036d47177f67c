#include "loongforge/base/config/load.h"
#include "loongforge/checkpoint/parity.h"
#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"

namespace loongforge::cli {
namespace {

struct ParityArguments {
  std::string model, input, out;
  std::vector<std::string> overrides;
  ComputeOptions compute;
  bool fused = false;
};

void run(const ParityArguments& arguments) {
  std::string mode = "none";
  Fields fields;
  fields.field("recompute.mode", mode, "What is computed again in backward.").one_of({"none", "full"});
  load_overrides(fields, arguments.overrides);
  arguments.compute.apply();
  ParityOptions options;
  options.model = resolve_model_folder(arguments.model);
  options.input = arguments.input;
  options.output = arguments.out;
  options.dtype = parse_dtype(arguments.compute.dtype);
  options.recompute.mode = mode == "full" ? RecomputePolicy::Mode::kLayer : RecomputePolicy::Mode::kNone;
  options.fused = arguments.fused;
  parity(options);
}

}  // namespace

void add_parity(Command app, Outcome&) {
  Command command =
      app.subcommand("parity", "One forward and backward pass on given tensors, to compare with other tools");
  auto arguments = std::make_shared<ParityArguments>();
  command.option("--model", arguments->model, "Hugging Face folder").required();
  command
      .option("--input", arguments->input,
              "Safetensors: input_ids, labels, position_ids, cu_seqlens; of pictures and clips pixel_values,"
              " image_grid_thw, pixel_values_videos, video_grid_thw, second_per_grid_ts")
      .required();
  command.option("--out", arguments->out, "Safetensors to write: logits, loss, grad.NAME").required();
  command.flag("--fused", arguments->fused,
               "Loss and gradients by the fused operator of training, not by libtorch's cross-entropy");
  command.option("OVERRIDES", arguments->overrides, "key.path=value (recompute.mode)");
  arguments->compute.add_to(command);
  command.example(
      "loongforge parity --model models/smollm2 --input batch.safetensors --out "
      "ours.safetensors");
  command.action([arguments] { run(*arguments); });
}

}  // namespace loongforge::cli
