#include "loongforge/ops/attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <vector>

#include "loongforge/ops/autograd_support.h"
#include "loongforge/ops/cpu/scratch.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/device.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops {
namespace {

using cpu::AttentionArgs;
using cpu::AttentionDocument;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check_documents(const at::Tensor& cu_seqlens, std::int64_t tokens) {
  check(cu_seqlens.dim() == 1 && cu_seqlens.scalar_type() == at::kInt && cu_seqlens.is_cpu() &&
            cu_seqlens.is_contiguous(),
        "attention: cu_seqlens: expected a contiguous int32 CPU tensor (S+1)");
  const std::int32_t* at = cu_seqlens.const_data_ptr<std::int32_t>();
  const std::int64_t n = cu_seqlens.numel();
  check<DataError>(n >= 1 && at[0] == 0 && at[n - 1] == tokens, "cu_seqlens: expected to run from 0 to ",
                   tokens, ", the number of tokens, got ", n == 0 ? -1 : at[0], " to ",
                   n == 0 ? -1 : at[n - 1]);
  for (std::int64_t i = 1; i < n; ++i)
    check<DataError>(at[i] >= at[i - 1], "cu_seqlens: entry ", i, ": expected at least ", at[i - 1], ", got ",
                     at[i]);
}

// Documents with tokens in them, and their places in the packed buffers.
std::vector<AttentionDocument> documents(const at::Tensor& cu_seqlens, const AttentionArgs& args,
                                         std::int64_t* packed_tokens) {
  const std::int32_t* at = cu_seqlens.const_data_ptr<std::int32_t>();
  std::vector<AttentionDocument> list;
  *packed_tokens = 0;
  for (std::int64_t i = 1; i < cu_seqlens.numel(); ++i) {
    if (at[i] == at[i - 1]) continue;
    list.push_back({at[i - 1], at[i], *packed_tokens});
    *packed_tokens += cpu::kernels().attention_packed_tokens(args, at[i] - at[i - 1]);
  }
  return list;
}

// Rows (heads, dim) contiguous; the stride of the tokens is free.
at::Tensor with_packed_rows(const at::Tensor& x) {
  const bool as_it_is = (x.size(2) <= 1 || x.stride(2) == 1) && (x.size(1) <= 1 || x.stride(1) == x.size(2));
  return as_it_is ? x : x.contiguous();
}

AttentionArgs arguments(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                        bool causal) {
  AttentionArgs args{};
  args.type = cpu::type_of(q, "attention");
  args.tokens = q.size(0);
  args.heads = q.size(1);
  args.kv_heads = k.size(1);
  args.dim = q.size(2);
  args.scale = scale;
  args.causal = causal;
  args.q = q.data_ptr();
  args.k = k.data_ptr();
  args.v = v.data_ptr();
  args.q_stride = q.stride(0);
  args.k_stride = k.stride(0);
  args.v_stride = v.stride(0);
  return args;
}

struct QueryBlock {
  std::int64_t document, head, block;
};

// Neighbours share keys; the longest rows of keys come first, so that no thread ends with a long one.
std::vector<QueryBlock> query_blocks(const std::vector<AttentionDocument>& docs, const AttentionArgs& args) {
  const std::int64_t size = cpu::kernels().attention_block;
  std::vector<QueryBlock> list;
  for (std::size_t d = 0; d < docs.size(); ++d)
    for (std::int64_t head = 0; head < args.heads; ++head)
      for (std::int64_t b = (docs[d].end - docs[d].begin + size - 1) / size - 1; b >= 0; --b)
        list.push_back({static_cast<std::int64_t>(d), head, b});
  return list;
}

void run_forward(const AttentionArgs& args, const at::Tensor& cu_seqlens, const at::TensorOptions& wide) {
  const cpu::Kernels& kernel = cpu::kernels();
  std::int64_t packed_tokens = 0;
  const std::vector<AttentionDocument> docs = documents(cu_seqlens, args, &packed_tokens);
  const std::int64_t packed_dim = kernel.attention_packed_dim(args);
  const at::Tensor keys = at::empty({args.kv_heads, packed_tokens, args.dim}, wide);
  const at::Tensor values = at::empty({args.kv_heads, packed_tokens, packed_dim}, wide);
  const std::int64_t size = static_cast<std::int64_t>(keys.element_size());
  char *key_base = static_cast<char*>(keys.data_ptr()), *value_base = static_cast<char*>(values.data_ptr());
  const auto key_of = [&](const AttentionDocument& d, std::int64_t kv) {
    return key_base + (kv * packed_tokens + d.packed_offset) * args.dim * size;
  };
  const auto value_of = [&](const AttentionDocument& d, std::int64_t kv) {
    return value_base + (kv * packed_tokens + d.packed_offset) * packed_dim * size;
  };
  cpu::for_items(static_cast<std::int64_t>(docs.size()) * args.kv_heads, [&](std::int64_t i) {
    const AttentionDocument& d = docs[static_cast<std::size_t>(i / args.kv_heads)];
    const std::int64_t kv = i % args.kv_heads;
    kernel.attention_pack(args, d, kv, key_of(d, kv), value_of(d, kv));
  });
  const std::vector<QueryBlock> blocks = query_blocks(docs, args);
  const std::int64_t group = args.heads / args.kv_heads, bytes = kernel.attention_forward_scratch_bytes(args);
  cpu::for_items(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    const QueryBlock& b = blocks[static_cast<std::size_t>(i)];
    const AttentionDocument& d = docs[static_cast<std::size_t>(b.document)];
    kernel.attention_forward(args, d, b.head, b.block, key_of(d, b.head / group), value_of(d, b.head / group),
                             cpu::thread_scratch(bytes));
  });
}

