#include "loongforge/ops/cpu/kernels/attention_blocks.h"

namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE {
namespace {

template <typename T>
std::int64_t packed_dim(const AttentionArgs& args) {
  return round_up(args.dim, kTileColumns<T>);
}

template <typename T>
std::int64_t forward_numbers(const AttentionArgs& args) {
  return kBlock * args.dim + kBlock * kBlock + kBlock * packed_dim<T>(args) + 2 * kBlock + 4 * kLanes<T>;
}

// Turns one row of scores into weights 2^(s - maximum), `valid` of them, then zeros up to `stop` (whole
// vectors); the running maximum, sum and output row follow.
template <typename T>
LOONGFORGE_INLINE void softmax_row(T* s, std::int64_t valid, std::int64_t stop, bool first, T* maximum,
                                   T* sum, T* out, std::int64_t dim) {
  for (std::int64_t i = valid; i < stop; ++i) s[i] = -static_cast<T>(__builtin_inf());
  Vector<T> most = load(s);
  for (std::int64_t i = kLanes<T>; i < stop; i += kLanes<T>) {
    const Vector<T> v = load(s + i);
    most = v > most ? v : most;
  }
  T best = max_lanes<T>(most);
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
    const Vector<T> p = power_of_two(load(s + i) - best);
    total += p;
    store(s + i, p);
  }
  *sum = (first ? T(0) : *sum) + sum_lanes<T>(total);
}

template <typename T, typename S>
void forward_of(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t head,
                std::int64_t block, const T* keys, const T* values, T* scratch) {
  const std::int64_t length = doc.end - doc.begin, dim = args.dim, wide = packed_dim<T>(args);
  const std::int64_t q0 = block * kBlock, rows = least(kBlock, length - q0);
  T* q = scratch;
  T* scores = q + kBlock * dim + kLanes<T>;
  T* out = scores + kBlock * kBlock;
  T *maxima = out + kBlock * wide, *sums = maxima + kBlock;

  const Factor factor{static_cast<const S*>(args.q) + doc.begin * args.q_stride + head * dim, args.type,
                      args.q_stride, 1};
  pack<kTileRows>(factor, q0, q0 + rows, 0, dim, q);
  const T scale = static_cast<T>(args.scale * kLog2E);
  for (std::int64_t i = 0; i < round_up(rows, kTileRows) * dim; ++i) q[i] *= scale;

  for (std::int64_t k0 = 0; k0 <= q0; k0 += kBlock) {
    const bool diagonal = k0 == q0;
    const std::int64_t count = least(kBlock, length - k0);
    score_block<T>(rows, count, dim, q, keys + k0 * dim, diagonal, scores);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t valid = diagonal ? r + 1 : count;
      const std::int64_t reach = diagonal ? r / kTileRows * kTileRows + kTileRows : count;
      softmax_row<T>(scores + r * kBlock, valid, round_up(reach, kLanes<T>), k0 == 0, maxima + r, sums + r,
                     out + r * wide, wide);
    }
    weigh_rows<T>(rows, count, wide, scores, values + k0 * kTileColumns<T>, length * kTileColumns<T>,
                  diagonal, k0 > 0, out);
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

template <typename T, typename S>
void pack_of(const AttentionArgs& args, const AttentionDocument& doc, std::int64_t kv_head, T* keys,
             T* values) {
  const std::int64_t length = doc.end - doc.begin, dim = args.dim;
  const Factor k{static_cast<const S*>(args.k) + doc.begin * args.k_stride + kv_head * dim, args.type,
                 args.k_stride, 1};
  pack<kTileColumns<T>>(k, 0, length, 0, dim, keys);
  const Factor v{static_cast<const S*>(args.v) + doc.begin * args.v_stride + kv_head * dim, args.type, 1,
                 args.v_stride};
  pack_typed_outer<kTileColumns<T>, T, S>(v, dim, length, values);
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
    pack_of<Wide<S>, S>(args, document, kv_head, static_cast<Wide<S>*>(keys), static_cast<Wide<S>*>(values));
  });
}

std::int64_t attention_forward_scratch_bytes(const AttentionArgs& args) {
  return args.type == Type::kDouble ? forward_numbers<double>(args) * 8 : forward_numbers<float>(args) * 4;
}

void attention_forward(const AttentionArgs& args, const AttentionDocument& document, std::int64_t head,
                       std::int64_t block, const void* keys, const void* values, void* scratch) {
  dispatch(args.type, [&](auto tag) {
    using S = LOONGFORGE_STORAGE(tag);
    using T = Wide<S>;
    forward_of<T, S>(args, document, head, block, static_cast<const T*>(keys), static_cast<const T*>(values),
                     static_cast<T*>(scratch));
  });
}

}  // namespace loongforge::ops::cpu::LOONGFORGE_LEVEL_NAMESPACE
