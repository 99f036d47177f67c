#include "loongforge/nn/rope_frequencies.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <numbers>

#include "loongforge/base/error.h"
#include "loongforge/nn/param.h"

namespace loongforge {
namespace {

at::Tensor stretch(const at::Tensor& inv_freq, const Llama3Scaling& scaling) {
  const double long_wave = scaling.original_max_positions / scaling.low_freq_factor;
  const double short_wave = scaling.original_max_positions / scaling.high_freq_factor;
  const at::Tensor wave = inv_freq.reciprocal() * (2.0 * std::numbers::pi);
  const at::Tensor divided = inv_freq / scaling.factor;
  const at::Tensor share = (wave.reciprocal() * scaling.original_max_positions - scaling.low_freq_factor) /
                           (scaling.high_freq_factor - scaling.low_freq_factor);
  const at::Tensor blend = (1.0 - share) * inv_freq / scaling.factor + share * inv_freq;
  const at::Tensor outside = at::where(wave.gt(long_wave), divided, inv_freq);
  return at::where(wave.ge(short_wave).logical_and(wave.le(long_wave)), blend, outside);
}

}  // namespace

at::Tensor rope_frequencies(const RopeOptions& options, std::int64_t head_dim, at::ScalarType compute) {
  check(head_dim > 0 && head_dim % 2 == 0, "head_dim: expected an even number, got ", head_dim);
  const auto tensor_options = at::TensorOptions().dtype(wide_dtype(compute));
  const at::Tensor exponent = at::arange(0, head_dim, 2, tensor_options) / static_cast<double>(head_dim);
  at::Tensor inv_freq = at::pow(options.theta, exponent).reciprocal();
  if (options.llama3) inv_freq = stretch(inv_freq, *options.llama3);
  if (options.linear_factor != 1.0) inv_freq = inv_freq / options.linear_factor;
  return inv_freq;
}

at::Tensor rope_axes(const std::vector<std::int64_t>& sections) {
  if (sections.empty()) return {};
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < sections.size(); ++axis)
    axes.insert(axes.end(), static_cast<std::size_t>(sections[axis]), static_cast<std::int64_t>(axis));
  return at::tensor(axes, at::TensorOptions().dtype(at::kLong));
}

}  // namespace loongforge
