// Every operator of the table x dtype x CPU level, and on the GPU where there is one, against its reference
// in float64.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "loongforge/base/error.h"
#include "loongforge/base/random.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/op_cases.h"

namespace loongforge::ops {

void PrintTo(const OpCase& op, std::ostream* out) {
  *out << op.name;
}

namespace {

constexpr at::ScalarType kDtypes[] = {at::kDouble, at::kFloat, at::kBFloat16};

// Relative error in the 2-norm that rounding explains.
double tolerance(at::ScalarType dtype) {
  if (dtype == at::kDouble) return 2e-13;
  return dtype == at::kFloat ? 2e-6 : 8e-3;
}

bool is_floating(const at::Tensor& x) {
  return at::isFloatingType(x.scalar_type());
}

// Fresh leaves in the dtype under test.
Tensors cast_inputs(const OpCase& op, at::ScalarType dtype) {
  Tensors inputs = op.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_floating(inputs[i])) continue;
    const bool wide = static_cast<int>(i) >= op.wide_from && dtype == at::kBFloat16;
    inputs[i] = inputs[i].to(wide ? at::kFloat : dtype).detach().clone();
    inputs[i].set_requires_grad(static_cast<int>(i) < op.differentiable);
  }
  return inputs;
}

Tensors in_double(const Tensors& inputs) {
  Tensors wide;
  for (const at::Tensor& x : inputs)
    wide.push_back(is_floating(x) ? x.detach().to(at::kDouble).clone().set_requires_grad(x.requires_grad())
                                  : x);
  return wide;
}

at::Tensor upstream(const at::Tensor& y) {
  at::Tensor g = y.detach().to(at::kDouble).cpu().clone();
  const CounterRandom draw(2, "upstream");
  // A loss is differentiated as backward() does, so that known_gradient meets what it expects.
  for (std::int64_t i = 0; i < g.numel(); ++i)
    g.data_ptr<double>()[i] = y.dim() == 0 ? 1.0 : draw.normal(0, static_cast<std::uint64_t>(i));
  return g.to(y.options());
}

struct Result {
  Tensors outputs, gradients;
};

Result evaluate(const OpCase& op, bool reference, Tensors inputs, const Tensors& gradients_in) {
  Result r;
  if (op.in_place)
    for (at::Tensor& x : inputs) x = x.clone();
  r.outputs = reference ? op.reference(inputs) : op.run(inputs);
  if (op.differentiable == 0) return r;
  const Tensors wanted(inputs.begin(), inputs.begin() + op.differentiable);
  Tensors dy;
  for (std::size_t i = 0; i < r.outputs.size(); ++i)
    dy.push_back(gradients_in.empty() ? upstream(r.outputs[i])
                                      : gradients_in[i].to(r.outputs[i].scalar_type()));
  for (at::Tensor& y : r.outputs) y = y.contiguous();
  r.gradients = torch::autograd::grad(r.outputs, wanted, dy);
  for (at::Tensor& y : r.outputs) y = y.detach();
  return r;
}

double relative_error(const at::Tensor& x, const at::Tensor& reference) {
  const at::Tensor r = reference.to(at::kDouble);
  const double scale = r.norm().item().toDouble(), error = x.to(at::kDouble).sub(r).norm().item().toDouble();
  return scale == 0 ? error : error / scale;
}

bool same_bits(const Tensors& a, const Tensors& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].equal(b[i])) return false;
  return a.size() == b.size();
}

std::string test_name(const ::testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
}

class OpTable : public ::testing::TestWithParam<OpCase> {};

void to_device(Tensors& tensors, at::Device device) {
  for (at::Tensor& x : tensors) x = x.detach().to(device).set_requires_grad(x.requires_grad());
}

// `device` runs the operator; the reference stays on the CPU.
void compare(const OpCase& op, at::ScalarType dtype, at::Device device = at::kCPU) {
  const Tensors inputs = cast_inputs(op, dtype);
  Tensors moved = inputs;
  if (!device.is_cpu()) to_device(moved, device);
  Result ours = evaluate(op, false, moved, {});
  if (!device.is_cpu()) {
    to_device(ours.outputs, at::kCPU);
    to_device(ours.gradients, at::kCPU);
  }
  Tensors dy;
  for (const at::Tensor& y : ours.outputs) dy.push_back(upstream(y).to(at::kDouble));
  const Result theirs = evaluate(op, true, in_double(inputs), dy);
  for (std::size_t i = 0; i < ours.outputs.size(); ++i) {
    EXPECT_EQ(ours.outputs[i].sizes(), theirs.outputs[i].sizes());
    EXPECT_LE(relative_error(ours.outputs[i], theirs.outputs[i]), tolerance(dtype)) << "output " << i;
    if (dtype == at::kDouble) {
      EXPECT_EQ(ours.outputs[i].scalar_type(), at::kDouble);
    }
  }
  for (std::size_t i = 0; i < ours.gradients.size(); ++i) {
    EXPECT_EQ(ours.gradients[i].sizes(), inputs[i].sizes());
    EXPECT_EQ(ours.gradients[i].scalar_type(), dtype);
    EXPECT_LE(relative_error(ours.gradients[i], theirs.gradients[i]), tolerance(dtype)) << "gradient " << i;
  }
}

