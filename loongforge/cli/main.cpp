// The program `loongforge`: parses the command line, runs one command, turns errors into one line and a code.
#include <c10/util/Exception.h>

#include <cstdio>
#include <iostream>
#include <new>

#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/cli/command.h"
#include "loongforge/ops/cpu_level.h"

namespace loongforge::cli {
namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

int run_command_line(int argc, char** argv, bool& verbose) {
  CommandLine line("loongforge",
                   "LoongForge: one engine to train language, vision-language, diffusion and robot models.");
  Command root = line.root();
  root.needs_subcommand();
  root.flag("--verbose", verbose, "Print the whole message of unexpected errors");
  root.example(
      "loongforge generate --model runs/quickstart/model --prompt \"The capital of France is\"\n\n"
      "`loongforge COMMAND --help` explains one command.");
  Outcome outcome;
  for (const auto add : {add_train, add_prepare, add_convert, add_generate, add_eval, add_inspect,
                         add_tokenize, add_template, add_parity, add_report, add_bench, add_version})
    add(root, outcome);
  line.parse(argc, argv);
  return outcome.exit_code;
}

// Runs and maps every failure to its exit code.
int guarded_main(int argc, char** argv) {
  bool verbose = false;
  try {
    ops::cpu_level();  // a wrong LOONGFORGE_CPU_LEVEL is an error here, not in the midst of the work
    return run_command_line(argc, argv, verbose);
  } catch (const Interrupted& e) {
    log_error(e.what());
    return 130;
  } catch (const Error& e) {
    log_error(e.what());
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    log_error("memory: not enough is free; use smaller batches or shorter sequences");
    return ResourceError("").exit_code();
  } catch (const c10::Error& e) {
    const std::string what = e.what_without_backtrace();
    const bool memory = what.find("not enough memory") != std::string::npos;
    log_error(verbose ? e.what() : first_line(what));
    return memory ? ResourceError("").exit_code() : 1;
  } catch (const std::exception& e) {
    log_error(verbose ? std::string(e.what()) : first_line(e.what()));
    return 1;
  }
}

}  // namespace
}  // namespace loongforge::cli

int main(int argc, char** argv) {
  loongforge::install_interrupt_handler();
  const int code = loongforge::cli::guarded_main(argc, argv);
  std::fflush(stdout);
  return code;
}
