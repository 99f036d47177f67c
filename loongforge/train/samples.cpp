#include "loongforge/train/samples.h"

#include "loongforge/base/files.h"
#include "loongforge/generate/generator.h"

namespace loongforge {
namespace {

std::vector<std::int32_t> stop_ids(const RunConfig& config, const Tokenizer& tokenizer) {
  const std::string& folder = config.model.composed() ? config.model.language.path : config.model.path;
  if (!folder.empty()) return stop_ids_of(folder, tokenizer);
  std::vector<std::int32_t> ids;
  if (const auto eos = tokenizer.eos_id()) ids.push_back(*eos);
  return ids;
}

std::vector<std::int32_t> prompt_ids(const RunParts& parts, const std::string& prompt) {
  if (!parts.chat_template) return parts.tokenizer->encode(prompt);
  const Json messages = Json::array({{{"role", "user"}, {"content", prompt}}});
  return chat_prompt(*parts.chat_template, *parts.tokenizer, messages);
}

}  // namespace

std::vector<Json> generate_samples(const RunConfig& config, const RunParts& parts, std::int64_t step,
                                   const std::string& when) {
  std::vector<Json> samples;
  if (config.sample.prompts.empty()) return samples;
  GenerateOptions options;
  options.max_new_tokens = config.sample.max_new_tokens;
  options.stop_ids = stop_ids(config, *parts.tokenizer);
  Generator generator(*parts.model, *parts.tokenizer, options);
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::string& prompt : config.sample.prompts) prompts.push_back(prompt_ids(parts, prompt));
  const std::vector<Generation> answers = generator.generate(prompts);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    samples.push_back({{"step", step},
                       {"when", when},
                       {"prompt", config.sample.prompts[i]},
                       {"text", answers[i].text},
                       {"tokens", answers[i].ids.size()},
                       {"finish", answers[i].finish}});
  }
  return samples;
}

}  // namespace loongforge
