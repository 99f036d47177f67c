// Cutting words at the matches of a pattern, as the library `tokenizers` does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/text/tokenizer/aligned_text.h"
#include "loongforge/text/tokenizer/regex.h"

namespace loongforge {

// What becomes of a match: dropped, a word of its own, joined to the word before or behind, or joined with
// matches beside it.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// "Removed", "Isolated", ... Throws CheckpointError naming `name`.
SplitBehavior split_behavior(const std::string& text, const std::string& name);

// A range of a text that matches, or lies between matches.
struct MatchPart {
  ByteRange range;
  bool match = false;
};

// All parts of text[range], in order, matches and what lies between.
std::vector<MatchPart> match_parts(const Regex& pattern, std::string_view text, ByteRange range);
// Each code point for which `predicate` holds is a match of its own.
std::vector<MatchPart> match_parts(bool (*predicate)(char32_t), std::string_view text, ByteRange range);

// Joins or drops parts and appends the words that remain.
void join_parts(std::vector<MatchPart> parts, SplitBehavior behavior, std::vector<ByteRange>& words);

}  // namespace loongforge
