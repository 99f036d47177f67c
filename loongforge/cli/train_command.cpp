#include <cstdio>

#include "loongforge/base/config/load.h"
#include "loongforge/base/config/print.h"
#include "loongforge/cli/command.h"
#include "loongforge/train/config.h"
#include "loongforge/train/run.h"

namespace loongforge::cli {
namespace {

struct TrainArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool print = false, resume = false, quiet = false, json = false;
};

// How the user would start this run again.
std::string command_line(const TrainArguments& arguments) {
  std::string out = "loongforge train " + arguments.config;
  for (const auto& text : arguments.overrides) out += " " + text;
  return out;
}

int train(const TrainArguments& arguments) {
  RunConfig config;
  Fields fields;
  config.fields(fields);
  load_config(fields, arguments.config, arguments.overrides);
  if (arguments.print) {
    std::fputs(print_config(fields, true).c_str(), stdout);
    return 0;
  }
  RunOptions options;
  options.resume = arguments.resume;
  options.quiet = arguments.quiet;
  options.command = command_line(arguments);
  options.origins = config_origins(fields);
  const RunOutcome outcome = run_training(config, options);
  if (arguments.json) print_json(outcome.summary);
  return outcome.exit_code;
}

}  // namespace

void add_train(Command app, Outcome& outcome) {
  Command command = app.subcommand("train", "Train as a configuration file says");
  auto arguments = std::make_shared<TrainArguments>();
  command.option("CONFIG", arguments->config, "YAML file; docs/configuration.md lists all keys").required();
  command.option("OVERRIDES", arguments->overrides, "key.path=value, wins over the file");
  command.flag("--print-config", arguments->print, "Print every setting with where it came from, and stop");
  command.flag("--resume", arguments->resume,
               "Go on from the last complete checkpoint of train.output_dir; start where there is none");
  command.flag("--quiet", arguments->quiet, "No progress, only warnings");
  command.flag("--json", arguments->json, "Print the summary as JSON at the end");
  command.example("loongforge train examples/quickstart/pretrain.yaml train.steps=10 optim.lr=1e-4");
  command.action([arguments, &outcome] { outcome.exit_code = train(*arguments); });
}

}  // namespace loongforge::cli
