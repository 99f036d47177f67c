#include <cstdio>

#include "loongforge/cli/command.h"
#include "loongforge/ops/machine_peak.h"

namespace loongforge::cli {
namespace {

void ceilings(const ComputeOptions& compute, bool json) {
  compute.apply();
  const auto peak = ops::measure_machine_peak();
  if (json) {
    return print_json({{"float32_gflops", peak.float32_gflops},
                       {"bfloat16_gflops", peak.bfloat16_gflops},
                       {"copy_gigabytes_per_second", peak.copy_gigabytes},
                       {"threads", peak.threads}});
  }
  std::printf("float32 %.0f GFLOP/s, bfloat16 %.0f GFLOP/s, copy %.1f GB/s, %d threads\n",
              peak.float32_gflops, peak.bfloat16_gflops, peak.copy_gigabytes, peak.threads);
}

}  // namespace

void add_bench(Command app, Outcome&) {
  Command command = app.subcommand("bench", "Measure this machine");
  command.needs_subcommand();
  Command sub = command.subcommand("ceilings", "Peak rates of matrix products and memory");
  auto compute = std::make_shared<ComputeOptions>();
  auto json = std::make_shared<bool>(false);
  sub.option("--threads", compute->threads, "Threads (0: all CPUs)").range(0, 4096);
  sub.flag("--json", *json, "Print as JSON");
  sub.example("loongforge bench ceilings --threads 2");
  sub.action([compute, json] { ceilings(*compute, *json); });
  command.example("loongforge bench ceilings");
}

}  // namespace loongforge::cli
