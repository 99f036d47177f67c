#include "loongforge/generate/questions.h"

#include "loongforge/formats/jsonl.h"
#include "loongforge/generate/match.h"

namespace loongforge {
namespace {

void check_messages(const Json& messages, const std::string& where) {
  check<DataError>(messages.is_array() && !messages.empty(), where,
                   ": messages: expected a list of {\"role\", \"content\"}, got ", messages.type_name(),
                   messages.is_array() ? " of length 0" : "");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Json& message = messages[i];
    const bool good = message.is_object() && message.contains("role") && message["role"].is_string() &&
                      message.contains("content") && message["content"].is_string();
    check<DataError>(good, where, ": messages[", i,
                     "]: expected {\"role\": text, \"content\": text}; mend or remove the line");
  }
}

bool ends_with_answer(const Json& messages) {
  return messages.back()["role"] == "assistant";
}

Question parse_question(const Json& line, const std::string& where) {
  check<DataError>(line.is_object(), where, ": expected a JSON object, got ", line.type_name());
  Question question;
  question.task = task_field(line, where);
  question.messages = question_messages(line, where);
  if (line.contains("answer")) {
    question.expected = text_field(line, "answer", where);
  } else {
    check<DataError>(ends_with_answer(question.messages), where,
                     ": expected \"answer\" or a last assistant message, got neither");
    question.expected = question.messages.back()["content"].get<std::string>();
  }
  if (ends_with_answer(question.messages)) question.messages.erase(question.messages.size() - 1);
  check<DataError>(!question.messages.empty(), where, ": messages: expected a question before the answer");
  return question;
}

}  // namespace

Json question_messages(const Json& line, const std::string& where) {
  if (line.contains("messages")) {
    check_messages(line["messages"], where);
    return line["messages"];
  }
  check<DataError>(line.contains("question"), where, ": expected \"messages\" or \"question\", got neither");
  check<DataError>(line["question"].is_string(), where, ": question: expected text, got ",
                   line["question"].type_name());
  return Json::array({Json{{"role", "user"}, {"content", line["question"]}}});
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
  for (Json line; reader.next(line);) questions.push_back(parse_question(line, reader.where()));
  check<DataError>(!questions.empty(), path.string(), ": expected questions, got an empty file");
  return questions;
}

}  // namespace loongforge
