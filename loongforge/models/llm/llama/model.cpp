#include "loongforge/models/llm/llama/model.h"

#include "loongforge/models/llm/llama/config.h"

namespace loongforge {

LanguagePart llama::build(const Json& config, ParamBuilder& builder, const std::string& where) {
  return build_decoder(builder, read_config(config, where));
}

void register_llama(Registry& registry) {
  Card card;
  card.family = "llama";
  card.model_types = {"llama"};
  card.architectures = {"LlamaForCausalLM"};
  card.names = [](const Json&) { return decoder_names(); };
  card.language = llama::build;
  registry.add(std::move(card));
}

}  // namespace loongforge
