// Low-rank adapters (Hu et al. 2021, "LoRA"): settings, as PEFT's adapter_config.json names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loongforge {

// W·x + (alpha / rank)·B·(A·dropout(x)); A (rank, in), B (out, rank).
struct LoraOptions {
  // Rank of the adapters.
  std::int64_t rank = 8;
  // Scale: the adapter's output is multiplied by alpha / rank.
  double alpha = 16.0;
  // Share of the adapter's input elements dropped while training.
  double dropout = 0.0;
  // Linears that carry an adapter, by the last part of their Hugging Face name, or "all-linear" (every linear
  // of the blocks, never the head).
  std::vector<std::string> targets = {"q_proj", "v_proj"};

  double scaling() const { return alpha / static_cast<double>(rank); }
};

}  // namespace loongforge
