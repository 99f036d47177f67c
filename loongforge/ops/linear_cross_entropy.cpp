#include "loongforge/ops/linear_cross_entropy.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/device.h"
#include "loongforge/ops/matmul.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kIgnored = -100;
constexpr std::int64_t kLogitBytes = 64 * 1024 * 1024;

// The tokens that count, and the part of the weight that is vocabulary.
struct Head {
  at::Tensor hidden, weight;         // (N, C), (vocabulary, C)
  std::vector<std::int64_t> tokens;  // indices of those that count
  std::vector<std::int64_t> targets;
  at::Tensor token_weights;  // (counted), wide; undefined: 1
  bool all = false;          // every token counts

  std::int64_t counted() const { return static_cast<std::int64_t>(tokens.size()); }
  at::TensorOptions wide() const {
    return hidden.options().dtype(cpu::wide_dtype(hidden.scalar_type())).requires_grad(false);
  }
};

// Rows [begin, end) of a list of the counted tokens, on the device of the tensors.
at::Tensor on_device(const Head& head, const std::vector<std::int64_t>& list, std::int64_t begin,
                     std::int64_t end) {
  return at::from_blob(const_cast<std::int64_t*>(list.data()) + begin, {end - begin},
                       at::TensorOptions().dtype(at::kLong))
      .to(head.hidden.device());
}

at::Tensor token_index(const Head& head, std::int64_t begin, std::int64_t end) {
  return on_device(head, head.tokens, begin, end);
}

Head make_head(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
               const std::optional<at::Tensor>& token_weights, std::int64_t vocab_size) {
  Head head;
  head.hidden = packed(hidden.detach());
  const std::int64_t vocabulary = vocab_size == 0 ? weight.size(0) : vocab_size;
  head.weight = packed(weight.detach()).narrow(0, 0, vocabulary);
  const at::Tensor flat = packed(targets.cpu());
  const std::int64_t* target = flat.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    if (target[i] == kIgnored) continue;
    check<DataError>(target[i] >= 0 && target[i] < vocabulary, "target of token ", i,
                     ": expected an id from 0 to ", vocabulary - 1, " or -100, got ", target[i],
                     "; use the tokenizer that belongs to the model");
    head.tokens.push_back(i);
    head.targets.push_back(target[i]);
  }
  head.all = head.counted() == flat.numel();
  if (token_weights) {
    const at::Tensor all = token_weights->detach().to(head.wide()).contiguous();
    head.token_weights = head.all ? all : all.index_select(0, token_index(head, 0, head.counted()));
  }
  return head;
}

// Rows [begin, end) of the counted tokens.
at::Tensor hidden_rows(const Head& head, std::int64_t begin, std::int64_t end) {
  if (head.all) return head.hidden.narrow(0, begin, end - begin);
  return head.hidden.index_select(0, token_index(head, begin, end));
}

std::int64_t chunk_rows(const Head& head) {
  constexpr std::int64_t kUnit = 12, kLeast = 48;
  const std::int64_t row_bytes = head.weight.size(0) * (head.hidden.scalar_type() == at::kDouble ? 8 : 4);
  const std::int64_t fits = std::max(kLeast, kLogitBytes / std::max<std::int64_t>(1, row_bytes));
  const std::int64_t chunks = std::max<std::int64_t>(1, (head.counted() + fits - 1) / fits);
  const std::int64_t rows = (head.counted() + chunks - 1) / chunks;
  return std::max(kUnit, (rows + kUnit - 1) / kUnit * kUnit);
}

// What a pass over the chunks makes besides the logits.
struct Wanted {
  at::Tensor losses;  // (counted), wide
  bool make_gradient = false;
  double gradient = 1;     // of the sum
  at::Tensor dhidden;      // (counted, C) in hidden's dtype
  at::Tensor dweight;      // (vocabulary, C) wide
  bool overwrite = false;  // dweight holds nothing yet
};

void softmax_chunk_on_gpu(const Head& head, const Wanted& wanted, const at::Tensor& logits,
                          std::int64_t begin) {
  const std::int64_t rows = logits.size(0);
  const auto part = [&](const at::Tensor& x) { return x.defined() ? x.narrow(0, begin, rows) : x; };
  const at::Tensor losses = wanted.losses.defined() ? wanted.losses.flatten() : wanted.losses;
  plain::cross_entropy(logits, {on_device(head, head.targets, begin, begin + rows), part(head.token_weights),
                                part(losses), wanted.gradient, wanted.make_gradient});
}

