// The program `loongforge`: parses the command line, runs one command, turns errors into one line and a code.
#include <c10/util/Exception.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/cli/command.h"
#include "loongforge/ops/cpu_level.h"

namespace loongforge::cli {
namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

constexpr const char* kNoMemory = "memory: not enough is free; use smaller batches or shorter sequences";

// The words of libtorch's allocators.
bool is_out_of_memory(const std::string& what) {
  return what.find("not enough memory") != std::string::npos ||
         what.find("can't allocate memory") != std::string::npos ||
         what.find("out of memory") != std::string::npos;
}

// A file opened later must not take the place of a stream that the caller closed.
void hold_standard_streams() {
  while (true) {
    const int fd = ::open("/dev/null", O_RDONLY);
    if (fd < 0) return;
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

// What was printed must have arrived.
int finish_output(int code) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || code != 0) return code;
  log_error(concat("standard output: cannot be written: ", std::strerror(errno)));
  return ResourceError("").exit_code();
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
    log_error(kNoMemory);
    return ResourceError("").exit_code();
  } catch (const c10::Error& e) {
    const std::string what = e.what_without_backtrace();
    if (is_out_of_memory(what)) {
      log_error(kNoMemory);
      return ResourceError("").exit_code();
    }
    log_error(verbose ? e.what() : first_line(what));
    return 1;
  } catch (const std::exception& e) {
    log_error(verbose ? std::string(e.what()) : first_line(e.what()));
    return 1;
  }
}

}  // namespace
}  // namespace loongforge::cli

int main(int argc, char** argv) {
  loongforge::cli::hold_standard_streams();
  loongforge::install_interrupt_handler();
  return loongforge::cli::finish_output(loongforge::cli::guarded_main(argc, argv));
}
