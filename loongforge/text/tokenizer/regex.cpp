#include "loongforge/text/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr std::size_t kJitStackStart = 32 * 1024, kJitStackMost = 16 * 1024 * 1024;
constexpr std::uint32_t kMatchLimit = 200'000'000;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// What one thread needs for matching; PCRE2 lets it serve every pattern in turn.
struct Workspace {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(kJitStackStart, kJitStackMost, nullptr);

  Workspace() {
    check<ResourceError>(data != nullptr && context != nullptr && stack != nullptr,
                         "regular expressions: no memory for matching; free some memory");
    pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_match_limit(context, kMatchLimit);
  }
  ~Workspace() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

Workspace& workspace() {
  thread_local Workspace mine;
  return mine;
}

}  // namespace

struct Regex::Code {
  pcre2_code* compiled = nullptr;
  std::string name;

  Code() = default;
  ~Code() { pcre2_code_free(compiled); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
};

Regex::Regex(std::string_view pattern, const std::string& name)
    : Regex(oniguruma_to_pcre2(pattern, name), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, name) {}

Regex Regex::literal(std::string_view text) {
  return Regex(std::string(text), PCRE2_UTF | PCRE2_LITERAL, "literal pattern");
}

Regex::Regex(std::string pattern, unsigned options, const std::string& name)
    : code_(std::make_unique<Code>()) {
  code_->name = name;
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options,
                                  &error, &offset, nullptr);
  if (code_->compiled == nullptr) {
    throw CheckpointError(concat(name, ": regular expression '", pattern, "': ", message_of(error),
                                 " at byte ", offset, "; mend the pattern"));
  }
  // Without the just-in-time compiler of PCRE2 the interpreter does the same, slower.
  pcre2_jit_compile(code_->compiled, PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::optional<std::pair<std::size_t, std::size_t>> Regex::find(std::string_view text,
                                                               std::size_t start) const {
  Workspace& w = workspace();
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() == nullptr ? "" : text.data());
  // The caller vouches for UTF-8; PCRE2 would check the whole text again at every match.
  int rc = pcre2_match(code_->compiled, subject, text.size(), start, PCRE2_NO_UTF_CHECK, w.data, w.context);
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
    rc = pcre2_match(code_->compiled, subject, text.size(), start, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, w.data,
                     w.context);
  }
  if (rc == PCRE2_ERROR_NOMATCH) return std::nullopt;
  check<DataError>(rc >= 0, code_->name, ": regular expression gives up on a text of ", text.size(),
                   " bytes: ", message_of(rc), "; split the text");
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(w.data);
  return std::pair{range[0], range[1]};
}

}  // namespace loongforge
