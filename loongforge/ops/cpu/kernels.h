// The CPU kernels of all operators: raw pointers, no torch, one table of functions for each CPU level.
//
// The sources in cpu/kernels/ are compiled once a level into a namespace of their own. They call no function
// of the standard library that is a template or inline: such a function compiled for AVX-512 could be the one
// copy that the linker keeps, and would then run on every CPU.
#pragma once

#include <cstdint>

namespace loongforge::ops::cpu {

// Storage of one bfloat16 number.
struct Bf16 {
  std::uint16_t bits;
};

enum class Type : int { kFloat, kBf16, kDouble };

// One factor of a product: element (i, k) lies at data[i * stride + k * inner]; one of the strides is 1.
struct Factor {
  const void* data;
  Type type;
  std::int64_t outer_stride;  // along M of a, N of b
  std::int64_t inner_stride;  // along K
};

// c (M, N) = a (M, K) b (N, K)^T, rows of c `ldc` apart. Everything is double, or the sum runs in float.
struct GemmArgs {
  Factor a, b;
  std::int64_t m, n, k;
  void* c;
  Type c_type;
  std::int64_t ldc;
  bool accumulate;
};

struct GemmTile {
  std::int64_t m0, m1, n0, n1;
};

struct RmsNormArgs {
  Type type;
  std::int64_t channels;
  double eps;
  const void *x, *weight;
  void* y;
  void* rstd;                // (N), float or double; forward writes, backward reads
  const void* dy = nullptr;  // backward
  void* dx = nullptr;        // may be null
  void* dweight = nullptr;   // (blocks, C) partial sums, float or double; may be null
  std::int64_t block = 0;    // rows of one partial sum
};

// y = (x - mean) * rstd * weight + bias.
struct LayerNormArgs {
  Type type;
  std::int64_t channels;
  double eps;
  const void *x, *weight, *bias;  // bias: forward
  void* y;
  void *mean, *rstd;         // (N), float or double; forward writes, backward reads
  const void* dy = nullptr;  // backward
  void* dx = nullptr;        // may be null
  // (blocks, C) partial sums, float or double; may be null
  void *dweight = nullptr, *dbias = nullptr;
  std::int64_t block = 0;  // rows of one partial sum
};

struct RopeArgs {
  Type type;
  std::int64_t heads, dim, row_stride;  // row_stride: elements between tokens of x
  const void* x;
  const void *cos, *sin;
  void* y;
  bool backward;  // turns the other way
};

struct SwigluArgs {
  Type type;
  std::int64_t columns, gate_stride, up_stride;
  const void *gate, *up;
  void* y;                   // forward
  const void* dy = nullptr;  // backward
  void *dgate = nullptr, *dup = nullptr;
};

// Softmax and loss of rows of logits (float or double), in place.
struct CrossEntropyArgs {
  bool wide;  // logits, losses, lse and token weights are double
  std::int64_t columns, row_stride;
  void* logits;
  const std::int64_t* targets;  // all within [0, columns)
  const void* token_weights;    // may be null
  void* losses;                 // may be null
  double gradient;              // of the sum
  bool make_gradient;           // logits become gradient * token_weight * (softmax - one hot)
};

struct AdamWArgs {
  Type type;         // of master, grad, m, v: kFloat or kDouble
  Type weight_type;  // of weight
  void* weight;      // may be null or master
  void *master, *m, *v;
  const void* grad;
  double lr, beta1, beta2, eps, weight_decay, correction1, correction2, gradient_scale;
};

// Attention over one packed row of tokens. Strides are elements between tokens; heads lie `dim` apart.
struct AttentionArgs {
  Type type;
  std::int64_t heads, kv_heads, dim, tokens;
  double scale;
  bool causal;  // token i sees the tokens j <= i of its document; otherwise all of it
  const void *q, *k, *v;
  std::int64_t q_stride, k_stride, v_stride;
  void* out;                                          // (N, H, D)
  void* row_stats;                                    // (2, H, N), float or double: maximum of the row's
                                                      // scores, 1 / sum of powers below it
  const void* dout = nullptr;                         // (N, H, D), backward
  void* dq = nullptr;                                 // (N, H, D)
  void *dk = nullptr, *dv = nullptr;                  // (N, Hkv, D), when H == Hkv
  void *dk_partial = nullptr, *dv_partial = nullptr;  // (N, H, D) float or double, otherwise
};

struct AttentionDocument {
  std::int64_t begin, end;     // tokens
  std::int64_t packed_offset;  // of its keys in the packed buffers, in tokens
};

struct Kernels {
  // Products. A tile is independent of all others; `scratch` holds gemm_scratch_bytes.
  std::int64_t (*gemm_scratch_bytes)(const GemmArgs&, const GemmTile&);
  void (*gemm_tile)(const GemmArgs&, const GemmTile&, void* scratch);
  // The largest K of a bf16 result; longer ones need a float result.
  std::int64_t gemm_longest_bf16_sum;
  // Few rows (m <= 8) with both factors contiguous along K: columns [begin, end) of c.
  void (*gemm_few_rows)(const GemmArgs&, std::int64_t begin, std::int64_t end);

