#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"
#include "loongforge/text/tokenizer/json_access.h"
#include "loongforge/text/tokenizer/tokenizer_state.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

using PlainJson = nlohmann::json;

// Rows of an embedding are never more; a larger id is a damaged file, not a reason to take gigabytes.
constexpr std::int64_t kHighestId = (std::int64_t{1} << 24) - 1;
constexpr int kMostDepth = 64;

PlainJson parse(std::string_view text, const std::string& name) {
  const auto limit_depth = [&](int depth, PlainJson::parse_event_t, PlainJson&) {
    check<CheckpointError>(depth <= kMostDepth, name, ": nested deeper than ", kMostDepth,
                           " levels; expected a tokenizer.json");
    return true;
  };
  try {
    return PlainJson::parse(text, limit_depth);
  } catch (const PlainJson::parse_error& e) {
    throw CheckpointError(
        concat(name, ": not valid JSON at byte ", e.byte, "; take the file from its source again"));
  }
}

std::int32_t checked_id(const PlainJson& value, const std::string& token, const std::string& name) {
  const bool whole = value.is_number_integer();
  const std::int64_t id = whole ? value.get<std::int64_t>() : -1;
  check<CheckpointError>(whole && id >= 0 && id <= kHighestId, name, ": token '", token,
                         "': expected an id from 0 to ", kHighestId, ", got ",
                         value.dump(-1, ' ', false, PlainJson::error_handler_t::replace),
                         "; take the file from its source again");
  return static_cast<std::int32_t>(id);
}

// What this reader does not know must not pass in silence.
void refuse_unsupported(const PlainJson& root, const PlainJson& model, const std::string& name) {
  const std::string type = model.contains("type") ? json_string(model, "type", name) : "BPE";
  check<CheckpointError>(type == "BPE", name, ": tokenizer kind '", type,
                         "' is not supported yet; expected byte-level BPE");
  check<CheckpointError>(
      !json_bool(model, "byte_fallback", false, name), name,
      ": model.byte_fallback (SentencePiece BPE) is not supported yet; expected byte-level BPE");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    check<CheckpointError>(json_optional_string(model, key, name).empty(), name, ": model.", key,
                           " is not supported yet; expected byte-level BPE without it");
  }
  const auto dropout = model.find("dropout");
  check<CheckpointError>(
      dropout == model.end() || dropout->is_null() || (dropout->is_number() && *dropout == 0), name,
      ": model.dropout is not supported: ids would be random; set it to null");
  const auto decoder = root.find("decoder");
  check<CheckpointError>(decoder != root.end() && json_optional_string(*decoder, "type", name) == "ByteLevel",
                         name, ": decoder: expected ByteLevel; only byte-level BPE is supported yet");
}

std::vector<std::pair<std::string, std::string>> read_merges(const PlainJson& model,
                                                             const std::string& name) {
  std::vector<std::pair<std::string, std::string>> merges;
  const PlainJson& list = json_array(model, "merges", name);
  merges.reserve(list.size());
  for (const PlainJson& entry : list) {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
      merges.emplace_back(entry[0].get<std::string>(), entry[1].get<std::string>());
      continue;
    }
    const std::string text = entry.is_string() ? entry.get<std::string>() : "";
    const auto blank = text.find(' ');
    check<CheckpointError>(blank != std::string::npos && text.find(' ', blank + 1) == std::string::npos, name,
                           ": model.merges: entry ", merges.size(),
                           ": expected \"left right\" or [left, right], got ",
                           entry.dump(-1, ' ', false, PlainJson::error_handler_t::replace),
                           "; take the file from its source again");
    merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
  }
  return merges;
}

Vocabulary read_vocabulary(const PlainJson& model, const std::string& name) {
  const PlainJson& object = json_member(model, "vocab", name);
  check<CheckpointError>(object.is_object() && !object.empty(), name,
                         ": model.vocab: expected an object of tokens; take the file from its source again");
  Vocabulary vocabulary;
  vocabulary.reserve(object.size());
  for (const auto& [token, id] : object.items()) vocabulary.emplace(token, checked_id(id, token, name));
  return vocabulary;
}

BpeOptions read_options(const PlainJson& model, const Vocabulary& vocabulary, const std::string& name) {
  BpeOptions options;
  options.ignore_merges = json_bool(model, "ignore_merges", false, name);
  options.fuse_unk = json_bool(model, "fuse_unk", false, name);
  const std::string unk = json_optional_string(model, "unk_token", name);
  if (unk.empty()) return options;
  const auto found = vocabulary.find(unk);
  check<CheckpointError>(found != vocabulary.end(), name, ": model.unk_token '", unk,
                         "' is not in the vocabulary; mend one of them");
  options.unk = found->second;
  return options;
}