void run_backward(const AttentionArgs& args, const at::Tensor& cu_seqlens) {
  const cpu::Kernels& kernel = cpu::kernels();
  std::int64_t packed_tokens = 0;
  const std::vector<AttentionDocument> docs = documents(cu_seqlens, args, &packed_tokens);
  cpu::for_items(static_cast<std::int64_t>(docs.size()) * args.heads, [&](std::int64_t i) {
    const AttentionDocument& d = docs[static_cast<std::size_t>(i / args.heads)];
    kernel.attention_backward(
        args, d, i % args.heads,
        cpu::thread_scratch(kernel.attention_backward_scratch_bytes(args, d.end - d.begin)));
  });
}

// Shares of the heads of a group, added in their order.
void sum_heads(const AttentionArgs& args, const at::Tensor& partial, const at::Tensor& out) {
  const std::int64_t group = args.heads / args.kv_heads;
  cpu::for_ranges(out.size(0) * out.size(1), args.dim * group * 4, [&](std::int64_t begin, std::int64_t end) {
    cpu::kernels().sum_groups(args.type, partial.data_ptr(), out.data_ptr(), group, args.dim, begin, end);
  });
}

// Its row_stats: each row's largest score and the inverse of its sum, (2, H, N).
plain::AttentionOutput forward_on_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& cu_seqlens, double scale, bool causal) {
  AttentionArgs args = arguments(q, k, v, scale, causal);
  const at::TensorOptions narrow = q.options().requires_grad(false);
  const at::TensorOptions wide = narrow.dtype(cpu::wide_dtype(q.scalar_type()));
  const at::Tensor out = at::empty(q.sizes(), narrow),
                   row_stats = at::empty({2, args.heads, args.tokens}, wide);
  args.out = out.data_ptr();
  args.row_stats = row_stats.data_ptr();
  if (q.numel() > 0) run_forward(args, cu_seqlens, wide);
  return {out, row_stats};
}

plain::AttentionGradients backward_on_cpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                          const plain::AttentionOutput& forward, const at::Tensor& dout,
                                          const at::Tensor& cu_seqlens, double scale, bool causal) {
  AttentionArgs args = arguments(q, k, v, scale, causal);
  const at::Tensor dq = at::empty(q.sizes(), q.options()), dk = at::empty(k.sizes(), k.options()),
                   dv = at::empty(v.sizes(), v.options());
  args.out = forward.out.data_ptr();
  args.row_stats = forward.row_stats.data_ptr();
  args.dout = dout.data_ptr();
  args.dq = dq.data_ptr();
  args.dk = dk.data_ptr();
  args.dv = dv.data_ptr();
  at::Tensor dk_partial, dv_partial;
  if (args.heads != args.kv_heads) {
    dk_partial = at::empty(q.sizes(), forward.row_stats.options());
    dv_partial = at::empty(q.sizes(), forward.row_stats.options());
    args.dk_partial = dk_partial.data_ptr();
    args.dv_partial = dv_partial.data_ptr();
  }
  if (q.numel() > 0) run_backward(args, cu_seqlens);
  if (dk_partial.defined()) {
    sum_heads(args, dk_partial, dk);
    sum_heads(args, dv_partial, dv);
  }
  return {dq, dk, dv};
}

