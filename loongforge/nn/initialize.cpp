#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "loongforge/base/parallel.h"
#include "loongforge/base/random.h"
#include "loongforge/nn/param.h"

namespace loongforge {
namespace {

constexpr std::int64_t kChunk = 1 << 16;

// Calls draw(i) for every element, in parallel; the values depend on the index alone.
template <typename T, typename Draw>
void fill(T* out, std::int64_t n, const Draw& draw) {
  parallel_for((n + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t end = std::min(n, (chunk + 1) * kChunk);
    for (std::int64_t i = chunk * kChunk; i < end; ++i) out[i] = static_cast<T>(draw(i));
  });
}

template <typename T>
void draw_values(const ParamSpec& spec, std::uint64_t seed, T* out) {
  const CounterRandom random(seed, "weights/" + spec.name);
  const double scale = spec.init.scale;
  if (spec.init.kind == Init::Kind::kNormal) {
    fill(out, spec.numel(),
         [&](std::int64_t i) { return scale * random.normal(0, static_cast<std::uint64_t>(i)); });
  } else {
    fill(out, spec.numel(), [&](std::int64_t i) {
      return scale * (2.0 * random.uniform(0, static_cast<std::uint64_t>(i)) - 1.0);
    });
  }
}

void initialize_one(Param& param, std::uint64_t seed) {
  const ParamSpec& spec = param.spec;
  const at::ScalarType dtype = wide_dtype(param.value.scalar_type());
  at::Tensor values = at::empty(spec.shape, at::TensorOptions().dtype(dtype));
  switch (spec.init.kind) {
    case Init::Kind::kZeros:
      values.fill_(0);
      break;
    case Init::Kind::kOnes:
      values.fill_(1);
      break;
    case Init::Kind::kNormal:
    case Init::Kind::kUniform:
      if (dtype == at::kDouble) {
        draw_values(spec, seed, values.mutable_data_ptr<double>());
      } else {
        draw_values(spec, seed, values.mutable_data_ptr<float>());
      }
  }
  assign(param, values);
}

}  // namespace

void initialize(const std::vector<ParamRef>& params, std::uint64_t seed) {
  for (const ParamRef& param : params) initialize_one(*param, seed);
}

void initialize_unfilled(const std::vector<ParamRef>& params, std::uint64_t seed) {
  for (const ParamRef& param : params) {
    if (!param->filled) initialize_one(*param, seed);
  }
}

}  // namespace loongforge
