#include "loongforge/ops/cpu/kernels/attention_blocks.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename T>
std::int64_t packed_dim(const AttentionArgs& args) {
  return round_up(args.dim, kTileColumns<T>);
}

// Twice kBlock * kBlock: scores, and weights as factors.
template <typename T>
std::int64_t forward_numbers(const AttentionArgs& args) {
  return kBlock * round_up(args.dim, 2) + 2 * kBlock * kBlock + kBlock * packed_dim<T>(args) + 2 * kBlock +
         4 * kLanes<T>;
}

// Turns one row of scores into weights 2^(scale s - maximum), `valid` of them, then zeros up to `stop` (whole
// vectors); the running maximum, sum and output row follow.
template <typename T>
LOONGFORGE_INLINE void softmax_row(T* s, T scale, std::int64_t valid, std::int64_t stop, bool first,
                                   T* maximum, T* sum, T* out, std::int64_t dim) {
  for (std::int64_t i = valid; i < stop; ++i) s[i] = -static_cast<T>(__builtin_inf());
  Vector<T> most = load(s);
  for (std::int64_t i = kLanes<T>; i < stop; i += kLanes<T>) {
    const Vector<T> v = load(s + i);
    most = v > most ? v : most;
  }
  T best = max_lanes<T>(most) * scale;
  if (!first) {
    if (*maximum >= best) {
      best = *maximum;
    } else {
      const T shrink = power_of_two_one<T>(*maximum - best);
      *sum *= shrink;
      for (std::int64_t i = 0; i < dim; i += kLanes<T>) store(out + i, load(out + i) * shrink);
    }
  }
  *maximum = best;
  Vector<T> total{};
  for (std::int64_t i = 0; i < stop; i += kLanes<T>) {
    const Vector<T> p = power_of_two(load(s + i) * scale - best);
    total += p;
    store(s + i, p);
  }
  *sum = (first ? T(0) : *sum) + sum_lanes<T>(total);
}

template <typename S>
void forward_of(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t head,
                std::int64_t block, const void* packed_keys, const void* packed_values, void* scratch) {
  using W = typename AttentionWay<S>::type;
  using T = typename W::Sum;
  using Packed = typename W::Packed;
  const auto *keys = static_cast<const Packed*>(packed_keys),
             *values = static_cast<const Packed*>(packed_values);
  const std::int64_t length = doc.end - doc.begin, dim = args.dim, wide = packed_dim<T>(args);
  const std::int64_t q0 = block * kBlock, rows = least(kBlock, length - q0);
  Packed* q = static_cast<Packed*>(scratch);
  T* scores = reinterpret_cast<T*>(q + kBlock * steps_of<W>(dim) + kLanes<T>);
  T* factors = scores + kBlock * kBlock;
  T* out = factors + kBlock * kBlock;
  T *maxima = out + kBlock * wide, *sums = maxima + kBlock;

  const S* from = static_cast<const S*>(args.q) + (doc.begin + q0) * args.q_stride + head * dim;
  W::template pack_inner<kTileRows>(from, args.q_stride, rows, dim, q);
  const T scale = static_cast<T>(args.scale * kLog2E);
  const std::int64_t panel = steps_of<W>(length) * kTileColumns<T>;
  const std::int64_t seen = args.causal ? q0 + 1 : length;
  for (std::int64_t k0 = 0; k0 < seen; k0 += kBlock) {
    const bool diagonal = args.causal && k0 == q0;
    const std::int64_t count = least(kBlock, length - k0);
    score_block<W>(rows, count, dim, q, keys + k0 * steps_of<W>(dim), diagonal, scores);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t valid = diagonal ? r + 1 : count;
      const std::int64_t reach = diagonal ? r / kTileRows * kTileRows + kTileRows : count;
      softmax_row<T>(scores + r * kBlock, scale, valid, round_up(reach, kLanes<T>), k0 == 0, maxima + r,
                     sums + r, out + r * wide, wide);
    }
    const Weights<W> weights = as_factors(W{}, rows, count, scores, factors, false);
    weigh_rows<W>(rows, count, wide, weights.rows, values + k0 / W::kStep * kTileColumns<T>, panel, diagonal,
                  k0 > 0, out);
  }

  T* row_maximum = static_cast<T*>(args.row_stats) + head * args.tokens + doc.begin + q0;
  T* row_inverse = row_maximum + args.heads * args.tokens;
  for (std::int64_t r = 0; r < rows; ++r) {
    row_maximum[r] = maxima[r];
    S* to = static_cast<S*>(args.out) + ((doc.begin + q0 + r) * args.heads + head) * dim;
    const T inverse = row_inverse[r] = T(1) / sums[r];
    std::int64_t i = 0;
    for (; i + kLanes<T> <= dim; i += kLanes<T>) store(to + i, load(out + r * wide + i) * inverse);
    for (; i < dim; ++i) store_one(to + i, out[r * wide + i] * inverse);
  }
}

template <typename S>
void pack_of(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t kv_head, void* keys,
             void* values) {
  using W = typename AttentionWay<S>::type;
  constexpr int kColumns = kTileColumns<typename W::Sum>;
  const std::int64_t length = doc.end - doc.begin, dim = args.dim;
  const S* k = static_cast<const S*>(args.k) + doc.begin * args.k_stride + kv_head * dim;
  const S* v = static_cast<const S*>(args.v) + doc.begin * args.v_stride + kv_head * dim;
  W::template pack_inner<kColumns>(k, args.k_stride, length, dim, static_cast<typename W::Packed*>(keys));
  W::template pack_outer<kColumns>(v, args.v_stride, dim, length, static_cast<typename W::Packed*>(values));
}

}  // namespace

std::int64_t attention_packed_tokens(const AttentionArgs& args, std::int64_t length) {
  return round_up(length, args.type == Type::kDouble ? kTileColumns<double> : kTileColumns<float>);
}

std::int64_t attention_packed_dim(const AttentionArgs& args) {
  return args.type == Type::kDouble ? packed_dim<double>(args) : packed_dim<float>(args);
}

void attention_pack(const AttentionArgs& args, const AttentionDocument& document, std::int64_t kv_head,
                    void* keys, void* values) {
  dispatch(args.type, [&](auto tag) {
    using S = LOONGFORGE_STORAGE(tag);
    pack_of<S>(args, document, kv_head, keys, values);
  });
}

std::int64_t attention_forward_scratch_bytes(const AttentionArgs& args) {
  return args.type == Type::kDouble ? forward_numbers<double>(args) * 8 : forward_numbers<float>(args) * 4;
}

void attention_forward(const AttentionArgs& args, const AttentionDocument& document, std::int64_t head,
                       std::int64_t block, const void* keys, const void* values, void* scratch) {
  dispatch(args.type, [&](auto tag) {
    using S = LOONGFORGE_STORAGE(tag);
    forward_of<S>(args, document, head, block, keys, values, scratch);
  });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