TEST_P(OpTable, MatchesItsReferenceInEveryDtypeAndCpuLevel) {
  for (CpuLevel level : available_cpu_levels()) {
    const CpuLevelGuard guard(level);
    for (at::ScalarType dtype : kDtypes) {
      SCOPED_TRACE(concat(cpu_level_name(level), " ", at::toString(dtype)));
      compare(GetParam(), dtype);
    }
  }
}

TEST_P(OpTable, GivesTheSameBitsAgainAndWithAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (at::ScalarType dtype : kDtypes) {
    const Tensors inputs = cast_inputs(GetParam(), dtype);
    const Result first = evaluate(GetParam(), false, inputs, {});
    for (int threads : {before, 1, 3}) {
      at::set_num_threads(threads);
      const Result again = evaluate(GetParam(), false, inputs, {});
      EXPECT_TRUE(same_bits(first.outputs, again.outputs)) << threads << " threads " << at::toString(dtype);
      EXPECT_TRUE(same_bits(first.gradients, again.gradients))
          << threads << " threads " << at::toString(dtype);
    }
    at::set_num_threads(before);
  }
}

// Sum of outputs weighted by fixed numbers, at inputs moved by `step` along fixed random directions.
double moved_value(const OpCase& op, const Tensors& inputs, const Tensors& directions, const Tensors& dy,
                   double step) {
  const at::NoGradGuard no_grad;
  Tensors moved = inputs;
  for (std::size_t i = 0; i < directions.size(); ++i) moved[i] = inputs[i].add(directions[i], step);
  const Tensors y = op.run(moved);
  double value = 0;
  for (std::size_t i = 0; i < y.size(); ++i) value += y[i].mul(dy[i]).sum().item().toDouble();
  return value;
}

TEST_P(OpTable, GradientIsTheSlopeOfTheFunctionInFloat64) {
  const OpCase& op = GetParam();
  if (op.differentiable == 0) return;
  const Tensors inputs = cast_inputs(op, at::kDouble);
  const Result r = evaluate(op, false, inputs, {});
  Tensors dy, directions;
  for (const at::Tensor& y : r.outputs) dy.push_back(upstream(y));
  double slope = 0, size = 0;
  for (int i = 0; i < op.differentiable; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    at::Tensor u = inputs[at].detach().clone();
    const CounterRandom draw(3, concat("direction ", i));
    for (std::int64_t j = 0; j < u.numel(); ++j)
      u.data_ptr<double>()[j] = draw.normal(0, static_cast<std::uint64_t>(j));
    slope += u.mul(r.gradients[at]).sum().item().toDouble();
    size += std::abs(slope) + r.gradients[at].norm().item().toDouble();
    directions.push_back(u);
  }
  // Central differences of fourth order.
  constexpr double h = 1e-3;
  const auto f = [&](double step) { return moved_value(op, inputs, directions, dy, step); };
  const double measured = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
  EXPECT_NEAR(measured, slope, 1e-7 * size + 1e-12);
}

// No GPU has executed these yet; on a machine without one there is no such test.
class OpTableOnGpu : public ::testing::TestWithParam<OpCase> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpTableOnGpu);

TEST_P(OpTableOnGpu, MatchesItsReferenceInEveryDtype) {
  for (at::ScalarType dtype : kDtypes) {
    SCOPED_TRACE(at::toString(dtype));
    compare(GetParam(), dtype, at::kCUDA);
  }
}

std::vector<OpCase> gpu_cases() {
  return at::globalContext().hasCUDA() ? small_op_cases() : std::vector<OpCase>{};
}

INSTANTIATE_TEST_SUITE_P(All, OpTable, ::testing::ValuesIn(small_op_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(All, OpTableOnGpu, ::testing::ValuesIn(gpu_cases()), test_name);

}  // namespace
}  // namespace loongforge::ops
