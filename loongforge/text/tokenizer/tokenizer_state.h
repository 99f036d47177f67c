// What a Tokenizer is made of.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/text/tokenizer/added_tokens.h"
#include "loongforge/text/tokenizer/bpe.h"
#include "loongforge/text/tokenizer/normalizer.h"
#include "loongforge/text/tokenizer/pre_tokenizer.h"

namespace loongforge {

// The texts of a tokenizer's files by name, in the words of Hugging Face.
using TokenizerFiles = std::map<std::string, std::string>;

inline constexpr const char* kTokenizerJson = "tokenizer.json";
inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";
inline constexpr const char* kSpecialTokensMap = "special_tokens_map.json";
inline constexpr const char* kChatTemplate = "chat_template.jinja";

// What tokenizer.json says, ready for use.
struct TokenizerCore {
  std::string name;                 // stands in messages
  Vocabulary vocabulary;            // every token, added ones included
  std::vector<std::string> tokens;  // by id, as in the file
  std::vector<std::string> bytes;   // by id, what decode writes
  std::vector<bool> special;        // by id
  std::vector<AddedToken> added;
  AddedTokenFinder in_source, in_normalized;
  std::vector<std::unique_ptr<Normalizer>> normalizers;
  std::vector<std::unique_ptr<PreTokenizer>> pre_tokenizers;
  std::unique_ptr<Bpe> model;
};

struct TokenizerState {
  std::shared_ptr<const TokenizerCore> core;
  TokenizerFiles files;
  Json special_tokens = Json::object();  // "bos_token" -> "<s>", ...
  std::optional<std::string> chat_template;
};

// Reads tokenizer.json. `named_special`: tokens that the configuration calls special, which join the added
// tokens where tokenizer.json does not list them there. Throws CheckpointError.
std::shared_ptr<const TokenizerCore> build_tokenizer_core(std::string_view tokenizer_json,
                                                          const std::string& name,
                                                          const std::vector<std::string>& named_special);

// Reads all of `files`; `name` (a directory or file) stands in messages. Throws CheckpointError.
std::shared_ptr<const TokenizerState> build_tokenizer_state(TokenizerFiles files, const std::string& name);

}  // namespace loongforge
