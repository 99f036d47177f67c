// Time of every operator of the table on the shapes of one SmolLM2-135M step, beside this machine's ceilings.
// Usage: op_bench [part of a name] [float32|bfloat16|float64]
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "loongforge/base/error.h"
#include "loongforge/base/process.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/machine_peak.h"
#include "loongforge/ops/op_cases.h"

namespace loongforge::ops {
namespace {

constexpr double kSecondsEach = 0.4;
constexpr int kFewest = 3;

// Shortest time of body() in seconds.
template <typename F>
double best_seconds(const F& body) {
  double best = 1e30;
  const double stop = monotonic_seconds() + kSecondsEach;
  for (int i = 0; i < kFewest || monotonic_seconds() < stop; ++i) {
    const double start = monotonic_seconds();
    body();
    best = std::min(best, monotonic_seconds() - start);
  }
  return best;
}

Tensors cast_inputs(const OpCase& op, at::ScalarType dtype) {
  Tensors inputs = op.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!at::isFloatingType(inputs[i].scalar_type())) continue;
    const bool wide = static_cast<int>(i) >= op.wide_from && dtype == at::kBFloat16;
    inputs[i] = inputs[i].to(wide ? at::kFloat : dtype).detach();
    inputs[i].set_requires_grad(static_cast<int>(i) < op.differentiable);
  }
  return inputs;
}

void print(const std::string& name, const char* what, double seconds, double flops, double bytes, double peak,
           double copy) {
  const double gflops = flops / seconds / 1e9, gigabytes = bytes / seconds / 1e9;
  if (flops > 0)
    std::printf("%-48s %-9s %9.2f ms %8.1f GFLOP/s %5.0f %% of peak\n", name.c_str(), what, seconds * 1e3,
                gflops, 100 * gflops / peak);
  else
    std::printf("%-48s %-9s %9.2f ms %8.1f GB/s    %5.0f %% of copy\n", name.c_str(), what, seconds * 1e3,
                gigabytes, 100 * gigabytes / copy);
  std::fflush(stdout);
}

void measure(const OpCase& op, at::ScalarType dtype, const MachinePeak& peak) {
  const Tensors inputs = cast_inputs(op, dtype);
  const double bytes = static_cast<double>(c10::elementSize(dtype)) / 2;
  const double ceiling = dtype == at::kBFloat16 ? peak.bfloat16_gflops : peak.float32_gflops;
  print(op.name, "forward", best_seconds([&] { op.run(inputs); }), op.flops, op.bytes * bytes, ceiling,
        peak.copy_gigabytes);
  if (op.differentiable == 0 || (op.backward_flops == 0 && op.backward_bytes == 0)) return;
  const Tensors wanted(inputs.begin(), inputs.begin() + op.differentiable);
  const Tensors outputs = op.run(inputs);
  Tensors dy;
  for (const at::Tensor& y : outputs) dy.push_back(y.detach().clone());
  const double seconds = best_seconds([&] { torch::autograd::grad(outputs, wanted, dy, true); });
  print(op.name, "backward", seconds, op.backward_flops, op.backward_bytes * bytes, ceiling,
        peak.copy_gigabytes);
}

at::ScalarType dtype_named(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "float64") return at::kDouble;
  check<ConfigError>(name == "bfloat16", "dtype: expected float32, bfloat16 or float64, got '", name, "'");
  return at::kBFloat16;
}

void run(const std::string& part, const std::string& dtype) {
  const MachinePeak peak = measure_machine_peak();
  std::printf("%s, level %s, %d threads: %.0f GFLOP/s float32, %.0f bfloat16, copy %.1f GB/s; operands %s\n",
              cpu_model().c_str(), cpu_level_name(cpu_level()), peak.threads, peak.float32_gflops,
              peak.bfloat16_gflops, peak.copy_gigabytes, dtype.c_str());
  for (const OpCase& op : large_op_cases())
    if (op.name.find(part) != std::string::npos) measure(op, dtype_named(dtype), peak);
}

}  // namespace
}  // namespace loongforge::ops

int main(int argc, char** argv) {
  try {
    loongforge::ops::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "bfloat16");
  } catch (const loongforge::Error& e) {
    std::fprintf(stderr, "op_bench: %s\n", e.what());
    return e.exit_code();
  }
  return 0;
}
