#include "loongforge/cli/options.h"

#include <CLI/CLI.hpp>
#include <limits>

#include "loongforge/base/error.h"

namespace loongforge::cli {

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::range(std::int64_t least, std::int64_t most) {
  if (most < least)
    option_->check(CLI::Range(least, std::numeric_limits<std::int64_t>::max(), concat(least, " or more")));
  else
    option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::fraction() {
  option_->check(CLI::Range(0.0, 1.0));
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Command Command::subcommand(const std::string& name, const std::string& what) {
  return Command(app_->add_subcommand(name, what));
}

void Command::needs_subcommand() {
  app_->require_subcommand(1);
}

template <typename T>
Option Command::option(const std::string& name, T& target, const std::string& what) {
  return Option(app_->add_option(name, target, what));
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, fs::path&, const std::string&);
template Option Command::option(const std::string&, int&, const std::string&);
template Option Command::option(const std::string&, std::int64_t&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, std::vector<fs::path>&, const std::string&);

void Command::flag(const std::string& name, bool& target, const std::string& what) {
  app_->add_flag(name, target, what);
}

void Command::example(std::string_view command_line) {
  app_->footer(concat("Example:\n  ", command_line));
}

void Command::action(std::function<void()> action) {
  app_->callback(std::move(action));
}

CommandLine::CommandLine(const std::string& name, const std::string& what)
    : app_(std::make_unique<CLI::App>(what, name)) {
  app_->fallthrough();
  app_->set_help_flag("-h,--help", "Print this help");
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() {
  return Command(app_.get());
}

bool CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    app_->exit(e);
    return false;
  } catch (const CLI::ParseError& e) {
    std::string command = app_->get_name();
    for (auto* app = app_.get(); !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      command += " " + app->get_name();
    }
    const std::string what = e.what();
    throw ConfigError(concat(what.substr(0, what.find('\n')), "; see `", command, " --help`"));
  }
  return true;
}

}  // namespace loongforge::cli
