#include "loongforge/ops/embedding.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// buffer[ids[i]] += dy[i], in the order of i. On a GPU the library sorts equal ids together, stably; on the
// CPU each thread owns a band of rows of the table.
void scatter_add(const at::Tensor& ids, const at::Tensor& dy, const at::Tensor& buffer) {
  if (buffer.is_cuda()) {
    buffer.index_put_({std::optional<at::Tensor>(ids)}, dy.to(buffer.scalar_type()), true);
    return;
  }
  const std::int64_t n = ids.numel(), rows = buffer.size(0), columns = buffer.size(1);
  const std::int64_t* id = ids.const_data_ptr<std::int64_t>();
  const cpu::Type from = cpu::type_of(dy, "embedding"), to = cpu::type_of(buffer, "embedding");
  const std::int64_t size = static_cast<std::int64_t>(dy.element_size());
  const std::int64_t wide = static_cast<std::int64_t>(buffer.element_size());
  const char* x = static_cast<const char*>(dy.data_ptr());
  char* y = static_cast<char*>(buffer.data_ptr());
  const cpu::Kernels& k = cpu::kernels();
  const std::int64_t bands = at::get_num_threads();
  cpu::for_items(bands, [&](std::int64_t band) {
    const std::int64_t first = rows * band / bands, last = rows * (band + 1) / bands;
    for (std::int64_t i = 0; i < n; ++i)
      if (id[i] >= first && id[i] < last)
        k.convert(from, x + i * columns * size, to, y + id[i] * columns * wide, true, 0, columns);
  });
}

at::Tensor gather(const at::Tensor& ids, const at::Tensor& weight) {
  if (weight.is_cuda()) return at::index_select(weight, 0, ids);
  const at::Tensor y = at::empty({ids.numel(), weight.size(1)}, weight.options().requires_grad(false));
  const std::int64_t row = weight.size(1) * static_cast<std::int64_t>(weight.element_size());
  const std::int64_t* id = ids.const_data_ptr<std::int64_t>();
  const char* from = static_cast<const char*>(weight.data_ptr());
  char* to = static_cast<char*>(y.data_ptr());
  if (row > 0)
    cpu::for_ranges(ids.numel(), row, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        std::memcpy(to + i * row, from + id[i] * row, static_cast<std::size_t>(row));
    });
  return y;
}

struct Embedding : torch::autograd::Function<Embedding> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& ids, const at::Tensor& weight,
                            const WeightGradient& weight_gradient) {
    const at::Tensor y = gather(ids, weight);
    context->save_for_backward({ids, weight});
    context->saved_data["weight_gradient"] = wrap(weight_gradient);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("embedding");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dy = packed(grads[0]);
    at::Tensor dweight;
    if (context->needs_input_grad(1))
      dweight = deliver(unwrap(context->saved_data["weight_gradient"]), saved[1],
                        [&](const at::Tensor& buffer, bool overwrite) {
                          if (overwrite) buffer.zero_();
                          scatter_add(saved[0], dy, buffer);
                        });
    return {{}, dweight, {}};
  }
};

}  // namespace

at::Tensor embedding(const at::Tensor& ids, const at::Tensor& weight, const WeightGradient& weight_gradient) {
  check(ids.dim() == 1 && ids.scalar_type() == at::kLong && weight.dim() == 2,
        "embedding: expected int64 ids (N) and weight (V, C), got ", ids.sizes(), " ",
        at::toString(ids.scalar_type()), " and ", weight.sizes());
  cpu::type_of(weight, "embedding");
  check_device("embedding", {&ids, &weight});
  const at::Tensor flat = packed(ids), host = flat.cpu();
  const std::int64_t* id = host.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < host.numel(); ++i)
    check<DataError>(id[i] >= 0 && id[i] < weight.size(0), "token ", i, ": expected an id from 0 to ",
                     weight.size(0) - 1, ", got ", id[i], "; use the tokenizer that belongs to the model");
  return Embedding::apply(flat, packed(weight), weight_gradient);
}

at::Tensor embedding_reference(const at::Tensor& ids, const at::Tensor& weight) {
  return at::index_select(weight, 0, ids);
}

}  // namespace loongforge::ops
