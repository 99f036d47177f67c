#include "loongforge/nn/dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "loongforge/base/error.h"
#include "loongforge/base/parallel.h"
#include "loongforge/base/random.h"

namespace loongforge {

at::Tensor dropout(const Context& context, const at::Tensor& x, double p, const std::string& purpose) {
  check<ConfigError>(p >= 0.0 && p < 1.0, "dropout: expected a share in [0, 1), got ", p);
  if (!context.training || p == 0.0) return x;
  const CounterRandom random(context.random.seed, "dropout/" + purpose);
  const std::int64_t rows = x.size(0), channels = x.size(1);
  const float keep = static_cast<float>(1.0 / (1.0 - p));
  const at::Tensor mask = at::empty({rows, channels}, at::TensorOptions().dtype(at::kFloat));
  float* out = mask.mutable_data_ptr<float>();
  parallel_for(rows, [&](std::int64_t row) {
    const auto token = context.random.token_offset + static_cast<std::uint64_t>(row);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint64_t index =
          token * static_cast<std::uint64_t>(channels) + static_cast<std::uint64_t>(c);
      out[row * channels + c] = random.uniform(context.random.step, index) < p ? 0.0F : keep;
    }
  });
  return x * mask.to(x.scalar_type());
}

}  // namespace loongforge
