// Regular expressions of tokenizer files: written for Oniguruma, run by PCRE2 with Unicode properties.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace loongforge {

// Rewrites what the two engines read differently: \s, \w, \d, \h and their negations, and {n,m}+ (repetition
// in Oniguruma, possessive in PCRE2). Throws CheckpointError for nested classes and && inside a class.
std::string oniguruma_to_pcre2(std::string_view pattern, const std::string& name);

// A compiled pattern; const calls may run on many threads at once.
class Regex {
 public:
  // Throws CheckpointError naming `name` and the offset of the error.
  Regex(std::string_view pattern, const std::string& name);
  // Matches `text` itself, without any meaning of its characters.
  static Regex literal(std::string_view text);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // The first match [begin, end) at or after `start`. `text` must be valid UTF-8.
  // Throws DataError when PCRE2 gives up on its limits.
  std::optional<std::pair<std::size_t, std::size_t>> find(std::string_view text, std::size_t start) const;

 private:
  struct Code;
  Regex(std::string pcre2_pattern, unsigned options, const std::string& name);
  std::unique_ptr<Code> code_;
};

}  // namespace loongforge
