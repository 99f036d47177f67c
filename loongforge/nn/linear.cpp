#include "loongforge/nn/linear.h"

#include <ATen/ops/add.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "loongforge/nn/dropout.h"
#include "loongforge/ops/linear.h"

namespace loongforge {
namespace {

// Adds a bias (out) to every row; its gradient goes to the sink.
struct AddBias : torch::autograd::Function<AddBias> {
  struct Target : torch::CustomClassHolder {
    explicit Target(ops::WeightGradient gradient) : gradient(std::move(gradient)) {}
    ops::WeightGradient gradient;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            const at::Tensor& bias, c10::intrusive_ptr<Target> target) {
    ctx->saved_data["target"] = c10::IValue::make_capsule(std::move(target));
    return at::add(x, bias);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto target = c10::static_intrusive_pointer_cast<Target>(ctx->saved_data["target"].toCapsule());
    if (target->gradient) {
      target->gradient([&](const at::Tensor& buffer, bool overwrite) {
        const at::Tensor sum = at::sum(grads[0], {0}, false, buffer.scalar_type());
        if (overwrite) {
          buffer.copy_(sum);
        } else {
          buffer.add_(sum);
        }
      });
    }
    return {grads[0], at::Tensor(), at::Tensor()};
  }
};

std::vector<Section> section(std::int64_t size, bool split, std::int64_t unit) {
  if (!split) return {};
  return {{size, unit, Placement::kTensorSplit}};
}

ParamSpec matrix_spec(const std::string& name, std::int64_t out, std::int64_t in,
                      const LinearOptions& options) {
  ParamSpec spec;
  spec.name = name;
  spec.shape = {out, in};
  spec.sections = {section(out, options.split == LinearOptions::Split::kOutputs, options.unit),
                   section(in, options.split == LinearOptions::Split::kInputs, options.unit)};
  spec.init = {Init::Kind::kNormal, options.init_std};
  spec.file_shape = options.file_shape;
  return spec;
}

ParamSpec bias_spec(const std::string& name, std::int64_t out, const LinearOptions& options) {
  ParamSpec spec;
  spec.name = name;
  spec.shape = {out};
  spec.sections = {section(out, options.split == LinearOptions::Split::kOutputs, options.unit)};
  spec.decay = DecayGroup::kNoDecay;
  return spec;
}

// Over a linear split by outputs A is replicated and B split by rows; over one split by inputs the reverse.
LoraAdapter make_adapter(ParamBuilder& builder, const std::string& name, std::int64_t in, std::int64_t out,
                         const LinearOptions& options, const LoraOptions& lora) {
  LinearOptions a_options = options, b_options = options;
  a_options.file_shape = b_options.file_shape = {};
  if (options.split == LinearOptions::Split::kOutputs) a_options.split = LinearOptions::Split::kNone;
  if (options.split == LinearOptions::Split::kInputs) b_options.split = LinearOptions::Split::kNone;
  ParamSpec a = matrix_spec(name + ".lora_a", lora.rank, in, a_options);
  // PEFT: kaiming_uniform_(a = sqrt 5), whose bound is 1 / sqrt(fan in).
  a.init = {Init::Kind::kUniform, 1.0 / std::sqrt(static_cast<double>(in))};
  a.adapter = true;
  ParamSpec b = matrix_spec(name + ".lora_b", out, lora.rank, b_options);
  b.init = {Init::Kind::kZeros, 0.0};
  b.adapter = true;
  const ParamRef a_param = builder.add(std::move(a));
  return {a_param, builder.add(std::move(b)), lora.scaling(), lora.dropout};
}

}  // namespace

at::Tensor LoraAdapter::add_to(const Context& context, const at::Tensor& y, const at::Tensor& x) const {
  const at::Tensor input = loongforge::dropout(context, x, dropout, a->spec.name);
  const at::Tensor low = ops::linear(input, weight_of(context, a), gradient_of(context, a));
  return at::add(y, ops::linear(low, weight_of(context, b), gradient_of(context, b)), scaling);
}

Linear::Linear(ParamBuilder& builder, const std::string& name, std::int64_t in, std::int64_t out,
               const LinearOptions& options)
    : weight(builder.add(matrix_spec(name + ".weight", out, in, options))) {
  if (options.bias) bias = builder.add(bias_spec(name + ".bias", out, options));
  if (const LoraOptions* adapter = builder.lora_target(name))
    lora = make_adapter(builder, name, in, out, options, *adapter);
}

at::Tensor Linear::forward(const Context& context, const at::Tensor& x) const {
  at::Tensor y = ops::linear(x, weight_of(context, weight), gradient_of(context, weight));
  if (bias) {
    y = AddBias::apply(y, weight_of(context, bias),
                       c10::make_intrusive<AddBias::Target>(gradient_of(context, bias)));
  }
  return lora ? lora->add_to(context, y, x) : y;
}

}  // namespace loongforge
