// Helpers of the tests of layers and models: numeric gradients and small inputs.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "loongforge/base/random.h"
#include "loongforge/nn/context.h"

namespace loongforge::test {

// Normal random numbers, the same for the same name.
inline at::Tensor random_tensor(const std::vector<std::int64_t>& shape, const std::string& name,
                                at::ScalarType dtype = at::kDouble) {
  at::Tensor out = at::empty(shape, at::TensorOptions().dtype(at::kDouble));
  const CounterRandom random(7, name);
  double* data = out.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = random.normal(0, static_cast<std::uint64_t>(i));
  return out.to(dtype);
}

// Gives every parameter random values, biases and zero-initialised adapters included.
inline void randomize(const std::vector<ParamRef>& params, double scale = 0.3) {
  for (const ParamRef& param : params) {
    at::Tensor values = random_tensor(param->spec.shape, param->spec.name).mul_(scale);
    if (param->spec.init.kind == Init::Kind::kOnes) values.add_(1.0);
    assign(*param, values);
  }
}

// int32 (S+1) from document lengths.
inline at::Tensor cu_seqlens_of(const std::vector<std::int64_t>& lengths) {
  at::Tensor out =
      at::empty({static_cast<std::int64_t>(lengths.size()) + 1}, at::TensorOptions().dtype(at::kInt));
  int* data = out.mutable_data_ptr<int>();
  data[0] = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) data[i + 1] = data[i] + static_cast<int>(lengths[i]);
  return out;
}

inline Context documents(const std::vector<std::int64_t>& lengths, GradSink* grads = nullptr) {
  Context context;
  context.cu_seqlens = cu_seqlens_of(lengths);
  context.position_ids = positions_of(context.cu_seqlens);
  context.grads = grads;
  return context;
}

// Central difference of `loss` by element i of `values` (float64, changed in place and put back).
inline double numeric_gradient(const at::Tensor& values, std::int64_t i,
                               const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  double* data = values.mutable_data_ptr<double>();
  const double before = data[i];
  data[i] = before + kStep;
  const double above = loss();
  data[i] = before - kStep;
  const double below = loss();
  data[i] = before;
  return (above - below) / (2.0 * kStep);
}

// Compares up to `most` elements of `gradient` with numeric ones.
inline void expect_gradient(const at::Tensor& values, const at::Tensor& gradient,
                            const std::function<double()>& loss, const std::string& what,
                            std::int64_t most = 12) {
  ASSERT_TRUE(gradient.defined()) << what;
  const at::Tensor flat = gradient.contiguous().view({-1});
  const std::int64_t n = flat.numel(), stride = std::max<std::int64_t>(1, n / most);
  for (std::int64_t i = 0; i < n; i += stride) {
    const double expected = numeric_gradient(values, i, loss);
    const double got = flat.const_data_ptr<double>()[i];
    EXPECT_NEAR(got, expected, 1e-7 + 1e-6 * std::abs(expected)) << what << " element " << i;
  }
}

// Float64 gradients of sum(w·forward(x)) by every trainable parameter and by x, against numeric ones.
inline void check_layer_gradients(
    const std::vector<ParamRef>& params, const at::Tensor& input, Context context,
    const std::function<at::Tensor(const Context&, const at::Tensor&)>& forward) {
  AccumulateGrads sink;
  context.grads = &sink;
  const auto fresh = [&] {
    Context out = context;
    out.rope = std::make_shared<ops::RopeTables>();
    return out;
  };
  const at::Tensor x = input.clone().requires_grad_(true);
  const at::Tensor y = forward(fresh(), x);
  const at::Tensor w = random_tensor(y.sizes().vec(), "loss");
  const auto loss = [&] {
    const at::NoGradGuard no_grad;
    return forward(fresh(), x).mul(w).sum().item<double>();
  };
  y.mul(w).sum().backward();
  const at::Tensor values = x.detach();
  expect_gradient(values, x.grad(), loss, "input");
  for (const ParamRef& param : params) {
    if (!param->trainable) {
      EXPECT_FALSE(param->has_grad) << param->spec.name;
      continue;
    }
    ASSERT_TRUE(param->has_grad) << param->spec.name;
    expect_gradient(param->value.detach(), param->grad, loss, param->spec.name);
  }
}

}  // namespace loongforge::test
