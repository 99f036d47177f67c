#include "loongforge/text/tokenizer/gguf_tokenizer.h"

#include <array>
#include <string_view>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// How a family cuts its text, by the name that llama.cpp gives it.
struct Family {
  std::string_view pre;
  const char* pattern;     // null: the GPT-2 pattern of ByteLevel itself
  bool individual_digits;  // every digit is split off first
  bool nfc;
  bool ignore_merges;
};

constexpr std::array kFamilies = {
    Family{"default", nullptr, false, false, false},
    Family{"gpt-2", nullptr, false, false, false},
    Family{"phi-2", nullptr, false, false, false},
    Family{"jais", nullptr, false, false, false},
    Family{"mpt", nullptr, false, true, false},
    Family{"olmo", nullptr, false, true, false},
    Family{"smollm", nullptr, true, false, false},
    Family{"starcoder", nullptr, true, false, false},
    Family{"refact", nullptr, true, false, false},
    Family{"codeshell", nullptr, true, false, false},
    Family{"llama-bpe", kLlama3Pattern, false, false, true},
    Family{"llama3", kLlama3Pattern, false, false, true},
    Family{"llama-v3", kLlama3Pattern, false, false, true},
    Family{"qwen2", kQwen2Pattern, false, true, false},
};

enum TokenType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

const Family& find_family(const std::string& pre, const std::string& name) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.pre == pre) return family;
    known += concat(known.empty() ? "" : ", ", family.pre);
  }
  throw CheckpointError(
      concat(name, ": tokenizer.ggml.pre: '", pre, "' is not supported; expected one of ", known));
}

class Writer {
 public:
  Writer(const Json& metadata, const std::string& name) : metadata_(metadata), name_(name) {}

  TokenizerFiles run() {
    const std::string model = text("tokenizer.ggml.model");
    check<CheckpointError>(model == "gpt2", name_,
                           ": tokenizer.ggml.model: expected gpt2 (byte-level BPE), got '", model,
                           "', which is not supported yet");
    family_ =
        &find_family(metadata_.contains("tokenizer.ggml.pre") ? text("tokenizer.ggml.pre") : "gpt-2", name_);
    read_tokens();
    TokenizerFiles files;
    files[kTokenizerJson] = tokenizer_json();
    Json special = special_tokens();
    files[kSpecialTokensMap] = dump_json_pretty(special);
    special["clean_up_tokenization_spaces"] = false;
    special["model_max_length"] = context_length();
    special["tokenizer_class"] = "PreTrainedTokenizerFast";
    files[kTokenizerConfig] = dump_json_pretty(special);
    if (metadata_.contains("tokenizer.chat_template")) files[kChatTemplate] = text("tokenizer.chat_template");
    return files;
  }

 private:
  const Json& value(const char* key) const {
    const auto found = metadata_.find(key);
    check<CheckpointError>(found != metadata_.end(), name_, ": key ", key,
                           " is missing; expected a GGUF file with a tokenizer");
    return *found;
  }
  std::string text(const char* key) const {
    const Json& v = value(key);
    check<CheckpointError>(v.is_string(), name_, ": ", key, ": expected a string, got ", v.type_name());
    return v.get<std::string>();
  }
  const Json& list(const char* key) const {
    const Json& v = value(key);
    check<CheckpointError>(v.is_array(), name_, ": ", key, ": expected an array, got ", v.type_name());
    return v;
  }
  bool flag(const char* key) const {
    const auto found = metadata_.find(key);
    return found != metadata_.end() && found->is_boolean() && found->get<bool>();
  }

  void read_tokens() {
    for (const Json& token : list("tokenizer.ggml.tokens")) {
      check<CheckpointError>(token.is_string(), name_, ": tokenizer.ggml.tokens: expected strings, got ",
                             token.type_name());
      tokens_.push_back(token.get<std::string>());
    }
    types_.assign(tokens_.size(), kNormal);
    if (!metadata_.contains("tokenizer.ggml.token_type")) return;
    const Json& types = list("tokenizer.ggml.token_type");
    check<CheckpointError>(types.size() == tokens_.size(), name_, ": tokenizer.ggml.token_type: expected ",
                           tokens_.size(), " entries, one a token, got ", types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      check<CheckpointError>(types[i].is_number_integer(), name_,
                             ": tokenizer.ggml.token_type: expected integers");
      types_[i] = types[i].get<int>();
    }
  }

