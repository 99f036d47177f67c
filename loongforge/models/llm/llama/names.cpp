#include "loongforge/models/llm/llama/names.h"

namespace loongforge::llama {

NameMap names() {
  std::vector<std::pair<std::string, std::string>> rules = {
      {"embedding.weight", "model.embed_tokens.weight"},
      {"layers.{}.attention_norm.weight", "model.layers.{}.input_layernorm.weight"},
      {"layers.{}.mlp_norm.weight", "model.layers.{}.post_attention_layernorm.weight"},
      {"norm.weight", "model.norm.weight"},
      {"head.weight", "lm_head.weight"},
  };
  const std::vector<std::pair<std::string, std::string>> linears = {
      {"attention.q", "self_attn.q_proj"}, {"attention.k", "self_attn.k_proj"},
      {"attention.v", "self_attn.v_proj"}, {"attention.o", "self_attn.o_proj"},
      {"mlp.gate", "mlp.gate_proj"},       {"mlp.up", "mlp.up_proj"},
      {"mlp.down", "mlp.down_proj"},
  };
  for (const auto& [ours, file] : linears) {
    for (const char* part : {".weight", ".bias"}) {
      rules.emplace_back("layers.{}." + ours + part, "model.layers.{}." + file + part);
    }
  }
  return NameMap(std::move(rules));
}

}  // namespace loongforge::llama
