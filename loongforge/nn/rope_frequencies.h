// Frequencies of rotary position embeddings (Su et al. 2021) and their stretching to longer texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace loongforge {

// "llama3" of Llama 3.1: long wavelengths divided by `factor`, short ones kept, those between blended.
struct Llama3Scaling {
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_max_positions = 8192.0;
};

struct RopeOptions {
  double theta = 10000.0;
  // All frequencies divided by this ("linear" scaling); 1: not scaled.
  double linear_factor = 1.0;
  std::optional<Llama3Scaling> llama3;
  // Positions on several axes: the first sections[0] of the D/2 frequencies turn by the first axis, the next
  // sections[1] by the second, … (multimodal rotary embedding; Wang et al. 2024). Empty: one axis.
  std::vector<std::int64_t> sections;
};

// theta^(-2i/D), scaled: (D/2) in the wider of float32 and `compute`, in the arithmetic of transformers.
at::Tensor rope_frequencies(const RopeOptions& options, std::int64_t head_dim, at::ScalarType compute);

// The axis of each frequency, int64 (sum of sections); undefined when there are none.
at::Tensor rope_axes(const std::vector<std::int64_t>& sections);

}  // namespace loongforge
