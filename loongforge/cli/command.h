// The shape of a subcommand: it declares its options on the parser and leaves a callback that does the work.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "loongforge/base/json.h"

namespace loongforge::cli {

// What the callbacks leave behind for main.
struct Outcome {
  int exit_code = 0;
};

// Options that several commands have.
struct ComputeOptions {
  std::string dtype = "float32";
  int threads = 0;

  // Adds --dtype and --threads.
  void add_to(CLI::App& app);
  // Sets the number of threads; call before any work.
  void apply() const;
};

// Prints one JSON object on standard output.
void print_json(const Json& value);

void add_train(CLI::App& app, Outcome& outcome);
void add_prepare(CLI::App& app, Outcome& outcome);
void add_convert(CLI::App& app, Outcome& outcome);
void add_generate(CLI::App& app, Outcome& outcome);
void add_eval(CLI::App& app, Outcome& outcome);
void add_inspect(CLI::App& app, Outcome& outcome);
// `inspect batches`, a part of add_inspect.
void add_inspect_batches(CLI::App& inspect);
void add_tokenize(CLI::App& app, Outcome& outcome);
void add_template(CLI::App& app, Outcome& outcome);
void add_parity(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_bench(CLI::App& app, Outcome& outcome);
void add_version(CLI::App& app, Outcome& outcome);

}  // namespace loongforge::cli
