#include "loongforge/ops/machine_peak.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>

#include <cstring>

#include "loongforge/base/process.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/matmul.h"

namespace loongforge::ops {
namespace {

// Shortest time of `body`, tried for `budget` seconds.
template <typename F>
double best_seconds(double budget, const F& body) {
  body();  // warms caches, threads and libraries
  double best = 1e30;
  const double stop = monotonic_seconds() + budget;
  do {
    const double start = monotonic_seconds();
    body();
    best = std::min(best, monotonic_seconds() - start);
  } while (monotonic_seconds() < stop);
  return best;
}

// By our own product and by libtorch's: the ceiling is the faster one.
double product_gflops(at::ScalarType dtype) {
  constexpr std::int64_t kSize = 768;
  constexpr double kBudget = 0.1;
  const at::Tensor a = at::full({kSize, kSize}, 0.5, at::TensorOptions().dtype(dtype));
  const at::Tensor b = at::full({kSize, kSize}, 0.25, at::TensorOptions().dtype(dtype));
  const at::Tensor c = at::full({kSize, kSize}, 0.0, at::TensorOptions().dtype(dtype));
  const double own = best_seconds(kBudget, [&] { matmul_nt_out(c, a, b, false); });
  const double library = best_seconds(kBudget, [&] { at::mm_out(const_cast<at::Tensor&>(c), a, b.t()); });
  return 2.0 * kSize * kSize * kSize / std::min(own, library) / 1e9;
}

double copy_gigabytes() {
  constexpr std::int64_t kBytes = 64 * 1024 * 1024;
  const at::Tensor from = at::full({kBytes}, 1, at::TensorOptions().dtype(at::kByte));
  const at::Tensor to = at::full({kBytes}, 0, at::TensorOptions().dtype(at::kByte));
  const auto* source = from.const_data_ptr<std::uint8_t>();
  auto* target = to.data_ptr<std::uint8_t>();
  const double seconds = best_seconds(0.1, [&] {
    at::parallel_for(0, kBytes, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(target + begin, source + begin, static_cast<std::size_t>(end - begin));
    });
  });
  return 2.0 * static_cast<double>(kBytes) / seconds / 1e9;
}

}  // namespace

MachinePeak measure_machine_peak() {
  const at::NoGradGuard no_grad;
  MachinePeak peak;
  peak.threads = at::get_num_threads();
  peak.float32_gflops = product_gflops(at::kFloat);
  // Widening is allowed, so bf16 is never below what float32 reaches.
  peak.bfloat16_gflops = std::max(product_gflops(at::kBFloat16), peak.float32_gflops);
  peak.copy_gigabytes = copy_gigabytes();
  return peak;
}

const MachinePeak& machine_peak() {
  static const MachinePeak peak = measure_machine_peak();
  return peak;
}

}  // namespace loongforge::ops
