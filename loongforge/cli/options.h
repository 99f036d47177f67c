// The command line, declared in a few words. A thin cover over CLI11, whose one header costs ten seconds in
// every file that includes it; here it is compiled once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/files.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loongforge::cli {

// One option; a handle, to be copied freely.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required();
  // --help shows the value that the target had when the option was declared.
  Option show_default();
  // Both ends are allowed; `most` -1 for a whole number without an upper end.
  Option range(std::int64_t least, std::int64_t most = -1);
  Option fraction();  // 0 to 1
  Option one_of(const std::vector<std::string>& values);

 private:
  CLI::Option* option_;
};

// One command or subcommand; a handle. What an option fills must outlive parse(): let the action own it.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command subcommand(const std::string& name, const std::string& what);
  // A subcommand must follow.
  void needs_subcommand();

  // `name` is "--name", or "NAME" for an argument by position. T: std::string, fs::path, int, std::int64_t,
  // std::uint64_t, double, or a vector of strings or paths.
  template <typename T>
  Option option(const std::string& name, T& target, const std::string& what);
  void flag(const std::string& name, bool& target, const std::string& what);
  // Shown at the end of --help.
  void example(std::string_view command_line);
  void action(std::function<void()> action);

 private:
  CLI::App* app_;
};

// The whole command line.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& what);
  ~CommandLine();

  Command root();
  // Fills the options and runs the chosen action. False: --help was asked for and has been printed.
  // Throws ConfigError on a wrong command line, and what the action throws.
  bool parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace loongforge::cli
