#include "loongforge/generate/generator.h"

#include <algorithm>
#include <utility>

#include "loongforge/base/error.h"
#include "loongforge/generate/decode_loop.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

void check_options(const GenerateOptions& options) {
  check<ConfigError>(options.max_new_tokens >= 1, "max_new_tokens: expected 1 or more, got ",
                     options.max_new_tokens);
  check<ConfigError>(options.max_sequences >= 1, "max_sequences: expected 1 or more, got ",
                     options.max_sequences);
  check<ConfigError>(options.max_length >= 0, "max_length: expected 0 (no limit) or more, got ",
                     options.max_length);
}

// Appends the ids of `value`: a number, a list of numbers, or null.
void add_ids(const Json& value, const std::string& where, std::vector<std::int32_t>& ids) {
  if (value.is_null()) return;
  const Json list = value.is_array() ? value : Json::array({value});
  for (const Json& id : list) {
    check<CheckpointError>(id.is_number_integer() && id >= 0, where,
                           ": eos_token_id: expected a token id or a list of them, got ", dump_json(id));
    ids.push_back(id.get<std::int32_t>());
  }
}

}  // namespace

Generator::Generator(const Model& model, const Tokenizer& tokenizer, GenerateOptions options)
    : model_(model), tokenizer_(tokenizer), options_(std::move(options)) {
  check_options(options_);
}

std::vector<Generation> Generator::generate(const std::vector<std::vector<std::int32_t>>& prompts,
                                            const TokenCallback& on_token,
                                            const FinishedCallback& on_finished) {
  std::vector<Prompt> plain;
  for (const auto& ids : prompts) plain.push_back({ids, {}});
  return generate_prompts(plain, on_token, on_finished);
}

std::vector<Generation> Generator::generate_prompts(const std::vector<Prompt>& prompts,
                                                    const TokenCallback& on_token,
                                                    const FinishedCallback& on_finished) {
  return DecodeLoop(model_, tokenizer_, options_, prompts, on_token, on_finished).run();
}

std::vector<std::int32_t> stop_ids_of(const std::filesystem::path& model_dir, const Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  for (const char* name : {"generation_config.json", "config.json"}) {
    const fs::path file = model_dir / name;
    if (!ids.empty() || !fs::exists(file)) continue;
    const Json config = read_json<CheckpointError>(file);
    if (config.is_object() && config.contains("eos_token_id"))
      add_ids(config["eos_token_id"], file.string(), ids);
  }
  if (const auto eos = tokenizer.eos_id()) ids.push_back(*eos);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace loongforge
