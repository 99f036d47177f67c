// Share of right answers: the model answers questions and each answer is compared with the expected one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/generate/conversation_prompt.h"
#include "loongforge/generate/generator.h"

namespace loongforge {

// How an answer is made comparable. The steps run in the order of the members; the expected answer gets only
// the last three. An answer is right when both texts are then equal byte for byte.
struct AnswerCheck {
  // Keep what follows the last occurrence of this text (ASCII case does not matter) up to the end of its
  // line, e.g. "answer:"; an answer without it is wrong. Empty: off.
  std::string tag;
  bool last_line = false;       // keep the last line that is not blank
  bool trim = true;             // drop white space at both ends
  bool ignore_case = false;     // compare ASCII letters without regard to case
  bool collapse_space = false;  // compare runs of white space as one blank
};

// The comparable form of a model's answer; `found` (may be null) says whether the tag was there.
std::string normalise_answer(std::string_view answer, const AnswerCheck& check, bool* found = nullptr);
// The comparable form of an expected answer (no tag, no last line).
std::string normalise_expected(std::string_view expected, const AnswerCheck& check);
bool answer_is_right(std::string_view answer, std::string_view expected, const AnswerCheck& check);

struct MatchOptions {
  AnswerCheck check;
  std::filesystem::path answers;  // JSONL of every answer, one line as soon as it is known; empty: not stored
  std::string model_identity;     // name of the model, kept with the answers
  std::int64_t limit = 0;         // first N questions of each task; 0: all
  std::function<void(std::int64_t done, std::int64_t total)> on_progress;
};

// Answers all questions of `questions_file` (questions.h) and counts:
// {"kind": "match", "questions": N, "right": n, "share": p, "standard_error": s, "seconds": t,
//  "tasks": {TASK: {"questions", "right", "share", "standard_error"}}, "answers": FILE NAME}.
// standard_error = sqrt(p (1 - p) / N). Goes on where an interrupted run with the same `answers` file
// stopped.
Json eval_match(Generator& generator, const PromptMaker& maker, const std::filesystem::path& questions_file,
                const MatchOptions& options);

}  // namespace loongforge
