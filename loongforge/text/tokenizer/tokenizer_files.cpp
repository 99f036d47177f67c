#include <array>

#include "loongforge/base/error.h"
#include "loongforge/formats/gguf.h"
#include "loongforge/text/tokenizer/gguf_tokenizer.h"
#include "loongforge/text/tokenizer/tokenizer.h"
#include "loongforge/text/tokenizer/tokenizer_state.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

constexpr std::array kSpecialKeys = {"bos_token", "eos_token", "unk_token", "sep_token",
                                     "pad_token", "cls_token", "mask_token"};

// A token is written as a string or as {"content": ...}.
std::optional<std::string> token_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("content") && value["content"].is_string()) {
    return value["content"].get<std::string>();
  }
  return std::nullopt;
}

Json read_object(const TokenizerFiles& files, const char* file, const std::string& name) {
  const auto found = files.find(file);
  if (found == files.end()) return Json::object();
  const std::string where = name + "/" + file;
  Json value = parse_json<CheckpointError>(found->second, where);
  check<CheckpointError>(value.is_object(), where,
                         ": expected an object; take the file from its source again");
  return value;
}

// tokenizer_config.json names one template, or a list of them of which "default" is meant.
std::optional<std::string> template_of(const Json& config, const std::string& name) {
  const auto found = config.find("chat_template");
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array()) {
    for (const Json& entry : *found) {
      if (!entry.is_object() || !entry.contains("name") || entry["name"] != "default") continue;
      if (const auto source = entry.find("template"); source != entry.end() && source->is_string()) {
        return source->get<std::string>();
      }
    }
  }
  throw CheckpointError(concat(name, "/", kTokenizerConfig,
                               ": chat_template: expected a string, or a list with one ",
                               "named 'default'; mend the file"));
}

}  // namespace

std::shared_ptr<const TokenizerState> build_tokenizer_state(TokenizerFiles files, const std::string& name) {
  auto state = std::make_shared<TokenizerState>();
  const Json config = read_object(files, kTokenizerConfig, name);
  const Json map = read_object(files, kSpecialTokensMap, name);
  std::vector<std::string> named;
  for (const char* key : kSpecialKeys) {
    for (const Json* source : {&config, &map}) {
      const auto found = source->find(key);
      if (found == source->end() || state->special_tokens.contains(key)) continue;
      const auto token = token_text(*found);
      if (!token || token->empty()) continue;
      state->special_tokens[key] = *token;
      named.push_back(*token);
    }
  }
  const auto main_file = files.find(kTokenizerJson);
  check<CheckpointError>(main_file != files.end(), name, ": ", kTokenizerJson,
                         " is missing; give a tokenizer's directory");
  state->core = build_tokenizer_core(main_file->second, name + "/" + kTokenizerJson, named);
  if (const auto file = files.find(kChatTemplate); file != files.end()) {
    check<CheckpointError>(find_invalid_utf8(file->second) == std::string_view::npos, name, "/",
                           kChatTemplate, ": not UTF-8; take the file from its source again");
    state->chat_template = file->second;
  } else {
    state->chat_template = template_of(config, name);
  }
  state->files = std::move(files);
  return state;
}

Tokenizer Tokenizer::load(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    TokenizerFiles files;
    for (const char* file : {kTokenizerJson, kTokenizerConfig, kSpecialTokensMap, kChatTemplate}) {
      if (fs::exists(path / file, ignored)) files[file] = read_file<CheckpointError>(path / file);
    }
    return Tokenizer(build_tokenizer_state(std::move(files), path.string()));
  }
  if (path.extension() == ".gguf") return from_gguf(GgufFile(path));
  return from_json(read_file<CheckpointError>(path), path.string());
}

Tokenizer Tokenizer::from_json(std::string_view tokenizer_json, const std::string& name) {
  auto state = std::make_shared<TokenizerState>();
  state->core = build_tokenizer_core(tokenizer_json, name, {});
  state->files[kTokenizerJson] = std::string(tokenizer_json);
  return Tokenizer(std::move(state));
}

Tokenizer Tokenizer::from_gguf(const GgufFile& file) {
  return Tokenizer(build_tokenizer_state(gguf_tokenizer_files(file.metadata(), file.path().string()),
                                         file.path().string()));
}

void Tokenizer::save(const fs::path& dir) const {
  make_directories(dir);
  TokenizerFiles files = state_->files;
  if (!files.contains(kTokenizerConfig)) {
    Json config = state_->special_tokens;
    config["clean_up_tokenization_spaces"] = false;
    config["tokenizer_class"] = "PreTrainedTokenizerFast";
    files[kTokenizerConfig] = dump_json_pretty(config);
  }
  if (!files.contains(kSpecialTokensMap)) files[kSpecialTokensMap] = dump_json_pretty(state_->special_tokens);
  for (const auto& [name, text] : files) write_file_atomic(dir / name, text);
}

Tokenizer Tokenizer::with_chat_template(std::string source) const {
  auto state = std::make_shared<TokenizerState>(*state_);
  state->files[kChatTemplate] = source;
  state->chat_template = std::move(source);
  return Tokenizer(std::move(state));
}

Tokenizer Tokenizer::with_added_tokens(const std::vector<std::string>& tokens) const {
  TokenizerFiles files = state_->files;
  const std::string& name = state_->core->name;
  Json json = parse_json<CheckpointError>(files.at(kTokenizerJson), name);
  Json& added = json["added_tokens"];
  if (!added.is_array()) added = Json::array();
  std::int32_t next = vocab_size();
  for (const std::string& token : tokens) {
    if (id(token)) continue;
    added.push_back({{"id", next++},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  if (next == vocab_size()) return *this;
  files[kTokenizerJson] = dump_json_pretty(json);
  return Tokenizer(build_tokenizer_state(std::move(files), name));
}

}  // namespace loongforge
