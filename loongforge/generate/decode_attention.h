// Attention of a few new tokens of one sequence over its cached keys and values.
#pragma once

#include <cstdint>

namespace loongforge {

// One sequence and one key-value head. Row r of the queries is token r / group, query head r % group.
template <typename T>
struct DecodeAttention {
  const T* q;               // query of token t, head g: q + t * q_stride + g * dim
  T* out;                   // the same layout as q, with out_stride
  std::int64_t q_stride;    // elements between two tokens of q
  std::int64_t out_stride;  // elements between two tokens of out
  const T* keys;            // (old + tokens, dim), the new tokens' rows included
  const T* values;          // the same
  std::int64_t old_length;  // cached tokens before the new ones; new token t sees old_length + t + 1 keys
  std::int64_t tokens;      // new tokens
  std::int64_t group;       // query heads that share this key-value head
  std::int64_t dim;         // head dimension
  T scale;                  // factor of the scores
};

// Writes softmax(scale q k^T) v; `scratch` holds 4 * (old_length + tokens) elements. Uses the instruction set
// of ops::cpu_level().
void decode_attention(const DecodeAttention<float>& job, float* scratch);
void decode_attention(const DecodeAttention<double>& job, double* scratch);

}  // namespace loongforge
