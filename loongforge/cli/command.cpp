#include "loongforge/cli/command.h"

#include <ATen/Parallel.h>

#include <cstdio>

#include "loongforge/base/parallel.h"

namespace loongforge::cli {

void ComputeOptions::add_to(CLI::App& app) {
  app.add_option("--dtype", dtype, "Compute precision: float32, bfloat16 or float64")
      ->check(CLI::IsMember({"float32", "bfloat16", "float64"}))
      ->capture_default_str();
  app.add_option("--threads", threads, "Threads (0: all CPUs)")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

void ComputeOptions::apply() const {
  at::set_num_threads(threads > 0 ? threads : cpu_count());
}

void print_json(const Json& value) {
  std::printf("%s\n", dump_json(value).c_str());
}

}  // namespace loongforge::cli