AddedToken read_added(const PlainJson& entry, const std::string& name) {
  AddedToken token;
  token.content = json_string(entry, "content", name);
  token.id = checked_id(json_member(entry, "id", name), token.content, name);
  token.special = json_bool(entry, "special", false, name);
  token.normalized = json_bool(entry, "normalized", !token.special, name);
  token.single_word = json_bool(entry, "single_word", false, name);
  token.lstrip = json_bool(entry, "lstrip", false, name);
  token.rstrip = json_bool(entry, "rstrip", false, name);
  return token;
}

// The library `tokenizers` numbers added tokens itself; a file whose ids say otherwise would give other ids
// there than here.
void add_tokens(TokenizerCore& core, const PlainJson& root) {
  const auto list = root.find("added_tokens");
  if (list == root.end() || list->is_null()) return;
  check<CheckpointError>(list->is_array(), core.name, ": added_tokens: expected an array; mend the file");
  std::vector<AddedToken> tokens;
  for (const PlainJson& entry : *list) tokens.push_back(read_added(entry, core.name));
  std::stable_sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  auto next = static_cast<std::int32_t>(core.vocabulary.size());
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    const auto known = core.vocabulary.find(token.content);
    const std::int32_t expected = known == core.vocabulary.end() ? next : known->second;
    check<CheckpointError>(token.id == expected, core.name, ": added token '", token.content,
                           "': expected id ", expected, " (the vocabulary's, or the next free one), got ",
                           token.id, "; mend the file");
    if (known == core.vocabulary.end()) core.vocabulary.emplace(token.content, next++);
    core.added.push_back(std::move(token));
  }
}

void add_named_special(TokenizerCore& core, const std::vector<std::string>& names) {
  for (const std::string& content : names) {
    const auto same = [&](const AddedToken& token) { return token.content == content; };
    const auto listed = std::find_if(core.added.begin(), core.added.end(), same);
    if (listed != core.added.end()) {
      listed->special = true;
      continue;
    }
    const auto known = core.vocabulary.find(content);
    check<CheckpointError>(known != core.vocabulary.end(), core.name, ": special token '", content,
                           "' of the configuration is not in tokenizer.json; add it to added_tokens there");
    AddedToken token;
    token.id = known->second;
    token.content = content;
    token.normalized = false;
    token.special = true;
    core.added.push_back(std::move(token));
  }
}

void fill_tables(TokenizerCore& core) {
  std::int32_t highest = -1;
  for (const auto& [token, id] : core.vocabulary) highest = std::max(highest, id);
  const auto rows = static_cast<std::size_t>(highest + 1);
  core.tokens.resize(rows);
  core.bytes.resize(rows);
  core.special.assign(rows, false);
  for (const auto& [token, id] : core.vocabulary) {
    const auto i = static_cast<std::size_t>(id);
    core.tokens[i] = token;
    core.bytes[i] = bytes_of_token(token).value_or(token);
  }
  for (const AddedToken& token : core.added) {
    const auto i = static_cast<std::size_t>(token.id);
    core.special[i] = core.special[i] || token.special;
    if (!token.normalized) {
      core.in_source.add(token.content, token);
      continue;
    }
    AlignedText content(token.content, 0);
    for (const auto& step : core.normalizers) step->apply(content);
    core.in_normalized.add(content.text(), token);
    // The library `tokenizers` shows such a token in its normalized form, too.
    core.tokens[i] = std::string(content.text());
    core.bytes[i] = bytes_of_token(core.tokens[i]).value_or(core.tokens[i]);
  }
}

std::shared_ptr<const TokenizerCore> build(std::string_view tokenizer_json, const std::string& name,
                                           const std::vector<std::string>& named_special) {
  const PlainJson root = parse(tokenizer_json, name);
  const PlainJson& model = json_member(root, "model", name);
  check<CheckpointError>(model.is_object(), name,
                         ": model: expected an object; take the file from its source again");
  refuse_unsupported(root, model, name);
  auto core = std::make_shared<TokenizerCore>();
  core->name = name;
  core->vocabulary = read_vocabulary(model, name);
  core->model = std::make_unique<Bpe>(core->vocabulary, read_merges(model, name),
                                      read_options(model, core->vocabulary, name), name);
  const PlainJson none;
  const auto part = [&](const char* key) -> const PlainJson& {
    const auto found = root.find(key);
    return found == root.end() ? none : *found;
  };
  core->normalizers = parse_normalizer(part("normalizer"), name);
  core->pre_tokenizers = parse_pre_tokenizer(part("pre_tokenizer"), name);
  add_tokens(*core, root);
  add_named_special(*core, named_special);
  fill_tables(*core);
  return core;
}

}  // namespace

std::shared_ptr<const TokenizerCore> build_tokenizer_core(std::string_view tokenizer_json,
                                                          const std::string& name,
                                                          const std::vector<std::string>& named_special) {
  try {
    return build(tokenizer_json, name, named_special);
  } catch (const CheckpointError& e) {
    // Tokens and patterns in messages may hold line breaks.
    throw CheckpointError(one_line(e.what()));
  }
}

}  // namespace loongforge
