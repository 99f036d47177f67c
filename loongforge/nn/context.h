// What a forward pass carries to every layer, so that no layer asks a global.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "loongforge/nn/grad_sink.h"
#include "loongforge/ops/rope.h"

namespace loongforge {

// Keys of the counter-based random draws of one micro-batch.
struct RandomKeys {
  std::uint64_t seed = 0;
  // Optimizer step.
  std::uint64_t step = 0;
  // Global index, within the step, of the micro-batch's first token.
  std::uint64_t token_offset = 0;
};

// Which parts of the model are computed again in backward instead of keeping their activations.
struct RecomputePolicy {
  enum class Mode { kNone, kLayer };
  Mode mode = Mode::kNone;
};

// Keys and values of earlier tokens, kept by text generation.
class AttentionCache {
 public:
  virtual ~AttentionCache() = default;
  // Appends k, v (N, Hkv, D) of `layer` and returns the attention (N, H, D) of q (N, H, D) over all keys that
  // each token may see; cu_seqlens (S+1) cuts the N new tokens into sequences, as in Context.
  virtual at::Tensor attend(std::int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& cu_seqlens, double scale) = 0;
};

// Tokens are packed: N tokens in S documents.
struct Context {
  // int32 on the CPU (S+1): document s is the tokens [cu_seqlens[s], cu_seqlens[s+1]).
  at::Tensor cu_seqlens;
  // int64 (N): restarts at 0 in each document (or goes on where a cache ended); (3, N) for models whose
  // tokens stand on axes of time, height and width.
  at::Tensor position_ids;
  // Receives gradients; null: parameters get none.
  GradSink* grads = nullptr;
  // Dropout acts only while training.
  bool training = false;
  RandomKeys random;
  RecomputePolicy recompute;
  // Null: attention over the given tokens only.
  AttentionCache* cache = nullptr;
  // Of this forward pass: made by the first layer that needs them, shared by the others (Model::hidden
  // renews).
  std::shared_ptr<ops::RopeTables> rope = std::make_shared<ops::RopeTables>();
};

// What a layer hands to an operator: the weight (cut off from autograd where nobody takes gradients) and
// where its gradient goes.
at::Tensor weight_of(const Context& context, const ParamRef& param);
ops::WeightGradient gradient_of(const Context& context, const ParamRef& param);

// Context of `length` tokens of one document at positions 0, 1, ….
Context single_document(std::int64_t length);
// Positions (N) that restart at each document of cu_seqlens (S+1).
at::Tensor positions_of(const at::Tensor& cu_seqlens);

}  // namespace loongforge
