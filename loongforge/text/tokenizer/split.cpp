#include "loongforge/text/tokenizer/split.h"

#include <algorithm>
#include <optional>

#include "loongforge/base/error.h"
#include "loongforge/text/unicode.h"

namespace loongforge {

SplitBehavior split_behavior(const std::string& text, const std::string& name) {
  if (text == "Removed") return SplitBehavior::kRemoved;
  if (text == "Isolated") return SplitBehavior::kIsolated;
  if (text == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (text == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (text == "Contiguous") return SplitBehavior::kContiguous;
  throw CheckpointError(
      concat(name, ": 'behavior': expected Removed, Isolated, MergedWithPrevious, MergedWithNext or ",
             "Contiguous, got '", text, "'; mend the file"));
}

std::vector<MatchPart> match_parts(const Regex& pattern, std::string_view text, ByteRange range) {
  // The word is all that the pattern sees: look-around must not reach into its neighbours.
  const std::string_view word = text.substr(range.begin, range.end - range.begin);
  std::vector<MatchPart> parts;
  std::size_t done = 0, from = 0;
  std::optional<std::size_t> last_end;
  const auto push = [&](std::size_t begin, std::size_t end, bool match) {
    parts.push_back({{range.begin + begin, range.begin + end}, match});
  };
  while (from <= word.size()) {
    const auto match = pattern.find(word, from);
    if (!match) break;
    const auto [begin, end] = *match;
    // An empty match that touches the one before is none.
    if (begin != end || last_end != end) {
      if (begin > done) push(done, begin, false);
      push(begin, end, true);
      last_end = done = end;
    }
    from = end;
    if (begin == end) {
      if (end >= word.size()) break;
      next_code_point(word, from);
    }
  }
  if (done < word.size()) push(done, word.size(), false);
  return parts;
}

std::vector<MatchPart> match_parts(bool (*predicate)(char32_t), std::string_view text, ByteRange range) {
  std::vector<MatchPart> parts;
  std::size_t done = range.begin;
  for (std::size_t i = range.begin; i < range.end;) {
    const std::size_t begin = i;
    if (!predicate(next_code_point(text, i))) continue;
    if (begin > done) parts.push_back({{done, begin}, false});
    parts.push_back({{begin, i}, true});
    done = i;
  }
  if (done < range.end) parts.push_back({{done, range.end}, false});
  return parts;
}

namespace {

void merge_with_previous(std::vector<MatchPart>& parts) {
  std::vector<MatchPart> joined;
  bool before = false;
  for (const MatchPart& part : parts) {
    if (part.match && !before && !joined.empty()) {
      joined.back().range.end = part.range.end;
    } else {
      joined.push_back(part);
    }
    before = part.match;
  }
  parts = std::move(joined);
}

void merge_with_next(std::vector<MatchPart>& parts) {
  std::vector<MatchPart> joined;
  bool before = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->match && !before && !joined.empty()) {
      joined.back().range.begin = part->range.begin;
    } else {
      joined.push_back(*part);
    }
    before = part->match;
  }
  std::reverse(joined.begin(), joined.end());
  parts = std::move(joined);
}

void merge_equal(std::vector<MatchPart>& parts) {
  std::vector<MatchPart> joined;
  for (const MatchPart& part : parts) {
    if (!joined.empty() && joined.back().match == part.match) {
      joined.back().range.end = part.range.end;
    } else {
      joined.push_back(part);
    }
  }
  parts = std::move(joined);
}

}  // namespace

void join_parts(std::vector<MatchPart> parts, SplitBehavior behavior, std::vector<ByteRange>& words) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      std::erase_if(parts, [](const MatchPart& part) { return part.match; });
      break;
    case SplitBehavior::kIsolated:
      break;
    case SplitBehavior::kMergedWithPrevious:
      merge_with_previous(parts);
      break;
    case SplitBehavior::kMergedWithNext:
      merge_with_next(parts);
      break;
    case SplitBehavior::kContiguous:
      merge_equal(parts);
      break;
  }
  for (const MatchPart& part : parts) {
    if (part.range.end > part.range.begin) words.push_back(part.range);
  }
}

}  // namespace loongforge