void softmax_chunk(const Head& head, const Wanted& wanted, const at::Tensor& logits, std::int64_t begin) {
  if (logits.is_cuda()) return softmax_chunk_on_gpu(head, wanted, logits, begin);
  const bool wide = logits.scalar_type() == at::kDouble;
  const auto at_row = [&](const at::Tensor& x) -> void* {
    return x.defined()
               ? static_cast<char*>(x.data_ptr()) + begin * static_cast<std::int64_t>(x.element_size())
               : nullptr;
  };
  const cpu::CrossEntropyArgs args{wide,
                                   logits.size(1),
                                   logits.size(1),
                                   logits.data_ptr(),
                                   head.targets.data() + begin,
                                   at_row(head.token_weights),
                                   at_row(wanted.losses),
                                   wanted.gradient,
                                   wanted.make_gradient};
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(logits.size(0), logits.size(1) * 8,
                  [&](std::int64_t first, std::int64_t last) { k.cross_entropy(args, first, last); });
}

void run_chunks(const Head& head, const Wanted& wanted) {
  const std::int64_t rows = chunk_rows(head), counted = head.counted();
  const at::Tensor buffer = at::empty({std::min(rows, counted), head.weight.size(0)}, head.wide());
  for (std::int64_t begin = 0; begin < counted; begin += rows) {
    const std::int64_t end = std::min(begin + rows, counted);
    const at::Tensor hidden = hidden_rows(head, begin, end);
    const at::Tensor logits = buffer.narrow(0, 0, end - begin);
    matmul_nt_out(logits, hidden, head.weight, false);
    softmax_chunk(head, wanted, logits, begin);
    if (!wanted.make_gradient) continue;
    const bool narrow = hidden.scalar_type() == at::kBFloat16 && (hidden.is_cuda() || has_bf16_units());
    const at::Tensor dlogits = narrow ? logits.to(at::kBFloat16) : logits;
    if (wanted.dhidden.defined())
      matmul_nn_out(wanted.dhidden.narrow(0, begin, end - begin), dlogits, head.weight, false);
    if (wanted.dweight.defined())
      matmul_tn_out(wanted.dweight, dlogits, hidden, !(wanted.overwrite && begin == 0));
  }
}

double total_of(const at::Tensor& of_tokens) {
  const at::Tensor losses = of_tokens.cpu();
  double total = 0;
  for (std::int64_t i = 0; i < losses.numel(); ++i)
    total += losses.scalar_type() == at::kDouble ? losses.const_data_ptr<double>()[i]
                                                 : static_cast<double>(losses.const_data_ptr<float>()[i]);
  return total;
}

// Rows of the counted tokens back to their places, zero elsewhere.
at::Tensor spread(const Head& head, const at::Tensor& counted) {
  if (head.all) return counted;
  const at::Tensor out = at::zeros({head.hidden.size(0), counted.size(1)}, counted.options());
  return out.index_copy_(0, token_index(head, 0, head.counted()), counted);
}

struct Gradients {
  at::Tensor hidden, weight;  // undefined: not asked for, or delivered
};

// One pass that makes both gradients, and the losses too when `losses` is defined.
Gradients make_gradients(const Head& head, const at::Tensor& weight, const WeightGradient& weight_gradient,
                         double gradient, bool need_hidden, bool need_weight, const at::Tensor& losses) {
  Wanted wanted{losses, true, gradient, {}, {}, false};
  if (need_hidden)
    wanted.dhidden =
        at::empty({head.counted(), head.hidden.size(1)}, head.hidden.options().requires_grad(false));
  Gradients result;
  if (!need_weight) {
    run_chunks(head, wanted);
  } else {
    result.weight = deliver(weight_gradient, weight, [&](const at::Tensor& buffer, bool overwrite) {
      const std::int64_t vocabulary = head.weight.size(0), padding = buffer.size(0) - vocabulary;
      wanted.dweight = buffer.narrow(0, 0, vocabulary);
      wanted.overwrite = overwrite;
      if (overwrite && padding > 0) buffer.narrow(0, vocabulary, padding).zero_();
      if (overwrite && head.counted() == 0) wanted.dweight.zero_();
      run_chunks(head, wanted);
    });
  }
  if (need_hidden) result.hidden = spread(head, wanted.dhidden);
  return result;
}

struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                            const at::Tensor& targets, const LinearCrossEntropyOptions& options,
                            bool with_gradients) {
    const Head head = make_head(hidden, weight, targets, options.token_weights, options.vocab_size);
    const at::Tensor losses = at::empty({head.counted()}, head.wide());
    const bool now = with_gradients && options.known_gradient.has_value();
    variable_list saved;
    if (now) {
      const Gradients g = make_gradients(head, weight, options.weight_gradient, *options.known_gradient,
                                         hidden.requires_grad(), weight.requires_grad(), losses);
      saved = {g.hidden, g.weight};
    } else {
      run_chunks(head, {losses, false, 1, {}, {}, false});
      saved = {hidden, weight, targets};
      if (options.token_weights) saved.push_back(*options.token_weights);
    }
    context->save_for_backward(saved);
    context->saved_data["known"] = options.known_gradient.value_or(0);
    context->saved_data["made"] = now;
    context->saved_data["vocab_size"] = options.vocab_size;
    context->saved_data["weight_gradient"] = wrap(options.weight_gradient);
    return at::scalar_tensor(total_of(losses), head.wide());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("linear_cross_entropy");
    const variable_list saved = context->get_saved_variables();
    const double gradient = grads[0].item().toDouble();
    if (context->saved_data["made"].toBool()) {
      const double known = context->saved_data["known"].toDouble();
      const bool same = grads[0].scalar_type() == at::kDouble
                            ? gradient == known
                            : gradient == static_cast<double>(static_cast<float>(known));
      check(same, "linear_cross_entropy: known_gradient was ", known, ", but backward brought ", gradient);
      return {saved[0], saved[1], {}, {}, {}};
    }
    const std::optional<at::Tensor> token_weights =
        saved.size() > 3 ? std::optional<at::Tensor>(saved[3]) : std::nullopt;
    const Head head =
        make_head(saved[0], saved[1], saved[2], token_weights, context->saved_data["vocab_size"].toInt());
    const Gradients g =
        make_gradients(head, saved[1], unwrap(context->saved_data["weight_gradient"]), gradient,
                       context->needs_input_grad(0), context->needs_input_grad(1), {});
    return {g.hidden, g.weight, {}, {}, {}};
  }
};

void check_arguments(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                     const std::optional<at::Tensor>& token_weights, std::int64_t vocab_size) {
  check(hidden.dim() == 2 && weight.dim() == 2 && hidden.size(1) == weight.size(1) &&
            hidden.scalar_type() == weight.scalar_type(),
        "linear_cross_entropy: expected hidden (N, C) and weight (V, C) of one dtype, got ", hidden.sizes(),
        " ", at::toString(hidden.scalar_type()), " and ", weight.sizes(), " ",
        at::toString(weight.scalar_type()));
  cpu::type_of(hidden, "linear_cross_entropy");
  check_device("linear_cross_entropy", {&hidden, &weight});
  check(targets.dim() == 1 && targets.scalar_type() == at::kLong && targets.size(0) == hidden.size(0),
        "linear_cross_entropy: expected int64 targets (", hidden.size(0), "), got ", targets.sizes(), " ",
        at::toString(targets.scalar_type()));
  check(!token_weights || token_weights->sizes() == targets.sizes(),
        "linear_cross_entropy: expected one token weight a target");
  check(vocab_size >= 0 && vocab_size <= weight.size(0), "linear_cross_entropy: vocab_size: expected 0 to ",
        weight.size(0), ", got ", vocab_size);
}

}  // namespace

at::Tensor linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                                const LinearCrossEntropyOptions& options) {
  check_arguments(hidden, weight, targets, options.token_weights, options.vocab_size);
  const bool with_gradients =
      at::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  return LinearCrossEntropy::apply(hidden, weight, targets, options, with_gradients);
}

at::Tensor linear_cross_entropy_per_token(const at::Tensor& hidden, const at::Tensor& weight,
                                          const at::Tensor& targets, std::int64_t vocab_size) {
  check_arguments(hidden, weight, targets, std::nullopt, vocab_size);
  const at::NoGradGuard no_grad;
  const Head head = make_head(hidden, weight, targets, std::nullopt, vocab_size);
  const at::Tensor losses = at::empty({head.counted(), 1}, head.wide());
  run_chunks(head, {losses, false, 1, {}, {}, false});
  return spread(head, losses).squeeze(1);
}

at::Tensor linear_cross_entropy_reference(const at::Tensor& hidden, const at::Tensor& weight,
                                          const at::Tensor& targets,
                                          const LinearCrossEntropyOptions& options) {
  const at::ScalarType wide = cpu::wide_dtype(hidden.scalar_type());
  const std::int64_t vocabulary = options.vocab_size == 0 ? weight.size(0) : options.vocab_size;
  const at::Tensor log_p =
      at::log_softmax(at::linear(hidden.to(wide), weight.narrow(0, 0, vocabulary).to(wide)), -1);
  const at::Tensor counted = targets.ne(kIgnored);
  const at::Tensor losses = log_p.gather(1, targets.mul(counted).unsqueeze(1)).squeeze(1).neg().mul(counted);
  return (options.token_weights ? losses.mul(options.token_weights->to(wide)) : losses).sum();
}

}  // namespace loongforge::ops
