#include "loongforge/ops/cpu/kernels/attention_blocks.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

// One document and head, packed for each of the five products (names: who reads them).
template <typename W>
struct Panels {
  using T = typename W::Sum;
  using Packed = typename W::Packed;
  Packed *q_rows, *dout_rows;           // panels of kTileRows queries: left factors of the scores and of dp
  Packed *k_columns, *v_columns;        // panels of kTileColumns keys: their right factors
  Packed *k_dims, *q_dims, *dout_dims;  // panels of kTileColumns dims: right factors of dq, dk, dv
  T *dq, *dk, *dv;                      // sums: (length, packed dim), (kBlock, packed dim) twice
  T *p, *ds;                            // (kBlock, kBlock)
  T *p_factors, *ds_factors;            // the same as left factors
  T* delta;                             // (length): sum over dims of dout * out
  std::int64_t numbers;

  Panels(const AttentionArgs& args, std::int64_t length, T* base) {
    static_assert(sizeof(Packed) == sizeof(T));
    const std::int64_t dim = args.dim, wide = round_up(dim, kTileColumns<T>);
    const std::int64_t rows = round_up(length, kBlock), steps = steps_of<W>(dim);
    std::int64_t at = 0;
    const auto take = [&](std::int64_t n) {
      T* p = base + at;
      at += n + kLanes<T>;  // packing may write one vector beyond
      return p;
    };
    const auto take_packed = [&](std::int64_t n) { return reinterpret_cast<Packed*>(take(n)); };
    q_rows = take_packed(rows * steps);
    dout_rows = take_packed(rows * steps);
    k_columns = take_packed(rows * steps);
    v_columns = take_packed(rows * steps);
    k_dims = take_packed(steps_of<W>(length) * wide);
    q_dims = take_packed(steps_of<W>(length) * wide);
    dout_dims = take_packed(steps_of<W>(length) * wide);
    dq = take(rows * wide);
    dk = take(kBlock * wide);
    dv = take(kBlock * wide);
    p = take(kBlock * kBlock);
    ds = take(kBlock * kBlock);
    p_factors = take(kBlock * kBlock);
    ds_factors = take(kBlock * kBlock);
    delta = take(rows);
    numbers = at;
  }
};

template <typename S, typename W>
void fill_panels(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t head,
                 const Panels<W>& t) {
  using T = typename W::Sum;
  const std::int64_t length = doc.end - doc.begin, dim = args.dim, kv = head / (args.heads / args.kv_heads);
  const std::int64_t out_stride = args.heads * dim;
  const S* q = static_cast<const S*>(args.q) + doc.begin * args.q_stride + head * dim;
  const S* k = static_cast<const S*>(args.k) + doc.begin * args.k_stride + kv * dim;
  const S* v = static_cast<const S*>(args.v) + doc.begin * args.v_stride + kv * dim;
  const S* dout = static_cast<const S*>(args.dout) + doc.begin * out_stride + head * dim;
  const S* out = static_cast<const S*>(args.out) + doc.begin * out_stride + head * dim;
  W::template pack_inner<kTileRows>(q, args.q_stride, length, dim, t.q_rows);
  W::template pack_inner<kTileRows>(dout, out_stride, length, dim, t.dout_rows);
  W::template pack_inner<kTileColumns<T>>(k, args.k_stride, length, dim, t.k_columns);
  W::template pack_inner<kTileColumns<T>>(v, args.v_stride, length, dim, t.v_columns);
  W::template pack_outer<kTileColumns<T>>(k, args.k_stride, dim, length, t.k_dims);
  W::template pack_outer<kTileColumns<T>>(q, args.q_stride, dim, length, t.q_dims);
  W::template pack_outer<kTileColumns<T>>(dout, out_stride, dim, length, t.dout_dims);
  for (std::int64_t r = 0; r < length; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < dim; ++i)
      sum += static_cast<double>(widen(dout[r * out_stride + i])) *
             static_cast<double>(widen(out[r * out_stride + i]));
    t.delta[r] = static_cast<T>(sum);
  }
}

// p = 2^(scale score - maximum) * inverse and ds = p * (dp - delta), in place; with `diagonal` zero right of
// the diagonal.
template <typename T>
void weights_and_gradients(std::int64_t rows, std::int64_t columns, bool diagonal, T scale, const T* maximum,
                           const T* inverse, const T* delta, T* p, T* ds) {
  for (std::int64_t r = 0; r < rows; ++r) {
    T *prow = p + r * kBlock, *dsrow = ds + r * kBlock;
    const std::int64_t valid = diagonal ? r + 1 : columns;
    for (std::int64_t i = 0; i < valid; i += kLanes<T>) {
      const Vector<T> w = power_of_two(load(prow + i) * scale - maximum[r]) * inverse[r];
      store(prow + i, w);
      store(dsrow + i, w * (load(dsrow + i) - delta[r]));
    }
    if (!diagonal) continue;
    for (std::int64_t i = valid; i < kBlock; ++i) prow[i] = dsrow[i] = 0;
  }
}

