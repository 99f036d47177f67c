// Keys and values of many sequences that are decoded together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <vector>

#include "loongforge/nn/context.h"
#include "loongforge/nn/model.h"

namespace loongforge {

// Holds float32 (float64 for a float64 model) whatever the compute dtype. Each sequence has its own block
// (layers, 2, Hkv, capacity, D), so that sequences come and go at any time and every head's keys lie
// together.
class KvCache final : public AttentionCache {
 public:
  KvCache(const ModelInfo& info, at::ScalarType compute);

  // A new empty sequence for up to `capacity` tokens; returns its number.
  std::int64_t open(std::int64_t capacity);
  void close(std::int64_t sequence);
  // Makes the empty sequence `to` begin with the first `count` tokens of `from`.
  void copy_prefix(std::int64_t from, std::int64_t to, std::int64_t count);

  // Names the sequences of the next forward in the order of its cu_seqlens; end() makes its tokens count.
  void begin(std::vector<std::int64_t> sequences);
  void end();

  std::int64_t length(std::int64_t sequence) const { return blocks_.at(sequence).length; }
  // Memory of one token of one sequence.
  std::int64_t bytes_per_token() const;

  // Throws InternalError when more tokens come than a sequence has room for.
  at::Tensor attend(std::int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const at::Tensor& cu_seqlens, double scale) override;

 private:
  struct Block {
    at::Tensor storage;  // (layers, 2, Hkv, capacity, D)
    std::int64_t capacity = 0, length = 0;
  };
  template <typename T>
  void append(std::int64_t layer, const at::Tensor& k, const at::Tensor& v, const std::int32_t* bounds);
  template <typename T>
  at::Tensor attend_cached(std::int64_t layer, const at::Tensor& q, const std::int32_t* bounds,
                           std::int64_t first, double scale);
  template <typename T>
  T* head_rows(Block& block, std::int64_t layer, std::int64_t kind, std::int64_t head) const;

  std::int64_t layers_, kv_heads_, head_dim_;
  at::ScalarType dtype_;
  std::map<std::int64_t, Block> blocks_;
  std::int64_t next_ = 0;
  std::vector<std::int64_t> active_;      // sequences of the forward in progress
  std::vector<std::int64_t> new_tokens_;  // tokens that each of them gets
};

}  // namespace loongforge
