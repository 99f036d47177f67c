#include "loongforge/models/llm/qwen2/model.h"

#include "loongforge/models/llm/qwen2/config.h"

namespace loongforge {

LanguagePart qwen2::build(const Json& config, ParamBuilder& builder, const std::string& where) {
  return build_decoder(builder, read_config(config, where));
}

void register_qwen2(Registry& registry) {
  Card card;
  card.family = "qwen2";
  card.model_types = {"qwen2"};
  card.architectures = {"Qwen2ForCausalLM"};
  card.names = [](const Json&) { return decoder_names(); };
  card.language = qwen2::build;
  registry.add(std::move(card));
}

}  // namespace loongforge
