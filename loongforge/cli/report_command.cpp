#include <cstdio>

#include "loongforge/cli/command.h"
#include "loongforge/train/report.h"

namespace loongforge::cli {
namespace {

struct ReportArguments {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
  ReportOptions options;
  bool json = false;
};

void report(ReportArguments& arguments) {
  if (arguments.out.empty()) arguments.out = arguments.runs.front() / "report.html";
  write_report(arguments.runs, arguments.out, arguments.options);
  if (arguments.json) return print_json({{"report", arguments.out.string()}});
  std::printf("wrote %s\n", arguments.out.c_str());
}

}  // namespace

void add_report(Command app, Outcome&) {
  Command command = app.subcommand("report", "One HTML file with curves, samples and settings of runs");
  auto arguments = std::make_shared<ReportArguments>();
  command.option("RUN", arguments->runs, "Run folders").required();
  command.option("--out", arguments->out, "File to write (default: report.html in the first run)");
  command.option("--title", arguments->options.title, "Title of the page");
  command.option("--summary", arguments->options.summary, "JSON file whose figures stand on top");
  command.option("--seed", arguments->options.seed, "Draws the questions that are shown").show_default();
  command.flag("--json", arguments->json, "Print the file's name as JSON");
  command.example("loongforge report runs/a runs/b --out compare.html");
  command.action([arguments] { report(*arguments); });
}

}  // namespace loongforge::cli
