#include "loongforge/cli/command.h"

#include <ATen/Parallel.h>

#include <cstdio>

#include "loongforge/base/parallel.h"

namespace loongforge::cli {

void ComputeOptions::add_to(Command app) {
  app.option("--dtype", dtype, "Compute precision: float32, bfloat16 or float64")
      .one_of({"float32", "bfloat16", "float64"})
      .show_default();
  app.option("--threads", threads, "Threads (0: all CPUs)").range(0, 4096).show_default();
}

void ComputeOptions::apply() const {
  at::set_num_threads(threads > 0 ? threads : cpu_count());
}

void print_json(const Json& value) {
  std::printf("%s\n", dump_json(value).c_str());
}

}  // namespace loongforge::cli
