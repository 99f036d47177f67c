#include "loongforge/generate/questions.h"

#include "loongforge/formats/jsonl.h"

namespace loongforge {
namespace {

Json question_messages(const Json& line, const std::string& where) {
  check<DataError>(line.contains("question"), where, ": expected \"messages\" or \"question\", got neither");
  check<DataError>(line["question"].is_string(), where, ": question: expected text, got ",
                   line["question"].type_name());
  return Json::array({Json{{"role", "user"}, {"content", line["question"]}}});
}

Question parse_question(const Json& line, const std::string& where, const fs::path& file,
                        UnreadColumns& unread) {
  check<DataError>(line.is_object(), where, ": expected a JSON object, got ", line.type_name());
  Question question;
  question.task = task_field(line, where);
  question.conversation = question_conversation(line, where, file, {"task", "answer"}, &unread);
  const std::optional<std::string> answer = take_answer(question.conversation);
  check<DataError>(answer || line.contains("answer"), where,
                   ": expected \"answer\" or a last assistant message, got neither");
  question.expected = line.contains("answer") ? text_field(line, "answer", where) : *answer;
  check<DataError>(!question.conversation.messages.empty(), where,
                   ": messages: expected a question before the answer");
  return question;
}

}  // namespace

Conversation question_conversation(const Json& line, const std::string& where, const fs::path& file,
                                   const std::set<std::string_view>& read, UnreadColumns* unread) {
  Json record = line;
  for (const std::string_view key : read) record.erase(std::string(key));
  if (!line.contains("messages")) {
    record["messages"] = question_messages(line, where);
    record.erase("question");
  }
  return parse_conversation(record, ConversationFormat::kOpenAi, where, unread, files_of(file.parent_path()));
}

std::optional<std::string> take_answer(Conversation& conversation) {
  Json& messages = conversation.messages;
  if (messages.empty() || messages.back().at("role") != "assistant") return std::nullopt;
  const Json content = messages.back().at("content");
  check<DataError>(content.is_string() && (content != "" || !messages.back().contains("tool_calls")),
                   conversation.where,
                   ": the last message: expected words of the assistant, got pictures or calls of tools");
  messages.erase(messages.size() - 1);
  return content.get<std::string>();
}

std::string text_field(const Json& line, const char* key, const std::string& where) {
  check<DataError>(line.contains(key), where, ": expected \"", key, "\", which is missing");
  const Json& value = line[key];
  check<DataError>(value.is_string() || value.is_number(), where, ": ", key, ": expected text, got ",
                   value.type_name());
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

std::string task_field(const Json& line, const std::string& where) {
  return line.contains("task") ? text_field(line, "task", where) : std::string();
}

std::vector<Question> read_questions(const std::filesystem::path& path) {
  JsonlReader reader(path);
  std::vector<Question> questions;
  UnreadColumns unread;
  for (Json line; reader.next(line);) questions.push_back(parse_question(line, reader.where(), path, unread));
  check<DataError>(!questions.empty(), path.string(), ": expected questions, got an empty file");
  warn_of_unread(path.string(), unread);
  return questions;
}

}  // namespace loongforge
