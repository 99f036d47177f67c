#include "loongforge/text/tokenizer/pre_tokenizer.h"

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"
#include "loongforge/text/tokenizer/json_access.h"
#include "loongforge/text/tokenizer/split.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// \w+|[^\w\s]+ as Rust's regular expressions read \w.
constexpr const char* kWhitespacePattern =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}\s]+)";

class PatternSplit : public PreTokenizer {
 public:
  PatternSplit(Regex pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void apply(Words& words) const override {
    std::vector<ByteRange> out;
    for (const ByteRange& range : words.ranges) {
      auto parts = match_parts(pattern_, words.text.text(), range);
      if (invert_) {
        for (MatchPart& part : parts) part.match = !part.match;
      }
      join_parts(std::move(parts), behavior_, out);
    }
    words.ranges = std::move(out);
  }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class CharacterSplit : public PreTokenizer {
 public:
  CharacterSplit(bool (*predicate)(char32_t), SplitBehavior behavior)
      : predicate_(predicate), behavior_(behavior) {}

  void apply(Words& words) const override {
    std::vector<ByteRange> out;
    for (const ByteRange& range : words.ranges) {
      join_parts(match_parts(predicate_, words.text.text(), range), behavior_, out);
    }
    words.ranges = std::move(out);
  }

 private:
  bool (*predicate_)(char32_t);
  SplitBehavior behavior_;
};

// Rewrites every word through `change(text, range, out)` and keeps the words' borders.
template <typename Change>
void rewrite_words(Words& words, const Change& change) {
  AlignedBuilder out(words.text);
  for (ByteRange& range : words.ranges) {
    const std::size_t begin = out.size();
    change(words.text.text(), range, out);
    range = {begin, out.size()};
  }
  out.finish(words.text);
}

// A blank before every word that does not start with one.
class PrefixSpace : public PreTokenizer {
 public:
  void apply(Words& words) const override {
    rewrite_words(words, [](std::string_view text, const ByteRange& range, AlignedBuilder& out) {
      if (text[range.begin] != ' ') out.replace(" ", range.begin, range.begin);
      out.keep(range.begin, range.end);
    });
  }
};

// Bytes to their characters, for the steps that stand behind ByteLevel.
class ToAlphabet : public PreTokenizer {
 public:
  void apply(Words& words) const override {
    rewrite_words(words, [](std::string_view text, const ByteRange& range, AlignedBuilder& out) {
      for (std::size_t i = range.begin; i < range.end; ++i) {
        out.replace(byte_character(static_cast<unsigned char>(text[i])), i, i + 1);
      }
    });
  }
};

class FromAlphabet : public PreTokenizer {
 public:
  void apply(Words& words) const override {
    rewrite_words(words, [](std::string_view text, const ByteRange& range, AlignedBuilder& out) {
      for (std::size_t i = range.begin; i < range.end;) {
        const std::size_t begin = i;
        const auto byte = byte_of_character(next_code_point(text, i));
        const char c = static_cast<char>(byte.value_or('?'));
        out.replace(std::string_view(&c, 1), begin, i);
      }
    });
  }
};

class Parser {
 public:
  explicit Parser(const std::string& name) : name_(name) {}

  std::vector<std::unique_ptr<PreTokenizer>> parse(const nlohmann::json& spec) {
    if (!spec.is_null()) add(spec);
    check<CheckpointError>(byte_level_, name_,
                           ": pre_tokenizer without ByteLevel is not supported; expected a ",
                           "byte-level BPE tokenizer");
    if (mapped_) steps_.push_back(std::make_unique<FromAlphabet>());
    return std::move(steps_);
  }

 private:
  template <typename Step, typename... Arguments>
  void push(Arguments&&... arguments) {
    // Only steps behind ByteLevel see its alphabet.
    if (byte_level_ && !mapped_) {
      steps_.push_back(std::make_unique<ToAlphabet>());
      mapped_ = true;
    }
    steps_.push_back(std::make_unique<Step>(std::forward<Arguments>(arguments)...));
  }

  void add(const nlohmann::json& spec) {
    const std::string type = json_string(spec, "type", name_);
    if (type == "Sequence") {
      for (const auto& part : json_array(spec, "pretokenizers", name_)) add(part);
    } else if (type == "ByteLevel") {
      add_byte_level(spec);
    } else if (type == "Split") {
      push<PatternSplit>(json_pattern(spec, name_), behavior_of(spec),
                         json_bool(spec, "invert", false, name_));
    } else if (type == "Digits") {
      push<CharacterSplit>(&is_numeric, json_bool(spec, "individual_digits", false, name_)
                                            ? SplitBehavior::kIsolated
                                            : SplitBehavior::kContiguous);
    } else if (type == "Punctuation") {
      push<CharacterSplit>(&is_punctuation,
                           spec.contains("behavior") ? behavior_of(spec) : SplitBehavior::kIsolated);
    } else if (type == "Whitespace") {
      push<PatternSplit>(Regex(kWhitespacePattern, name_), SplitBehavior::kRemoved, true);
    } else if (type == "WhitespaceSplit") {
      push<CharacterSplit>(&is_white_space, SplitBehavior::kRemoved);
    } else {
      throw CheckpointError(concat(name_, ": pre_tokenizer '", type,
                                   "' is not supported; expected ByteLevel, Split, ",
                                   "Digits, Punctuation, Whitespace, WhitespaceSplit or a Sequence of them"));
    }
  }

  void add_byte_level(const nlohmann::json& spec) {
    check<CheckpointError>(!byte_level_, name_, ": pre_tokenizer: ByteLevel stands twice; expected it once");
    if (json_bool(spec, "add_prefix_space", true, name_)) push<PrefixSpace>();
    if (json_bool(spec, "use_regex", true, name_)) {
      push<PatternSplit>(Regex(kGpt2Pattern, name_), SplitBehavior::kIsolated, false);
    }
    byte_level_ = true;
  }

  SplitBehavior behavior_of(const nlohmann::json& spec) const {
    return split_behavior(json_string(spec, "behavior", name_), name_);
  }

  const std::string& name_;
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
  bool byte_level_ = false, mapped_ = false;
};

}  // namespace

std::vector<std::unique_ptr<PreTokenizer>> parse_pre_tokenizer(const nlohmann::json& spec,
                                                               const std::string& name) {
  return Parser(name).parse(spec);
}

}  // namespace loongforge
