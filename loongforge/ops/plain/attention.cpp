#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops::plain {
namespace {

// Scores that exist at a time.
constexpr std::int64_t kScores = 16 << 20;

// Tokens of one document. The queries of the heads that share keys stand below each other, so that a product
// for all of them is one matrix: G heads a group, R queries -> G R rows.
class Document {
 public:
  Document(std::int64_t begin, std::int64_t length, std::int64_t heads, std::int64_t kv_heads, bool causal)
      : begin_(begin), length_(length), kv_heads_(kv_heads), group_(heads / kv_heads), causal_(causal) {}

  std::int64_t length() const { return length_; }
  std::int64_t queries_of_a_block() const {
    return std::clamp<std::int64_t>(kScores / (kv_heads_ * group_ * length_), 1, length_);
  }
  // Keys that some of the queries [first, first + rows) see.
  std::int64_t seen(std::int64_t first, std::int64_t rows) const { return causal_ ? first + rows : length_; }
  // (N, Hkv, D) -> (Hkv, length, D), a view.
  at::Tensor keys(const at::Tensor& x) const { return x.narrow(0, begin_, length_).transpose(0, 1); }
  // (N, H, D) -> (Hkv, G R, D) in `dtype`, a copy.
  at::Tensor queries(const at::Tensor& x, std::int64_t first, std::int64_t rows, at::ScalarType dtype) const {
    return x.narrow(0, begin_ + first, rows)
        .to(dtype)
        .view({rows, kv_heads_, group_, x.size(2)})
        .permute({1, 2, 0, 3})
        .reshape({kv_heads_, group_ * rows, x.size(2)});
  }
  // The way back: (Hkv, G R, D) into the rows of (N, H, D).
  void put_queries(const at::Tensor& from, const at::Tensor& to, std::int64_t first,
                   std::int64_t rows) const {
    to.narrow(0, begin_ + first, rows)
        .view({rows, kv_heads_, group_, to.size(2)})
        .copy_(from.view({kv_heads_, group_, rows, to.size(2)}).permute({2, 0, 1, 3}));
  }
  // The rows' part of lse (H, N) as (Hkv, G, R), a view.
  at::Tensor row_stats(const at::Tensor& lse, std::int64_t first, std::int64_t rows) const {
    return lse.view({kv_heads_, group_, lse.size(1)}).narrow(2, begin_ + first, rows);
  }
  // (Hkv, G R, seen) of queries [first, first + rows) and the keys that they see.
  at::Tensor scores(const at::Tensor& queries, const at::Tensor& keys, std::int64_t first, std::int64_t rows,
                    double scale) const {
    const std::int64_t count = seen(first, rows);
    const at::Tensor s = at::bmm(queries, keys.narrow(1, 0, count).transpose(1, 2)).mul_(scale);
    if (!causal_) return s;
    const at::Tensor future = at::ones({rows, count}, s.options().dtype(at::kBool)).triu(first + 1);
    s.view({kv_heads_, group_, rows, count}).masked_fill_(future, -std::numeric_limits<double>::infinity());
    return s;
  }
  // Scores to probabilities, in place.
  void normalise(const at::Tensor& scores, const at::Tensor& lse, std::int64_t rows) const {
    scores.view({kv_heads_, group_, rows, scores.size(2)}).sub_(lse.unsqueeze(-1)).exp_();
  }

 private:
  std::int64_t begin_, length_, kv_heads_, group_;
  bool causal_;
};

// body(document) for each document with tokens in it.
template <typename F>
void each_document(const at::Tensor& q, const at::Tensor& k, const at::Tensor& cu_seqlens, bool causal,
                   const F& body) {
  const std::int32_t* at = cu_seqlens.const_data_ptr<std::int32_t>();
  for (std::int64_t i = 1; i < cu_seqlens.numel(); ++i)
    if (at[i] > at[i - 1]) body(Document(at[i - 1], at[i] - at[i - 1], q.size(1), k.size(1), causal));
}

// body(first, rows) for each block of a document's queries.
template <typename F>
void each_block(const Document& document, const F& body) {
  const std::int64_t size = document.queries_of_a_block();
  for (std::int64_t first = 0; first < document.length(); first += size)
    body(first, std::min(size, document.length() - first));
}

at::TensorOptions wide_options(const at::Tensor& q) {
  return q.options().dtype(cpu::wide_dtype(q.scalar_type())).requires_grad(false);
}

}  // namespace

AttentionOutput attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& cu_seqlens, double scale, bool causal) {
  const at::NoGradGuard no_grad;
  const at::ScalarType wide = cpu::wide_dtype(q.scalar_type());
  const AttentionOutput result{at::empty(q.sizes(), q.options().requires_grad(false)),
                               at::empty({q.size(1), q.size(0)}, wide_options(q))};
  each_document(q, k, cu_seqlens, causal, [&](const Document& document) {
    const at::Tensor keys = document.keys(k).to(wide), values = document.keys(v).to(wide);
    each_block(document, [&](std::int64_t first, std::int64_t rows) {
      const at::Tensor p = document.scores(document.queries(q, first, rows, wide), keys, first, rows, scale);
      const at::Tensor lse = document.row_stats(result.row_stats, first, rows);
      lse.copy_(p.logsumexp(-1).view(lse.sizes()));
      document.normalise(p, lse, rows);
      document.put_queries(at::bmm(p, values.narrow(1, 0, document.seen(first, rows))), result.out, first,
                           rows);
    });
  });
  return result;
}

// With P the probabilities: dv = P^T dout, dS = P (dout v^T - sum over D of dout out), dq = scale dS k,
// dk = scale dS^T q.
AttentionGradients attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const AttentionOutput& forward, const at::Tensor& dout,
                                      const at::Tensor& cu_seqlens, double scale, bool causal) {
  const at::NoGradGuard no_grad;
  const at::ScalarType wide = cpu::wide_dtype(q.scalar_type());
  const AttentionGradients g{at::empty(q.sizes(), q.options().requires_grad(false)),
                             at::empty(k.sizes(), k.options().requires_grad(false)),
                             at::empty(v.sizes(), v.options().requires_grad(false))};
  each_document(q, k, cu_seqlens, causal, [&](const Document& document) {
    const at::Tensor keys = document.keys(k).to(wide), values = document.keys(v).to(wide);
    const at::Tensor dkeys = at::zeros(keys.sizes(), wide_options(q)),
                     dvalues = at::zeros(keys.sizes(), wide_options(q));
    each_block(document, [&](std::int64_t first, std::int64_t rows) {
      const std::int64_t seen = document.seen(first, rows);
      const at::Tensor queries = document.queries(q, first, rows, wide),
                       dy = document.queries(dout, first, rows, wide);
      const at::Tensor dot = dy.mul(document.queries(forward.out, first, rows, wide)).sum(-1, true);
      const at::Tensor p = document.scores(queries, keys, first, rows, scale);
      document.normalise(p, document.row_stats(forward.row_stats, first, rows), rows);
      dvalues.narrow(1, 0, seen).add_(at::bmm(p.transpose(1, 2), dy));
      const at::Tensor ds =
          at::bmm(dy, values.narrow(1, 0, seen).transpose(1, 2)).sub_(dot).mul_(p).mul_(scale);
      document.put_queries(at::bmm(ds, keys.narrow(1, 0, seen)), g.dq, first, rows);
      dkeys.narrow(1, 0, seen).add_(at::bmm(ds.transpose(1, 2), queries));
    });
    document.keys(g.dk).copy_(dkeys);
    document.keys(g.dv).copy_(dvalues);
  });
  return g;
}

}  // namespace loongforge::ops::plain