struct Attention : torch::autograd::Function<Attention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q_in, const at::Tensor& k_in,
                            const at::Tensor& v_in, const at::Tensor& cu_seqlens, double scale, bool causal) {
    const at::Tensor q = with_packed_rows(q_in), k = with_packed_rows(k_in), v = with_packed_rows(v_in);
    const auto forward_of = q.is_cuda() ? plain::attention_forward : forward_on_cpu;
    const plain::AttentionOutput result = forward_of(q, k, v, cu_seqlens, scale, causal);
    context->save_for_backward({q, k, v, result.out, result.row_stats, cu_seqlens});
    context->saved_data["scale"] = scale;
    context->saved_data["causal"] = causal;
    return result.out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    refuse_double_backward("attention");
    const variable_list saved = context->get_saved_variables();
    const auto backward_of = saved[0].is_cuda() ? plain::attention_backward : backward_on_cpu;
    const plain::AttentionGradients g =
        backward_of(saved[0], saved[1], saved[2], {saved[3], saved[4]}, packed(grads[0]), saved[5],
                    context->saved_data["scale"].toDouble(), context->saved_data["causal"].toBool());
    return {g.dq, g.dk, g.dv, {}, {}, {}};
  }
};

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& cu_seqlens, double scale, AttentionMask mask) {
  check(q.dim() == 3 && k.dim() == 3 && k.sizes() == v.sizes() && k.size(0) == q.size(0) &&
            k.size(2) == q.size(2) && k.size(1) > 0 && q.size(1) > 0 && q.size(1) % k.size(1) == 0 &&
            q.scalar_type() == k.scalar_type() && q.scalar_type() == v.scalar_type(),
        "attention: expected q (N, H, D), k and v (N, Hkv, D) of one dtype, Hkv dividing H, got ", q.sizes(),
        ", ", k.sizes(), ", ", v.sizes());
  check_device("attention", {&q, &k, &v});
  check_documents(cu_seqlens, q.size(0));
  return Attention::apply(q, k, v, cu_seqlens, scale, mask == AttentionMask::kCausal);
}

at::Tensor attention_reference(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& cu_seqlens, double scale, AttentionMask mask) {
  check_documents(cu_seqlens, q.size(0));
  const std::int32_t* at = cu_seqlens.const_data_ptr<std::int32_t>();
  const at::ScalarType wide = cpu::wide_dtype(q.scalar_type());
  const std::int64_t group = q.size(1) / k.size(1);
  std::vector<at::Tensor> parts;
  for (std::int64_t i = 1; i < cu_seqlens.numel(); ++i) {
    const std::int64_t begin = at[i - 1], length = at[i] - at[i - 1];
    if (length == 0) continue;
    const auto part = [&](const at::Tensor& x, std::int64_t repeats) {
      return x.narrow(0, begin, length).to(wide).repeat_interleave(repeats, 1).transpose(0, 1);
    };
    at::Tensor scores = at::matmul(part(q, 1), part(k, group).transpose(1, 2)).mul(scale);
    if (mask == AttentionMask::kCausal) {
      const at::Tensor future = at::ones({length, length}, q.options().dtype(at::kBool)).triu(1);
      scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
    }
    parts.push_back(at::matmul(at::softmax(scores, -1), part(v, group)).transpose(0, 1));
  }
  if (parts.empty()) return q.mul(k.sum()).mul(v.sum());  // no token: only the shape and the graph matter
  return at::cat(parts, 0).to(q.scalar_type());
}

}  // namespace loongforge::ops