// Rows of sums, times `scale`, to rows of `out` that lie `stride` apart.
template <typename T, typename S>
void write_rows(std::int64_t rows, std::int64_t dim, const T* sums, std::int64_t wide, T scale, S* out,
                std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t i = 0;
    for (; i + kLanes<T> <= dim; i += kLanes<T>)
      store(out + r * stride + i, load(sums + r * wide + i) * scale);
    for (; i < dim; ++i) store_one(out + r * stride + i, sums[r * wide + i] * scale);
  }
}

template <typename S, typename W>
void write_key_gradients(const AttentionArgs& args, std::int64_t token, std::int64_t rows, std::int64_t head,
                         const Panels<W>& t, std::int64_t wide) {
  using T = typename W::Sum;
  const std::int64_t stride = args.heads * args.dim, at = token * stride + head * args.dim;
  const T scale = static_cast<T>(args.scale);
  if (args.dk_partial == nullptr) {
    write_rows(rows, args.dim, t.dk, wide, scale, static_cast<S*>(args.dk) + at, stride);
    write_rows(rows, args.dim, t.dv, wide, T(1), static_cast<S*>(args.dv) + at, stride);
  } else {
    write_rows(rows, args.dim, t.dk, wide, scale, static_cast<T*>(args.dk_partial) + at, stride);
    write_rows(rows, args.dim, t.dv, wide, T(1), static_cast<T*>(args.dv_partial) + at, stride);
  }
}

template <typename S>
void backward_of(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t head, void* scratch) {
  using W = typename AttentionWay<S>::type;
  using T = typename W::Sum;
  const std::int64_t length = doc.end - doc.begin, dim = args.dim, wide = round_up(dim, kTileColumns<T>);
  const Panels<W> t(args, length, static_cast<T*>(scratch));
  fill_panels<S>(args, doc, head, t);
  const T* maximum = static_cast<const T*>(args.row_stats) + head * args.tokens + doc.begin;
  const T* inverse = maximum + args.heads * args.tokens;
  const T scale = static_cast<T>(args.scale * kLog2E);
  const std::int64_t steps = steps_of<W>(dim), panel = steps_of<W>(length) * kTileColumns<T>;
  for (std::int64_t k0 = 0; k0 < length; k0 += kBlock) {
    const std::int64_t columns = least(kBlock, length - k0);
    const std::int64_t first = args.causal ? k0 : 0;
    for (std::int64_t q0 = first; q0 < length; q0 += kBlock) {
      const std::int64_t rows = least(kBlock, length - q0), q_dims = q0 / W::kStep * kTileColumns<T>;
      const bool diagonal = args.causal && q0 == k0, added = q0 > first;
      score_block<W>(rows, columns, dim, t.q_rows + q0 * steps, t.k_columns + k0 * steps, diagonal, t.p);
      score_block<W>(rows, columns, dim, t.dout_rows + q0 * steps, t.v_columns + k0 * steps, diagonal, t.ds);
      weights_and_gradients<T>(rows, columns, diagonal, scale, maximum + q0, inverse + q0, t.delta + q0, t.p,
                               t.ds);
      const Weights<W> p = as_factors(W{}, rows, columns, t.p, t.p_factors, true);
      const Weights<W> ds = as_factors(W{}, rows, columns, t.ds, t.ds_factors, true);
      weigh_columns<W>(rows, columns, wide, p.columns, t.dout_dims + q_dims, panel, diagonal, added, t.dv);
      weigh_columns<W>(rows, columns, wide, ds.columns, t.q_dims + q_dims, panel, diagonal, added, t.dk);
      weigh_rows<W>(rows, columns, wide, ds.rows, t.k_dims + k0 / W::kStep * kTileColumns<T>, panel, diagonal,
                    k0 > 0, t.dq + q0 * wide);
    }
    write_key_gradients<S>(args, doc.begin + k0, columns, head, t, wide);
  }
  write_rows(length, dim, t.dq, wide, static_cast<T>(args.scale),
             static_cast<S*>(args.dq) + (doc.begin * args.heads + head) * dim, args.heads * dim);
}

}  // namespace

std::int64_t attention_backward_scratch_bytes(const AttentionArgs& args, std::int64_t longest) {
  // The plain way needs the most.
  if (args.type == Type::kDouble) return Panels<PlainAttention<double>>(args, longest, nullptr).numbers * 8;
  return Panels<PlainAttention<float>>(args, longest, nullptr).numbers * 4;
}

void attention_backward(const AttentionArgs& args, const AttentionDocument& document, std::int64_t head,
                        void* scratch) {
  dispatch(args.type, [&](auto tag) {
    using S = LOONGFORGE_STORAGE(tag);
    backward_of<S>(args, document, head, scratch);
  });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
