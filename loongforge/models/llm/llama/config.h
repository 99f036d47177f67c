// Sizes of a Llama model, read from Hugging Face's config.json.
#pragma once

#include <string>

#include "loongforge/base/json.h"
#include "loongforge/nn/rope_frequencies.h"

namespace loongforge::llama {

struct LlamaConfig {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t max_positions = 0;
  double norm_eps = 0;
  double init_std = 0;
  bool tied = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  RopeOptions rope;
};

// Throws CheckpointError naming `where` and the key that is missing, impossible or not supported.
LlamaConfig read_config(const Json& config, const std::string& where);

}  // namespace loongforge::llama
