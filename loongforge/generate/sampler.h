// Choosing the next token from logits: greedy or random with temperature, top-k and top-p.
#pragma once

#include <cstdint>
#include <span>

#include "loongforge/base/random.h"

namespace loongforge {

struct SamplingOptions {
  // 0 is greedy: the largest logit, the lowest id of equals. Otherwise logits are divided by it.
  double temperature = 0.0;
  std::int64_t top_k = 0;  // keep only the k likeliest tokens; 0 keeps all
  double top_p = 1.0;      // then keep the smallest set of likeliest tokens whose probabilities reach top_p
  std::uint64_t seed = 0;  // draws are a pure function of (seed, sequence, position)
};

// Draws tokens; holds no state, so the same arguments always give the same token, in any batch.
class Sampler {
 public:
  // Throws ConfigError when a value is out of range.
  explicit Sampler(const SamplingOptions& options);

  // logits: (V) of one position; `sequence`: the prompt's index in the whole job; `position`: the index of
  // the token to be drawn in its sequence. Throws NumericError when no logit is finite or one is NaN.
  std::int32_t sample(std::span<const float> logits, std::uint64_t sequence, std::uint64_t position) const;
  std::int32_t sample(std::span<const double> logits, std::uint64_t sequence, std::uint64_t position) const;

  const SamplingOptions& options() const { return options_; }

 private:
  template <typename T>
  std::int32_t draw(std::span<const T> logits, std::uint64_t sequence, std::uint64_t position) const;
  SamplingOptions options_;
  CounterRandom random_;
};

}  // namespace loongforge
