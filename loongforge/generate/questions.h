// Questions as the files of `eval` and the options of `generate` give them.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/conversation.h"

namespace loongforge {

// The conversation of one line as training reads it (parse_conversation): its "messages", else one user
// message made of "question"; with its "tools", and the pictures and clips that it names, whose paths begin
// at the folder of `file`. Fields that are neither read here nor among `read`, those of the caller, are
// counted in `unread`. Throws DataError beginning with `where`.
Conversation question_conversation(const Json& line, const std::string& where,
                                   const std::filesystem::path& file,
                                   const std::set<std::string_view>& read = {},
                                   UnreadColumns* unread = nullptr);

// The words of the last message when they are the assistant's, which are then taken off; else nothing.
std::optional<std::string> take_answer(Conversation& conversation);

// A field that must be text or a number, as text. Throws DataError beginning with `where`.
std::string text_field(const Json& line, const char* key, const std::string& where);

// "task" or "". Throws DataError beginning with `where` when it is no text.
std::string task_field(const Json& line, const std::string& where);

// One question of a file.
struct Question {
  std::string task;           // "" when the file names none
  Conversation conversation;  // without the answer
  std::string expected;       // the right answer
};

// Reads JSONL (plain, .gz, .zst): each line {"messages": [...]} or {"question": "..."}, with "answer" and
// optionally "task", "tools" and pictures. A last assistant message of `messages` is taken as the answer
// where "answer" is missing, and dropped otherwise. Warns of fields that are not read. Throws DataError
// naming file and line.
std::vector<Question> read_questions(const std::filesystem::path& path);

}  // namespace loongforge