  // Rows [begin, end).
  void (*rms_norm_forward)(const RmsNormArgs&, std::int64_t begin, std::int64_t end);
  // Blocks [begin, end) of args.block rows of `rows` in all.
  void (*rms_norm_backward)(const RmsNormArgs&, std::int64_t rows, std::int64_t begin, std::int64_t end);
  void (*layer_norm_forward)(const LayerNormArgs&, std::int64_t begin, std::int64_t end);
  void (*layer_norm_backward)(const LayerNormArgs&, std::int64_t rows, std::int64_t begin, std::int64_t end);
  void (*rope)(const RopeArgs&, std::int64_t begin, std::int64_t end);
  void (*swiglu_forward)(const SwigluArgs&, std::int64_t begin, std::int64_t end);
  void (*swiglu_backward)(const SwigluArgs&, std::int64_t begin, std::int64_t end);
  void (*cross_entropy)(const CrossEntropyArgs&, std::int64_t begin, std::int64_t end);
  // Elements [begin, end).
  void (*adamw)(const AdamWArgs&, std::int64_t begin, std::int64_t end);
  double (*squared_norm)(Type, const void* x, std::int64_t begin, std::int64_t end);
  // y = x, or y += x, elements [begin, end).
  void (*convert)(Type from, const void* x, Type to, void* y, bool add, std::int64_t begin, std::int64_t end);
  // y[i] (+)= sum over g of x[i * group + g] over vectors of `dim` numbers, i in [begin, end).
  void (*sum_groups)(Type to, const void* x, void* y, std::int64_t group, std::int64_t dim,
                     std::int64_t begin, std::int64_t end);

  // Queries of one block; and the tokens that a document takes in the packed buffers.
  std::int64_t attention_block;
  std::int64_t (*attention_packed_tokens)(const AttentionArgs&, std::int64_t length);
  std::int64_t (*attention_packed_dim)(const AttentionArgs&);
  // Keys, transposed, and values of one document and head of the packed buffers (float or double).
  void (*attention_pack)(const AttentionArgs&, const AttentionDocument&, std::int64_t kv_head, void* keys,
                         void* values);
  std::int64_t (*attention_forward_scratch_bytes)(const AttentionArgs&);
  // One head and block of queries.
  void (*attention_forward)(const AttentionArgs&, const AttentionDocument&, std::int64_t head,
                            std::int64_t block, const void* keys, const void* values, void* scratch);
  std::int64_t (*attention_backward_scratch_bytes)(const AttentionArgs&, std::int64_t longest);
  // One head of one document: its dq, and its share of dk and dv.
  void (*attention_backward)(const AttentionArgs&, const AttentionDocument&, std::int64_t head,
                             void* scratch);
};

// The kernels of the level in use (ops/cpu_level.h).
const Kernels& kernels();

}  // namespace loongforge::ops::cpu
