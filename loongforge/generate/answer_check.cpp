#include <algorithm>

#include "loongforge/generate/match.h"

namespace loongforge {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view last_filled_line(std::string_view text) {
  const auto last = text.find_last_not_of(kSpace);
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  const auto cut = text.find_last_of('\n');
  return cut == std::string_view::npos ? text : text.substr(cut + 1);
}

// What follows the last occurrence of the tag on its line; `found` tells whether there was one.
std::string_view after_tag(std::string_view text, std::string_view tag, bool& found) {
  const auto at = lowered(text).rfind(lowered(tag));
  found = at != std::string::npos;
  if (!found) return {};
  text = text.substr(at + tag.size());
  return text.substr(0, text.find('\n'));
}

std::string collapsed(std::string_view text) {
  std::string out;
  bool blank = false;
  for (char c : text) {
    const bool space = kSpace.find(c) != std::string_view::npos;
    if (!space || !blank) out += space ? ' ' : c;
    blank = space;
  }
  return out;
}

}  // namespace

std::string normalise_expected(std::string_view expected, const AnswerCheck& check) {
  std::string out(check.trim ? trimmed(expected) : expected);
  if (check.ignore_case) out = lowered(out);
  if (check.collapse_space) out = collapsed(out);
  return out;
}

std::string normalise_answer(std::string_view answer, const AnswerCheck& check, bool* found) {
  bool tag_found = true;
  if (!check.tag.empty()) answer = after_tag(answer, check.tag, tag_found);
  if (found != nullptr) *found = tag_found;
  if (check.last_line) answer = last_filled_line(answer);
  return normalise_expected(answer, check);
}

bool answer_is_right(std::string_view answer, std::string_view expected, const AnswerCheck& check) {
  bool found = false;
  const std::string given = normalise_answer(answer, check, &found);
  return found && given == normalise_expected(expected, check);
}

}  // namespace loongforge
