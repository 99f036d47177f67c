// The shape of a subcommand: it declares its options on the parser and leaves a callback that does the work.
#pragma once

#include <memory>
#include <string>

#include "loongforge/base/json.h"
#include "loongforge/cli/options.h"

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
  void add_to(Command app);
  // Sets the number of threads; call before any work.
  void apply() const;
};

// Prints one JSON object on standard output.
void print_json(const Json& value);

void add_train(Command app, Outcome& outcome);
void add_prepare(Command app, Outcome& outcome);
void add_convert(Command app, Outcome& outcome);
void add_generate(Command app, Outcome& outcome);
void add_eval(Command app, Outcome& outcome);
void add_inspect(Command app, Outcome& outcome);
// `inspect batches`, a part of add_inspect.
void add_inspect_batches(Command inspect);
void add_tokenize(Command app, Outcome& outcome);
void add_template(Command app, Outcome& outcome);
void add_parity(Command app, Outcome& outcome);
void add_report(Command app, Outcome& outcome);
void add_bench(Command app, Outcome& outcome);
void add_version(Command app, Outcome& outcome);

}  // namespace loongforge::cli
