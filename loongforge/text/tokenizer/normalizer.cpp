#include "loongforge/text/tokenizer/normalizer.h"

#include <utf8proc.h>

#include <cstdlib>
#include <limits>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/json_access.h"
#include "loongforge/text/tokenizer/regex.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

// NFC and its kin through utf8proc.
class UnicodeForm : public Normalizer {
 public:
  explicit UnicodeForm(int options) : options_(static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE)) {}

  void apply(AlignedText& aligned) const override {
    const std::string_view text = aligned.text();
    if (below_first_change(text)) return;
    if (map(text) == text) return;
    AlignedBuilder out(aligned);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = segment_end(text, begin);
      const std::string_view part = text.substr(begin, end - begin);
      const std::string mapped = map(part);
      if (mapped == part) {
        out.keep(begin, end);
      } else {
        out.replace(mapped, begin, end);
      }
      begin = end;
    }
    out.finish(aligned);
  }

 private:
  // ASCII is the same in every form.
  static bool below_first_change(std::string_view text) {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
  }

  std::string map(std::string_view text) const {
    check<DataError>(text.size() < static_cast<std::size_t>(std::numeric_limits<int>::max()),
                     "normalizer: text of ", text.size(), " bytes is longer than 2 GiB; split the text");
    utf8proc_uint8_t* raw = nullptr;
    const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                static_cast<utf8proc_ssize_t>(text.size()), &raw, options_);
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(raw, std::free);
    check<DataError>(n >= 0, "normalizer: ", utf8proc_errmsg(n), "; mend the text");
    return std::string(reinterpret_cast<const char*>(raw), static_cast<std::size_t>(n));
  }

  // The end of the shortest part that starts at `begin` and whose form does not depend on what follows.
  std::size_t segment_end(std::string_view text, std::size_t begin) const {
    std::size_t end = begin;
    next_code_point(text, end);
    while (end < text.size()) {
      std::size_t next = end;
      const char32_t c = next_code_point(text, next);
      if (c < 0x80) break;
      const std::string_view left = text.substr(begin, end - begin), right = text.substr(end, next - end);
      const bool starter = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class == 0;
      if (starter && map(left) + map(right) == map(text.substr(begin, next - begin))) break;
      end = next;
    }
    return end;
  }

  utf8proc_option_t options_;
};

// Each character by itself, as Rust's char::to_lowercase.
class Lowercase : public Normalizer {
 public:
  void apply(AlignedText& aligned) const override {
    const std::string_view text = aligned.text();
    AlignedBuilder out(aligned);
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i;
      const char32_t c = next_code_point(text, i);
      std::string lower;
      append_utf8(lower, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
      // The one character whose small form is two.
      if (c == 0x130) lower = "i\xCC\x87";
      out.replace(lower, begin, i);
    }
    out.finish(aligned);
  }
};

class Replace : public Normalizer {
 public:
  Replace(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void apply(AlignedText& aligned) const override {
    const std::string_view text = aligned.text();
    AlignedBuilder out(aligned);
    std::size_t done = 0, from = 0;
    while (from <= text.size()) {
      const auto match = pattern_.find(text, from);
      if (!match) break;
      if (match->first == match->second) {
        if (match->first >= text.size()) break;
        from = match->first;
        next_code_point(text, from);
        continue;
      }
      out.keep(done, match->first);
      out.replace(content_, match->first, match->second);
      done = from = match->second;
    }
    if (done == 0) return;
    out.keep(done, text.size());
    out.finish(aligned);
  }

 private:
  Regex pattern_;
  std::string content_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string content) : content_(std::move(content)) {}
  void apply(AlignedText& aligned) const override {
    if (aligned.size() == 0) return;
    AlignedBuilder out(aligned);
    out.replace(content_, 0, 0);
    out.keep(0, aligned.size());
    out.finish(aligned);
  }

 private:
  std::string content_;
};

void add(const nlohmann::json& spec, const std::string& name,
         std::vector<std::unique_ptr<Normalizer>>& steps) {
  if (spec.is_null()) return;
  const std::string type = json_string(spec, "type", name);
  constexpr int kCompose = UTF8PROC_COMPOSE, kDecompose = UTF8PROC_DECOMPOSE, kCompat = UTF8PROC_COMPAT;
  if (type == "Sequence") {
    for (const auto& part : json_array(spec, "normalizers", name)) add(part, name, steps);
  } else if (type == "NFC") {
    steps.push_back(std::make_unique<UnicodeForm>(kCompose));
  } else if (type == "NFD") {
    steps.push_back(std::make_unique<UnicodeForm>(kDecompose));
  } else if (type == "NFKC") {
    steps.push_back(std::make_unique<UnicodeForm>(kCompose | kCompat));
  } else if (type == "NFKD") {
    steps.push_back(std::make_unique<UnicodeForm>(kDecompose | kCompat));
  } else if (type == "Lowercase") {
    steps.push_back(std::make_unique<Lowercase>());
  } else if (type == "Replace") {
    steps.push_back(std::make_unique<Replace>(json_pattern(spec, name), json_string(spec, "content", name)));
  } else if (type == "Prepend") {
    steps.push_back(std::make_unique<Prepend>(json_string(spec, "prepend", name)));
  } else {
    throw CheckpointError(concat(name, ": normalizer '", type,
                                 "' is not supported; expected NFC, NFD, NFKC, NFKD, ",
                                 "Lowercase, Replace, Prepend or a Sequence of them"));
  }
}

}  // namespace

std::vector<std::unique_ptr<Normalizer>> parse_normalizer(const nlohmann::json& spec,
                                                          const std::string& name) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  add(spec, name, steps);
  return steps;
}

}  // namespace loongforge
