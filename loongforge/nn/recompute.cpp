#include "loongforge/nn/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>

#include <utility>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The call that backward repeats.
struct Call : torch::CustomClassHolder {
  Call(const Segment& segment, Context context) : segment(segment), context(std::move(context)) {}
  const Segment& segment;
  Context context;
  // What the segment makes, and what it passes through as it is.
  std::vector<std::string> inputs, outputs, passed;

  variable_list run(const variable_list& values) {
    Flow flow;
    for (std::size_t i = 0; i < inputs.size(); ++i) flow[inputs[i]] = values[i];
    const Flow before = flow;
    variable_list result;
    outputs.clear();
    passed.clear();
    for (auto& [name, value] : segment.forward(context, std::move(flow))) {
      const auto it = before.find(name);
      if (it != before.end() && it->second.is_same(value)) {
        passed.push_back(name);
      } else {
        outputs.push_back(name);
        result.push_back(value);
      }
    }
    return result;
  }
};

// Inputs cut off from the outer graph, so that the inner backward stops at them.
variable_list detached(const variable_list& values) {
  variable_list out;
  for (const at::Tensor& value : values) {
    out.push_back(value.detach());
    if (value.requires_grad()) out.back().requires_grad_(true);
  }
  return out;
}

void run_backward(const variable_list& outputs, const variable_list& grads) {
  torch::autograd::edge_list roots;
  variable_list root_grads;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad() || !grads[i].defined()) continue;
    roots.push_back(torch::autograd::impl::gradient_edge(outputs[i]));
    root_grads.push_back(grads[i]);
  }
  if (roots.empty()) return;
  torch::autograd::Engine::get_default_engine().execute(roots, root_grads, /*keep_graph=*/false,
                                                        /*create_graph=*/false, /*accumulate_grad=*/true,
                                                        /*outputs=*/{});
}

struct Recompute : torch::autograd::Function<Recompute> {
  // `anchor` requires a gradient, so that the node exists even when no input does (frozen embeddings).
  static variable_list forward(AutogradContext* ctx, at::TensorList inputs, const at::Tensor& anchor,
                               c10::intrusive_ptr<Call> call) {
    static_cast<void>(anchor);
    const variable_list values(inputs.begin(), inputs.end());
    variable_list outputs = call->run(values);
    ctx->save_for_backward(values);
    ctx->set_materialize_grads(false);
    ctx->saved_data["call"] = c10::IValue::make_capsule(std::move(call));
    return outputs;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto call = c10::static_intrusive_pointer_cast<Call>(ctx->saved_data["call"].toCapsule());
    const variable_list inputs = detached(ctx->get_saved_variables());
    {
      const at::AutoGradMode with_grad(true);
      const variable_list outputs = call->run(inputs);
      run_backward(outputs, grads);
    }
    variable_list result;
    for (const at::Tensor& input : inputs)
      result.push_back(input.requires_grad() ? input.grad() : at::Tensor());
    result.resize(inputs.size() + 2);
    return result;
  }
};

}  // namespace

Flow recompute(const Segment& segment, const Context& context, const Flow& flow) {
  auto call = c10::make_intrusive<Call>(segment, context);
  variable_list values;
  for (const auto& [name, value] : flow) {
    call->inputs.push_back(name);
    values.push_back(value);
  }
  const at::Tensor anchor = at::empty({0}).requires_grad_(segment.has_trainable());
  const variable_list outputs = Recompute::apply(at::TensorList(values), anchor, call);
  Flow result;
  for (const std::string& name : call->passed) result[name] = flow.at(name);
  for (std::size_t i = 0; i < outputs.size(); ++i) result[call->outputs[i]] = outputs[i];
  return result;
}

}  // namespace loongforge