  Json special_tokens() const {
    Json special = Json::object();
    constexpr std::array kKeys = {std::pair{"bos_token", "tokenizer.ggml.bos_token_id"},
                                  std::pair{"eos_token", "tokenizer.ggml.eos_token_id"},
                                  std::pair{"unk_token", "tokenizer.ggml.unknown_token_id"},
                                  std::pair{"pad_token", "tokenizer.ggml.padding_token_id"}};
    for (const auto& [key, source] : kKeys) {
      const auto found = metadata_.find(source);
      if (found == metadata_.end()) continue;
      check<CheckpointError>(found->is_number_integer() && *found >= 0 && *found < tokens_.size(), name_,
                             ": ", source, ": expected an id below ", tokens_.size(), ", got ",
                             dump_json(*found));
      special[key] = tokens_[found->get<std::size_t>()];
    }
    return special;
  }

  std::int64_t context_length() const {
    const auto architecture = metadata_.find("general.architecture");
    if (architecture != metadata_.end() && architecture->is_string()) {
      const auto length = metadata_.find(architecture->get<std::string>() + ".context_length");
      if (length != metadata_.end() && length->is_number_integer()) return length->get<std::int64_t>();
    }
    return std::int64_t{1} << 30;
  }

  Json pre_tokenizer() const {
    Json steps = Json::array();
    if (family_->individual_digits) steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
    if (family_->pattern != nullptr) {
      steps.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", family_->pattern}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
    }
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", family_->pattern == nullptr}});
    if (steps.size() == 1) return steps[0];
    return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
  }

  // Only for callers that ask for special tokens to be added; `encode` here never does.
  Json post_processor() const {
    if (!flag("tokenizer.ggml.add_bos_token") || !metadata_.contains("tokenizer.ggml.bos_token_id"))
      return nullptr;
    const std::string bos = special_tokens()["bos_token"].get<std::string>();
    const Json head = {{"SpecialToken", {{"id", bos}, {"type_id", 0}}}};
    const auto sequence = [](const char* id, int type) {
      return Json{{"Sequence", {{"id", id}, {"type_id", type}}}};
    };
    Json second = head;
    second["SpecialToken"]["type_id"] = 1;
    Json tokens = Json::object();
    tokens[bos] = {{"id", bos},
                   {"ids", Json::array({metadata_["tokenizer.ggml.bos_token_id"]})},
                   {"tokens", Json::array({bos})}};
    return {{"type", "TemplateProcessing"},
            {"single", Json::array({head, sequence("A", 0)})},
            {"pair", Json::array({head, sequence("A", 0), second, sequence("B", 1)})},
            {"special_tokens", std::move(tokens)}};
  }

  Json added_tokens() const {
    Json added = Json::array();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool special = types_[i] == kControl || types_[i] == kUnknown;
      if (!special && types_[i] != kUserDefined) continue;
      added.push_back({{"id", i},
                       {"content", tokens_[i]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", special}});
    }
    return added;
  }

  // Written by hand: an ordered JSON object takes quadratic time for a vocabulary.
  std::string tokenizer_json() const {
    std::string out = "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n";
    out += "  \"added_tokens\": " + dump_json(added_tokens()) + ",\n";
    out += "  \"normalizer\": " + std::string(family_->nfc ? "{\"type\": \"NFC\"}" : "null") + ",\n";
    out += "  \"pre_tokenizer\": " + dump_json(pre_tokenizer()) + ",\n";
    out += "  \"post_processor\": " + dump_json(post_processor()) + ",\n";
    out +=
        "  \"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true, "
        "\"use_regex\": true},\n";
    out += "  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n";
    out +=
        "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": "
        "false,\n";
    out += concat("    \"byte_fallback\": false,\n    \"ignore_merges\": ",
                  family_->ignore_merges ? "true" : "false", ",\n");
    out += "    \"vocab\": {";
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      out += concat(i == 0 ? "\n" : ",\n", "      ", dump_json(Json(tokens_[i])), ": ", i);
    }
    out += "\n    },\n    \"merges\": [";
    bool first = true;
    for (const Json& merge : list("tokenizer.ggml.merges")) {
      const std::string pair = merge.is_string() ? merge.get<std::string>() : "";
      const auto blank = pair.find(' ', 1);
      check<CheckpointError>(blank != std::string::npos, name_,
                             ": tokenizer.ggml.merges: expected \"left right\", got ", dump_json(merge));
      out += concat(first ? "\n" : ",\n", "      [", dump_json(Json(pair.substr(0, blank))), ", ",
                    dump_json(Json(pair.substr(blank + 1))), "]");
      first = false;
    }
    return out + "\n    ]\n  }\n}\n";
  }

  const Json& metadata_;
  const std::string& name_;
  const Family* family_ = nullptr;
  std::vector<std::string> tokens_;
  std::vector<int> types_;
};

}  // namespace

TokenizerFiles gguf_tokenizer_files(const Json& metadata, const std::string& name) {
  return Writer(metadata, name).run();
}

}  // namespace loongforge
