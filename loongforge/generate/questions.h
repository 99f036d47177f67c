// Fields that the files of questions have in common.
#pragma once

#include <string>

#include "loongforge/base/json.h"

namespace loongforge {

// The conversation of one line: its "messages" (list of {"role", "content"}, checked), else one user message
// made of "question". Throws DataError beginning with `where`.
Json question_messages(const Json& line, const std::string& where);

// A field that must be text or a number, as text. Throws DataError beginning with `where`.
std::string text_field(const Json& line, const char* key, const std::string& where);

// "task" or "". Throws DataError beginning with `where` when it is no text.
std::string task_field(const Json& line, const std::string& where);

}  // namespace loongforge
