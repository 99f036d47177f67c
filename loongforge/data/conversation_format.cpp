#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "loongforge/base/error.h"
#include "loongforge/data/conversation.h"
#include "loongforge/data/conversation_media.h"

namespace loongforge {
namespace {

using Keys = std::set<std::string_view>;

struct FormatName {
  const char* name;
  ConversationFormat format;
};
constexpr std::array<FormatName, 4> kNames = {{{"auto", ConversationFormat::kAuto},
                                               {"openai", ConversationFormat::kOpenAi},
                                               {"sharegpt", ConversationFormat::kShareGpt},
                                               {"alpaca", ConversationFormat::kAlpaca}}};

constexpr const char* kRoles = "system, developer, user, assistant or tool";

std::string keys_of(const Json& object) {
  std::string keys;
  for (const auto& entry : object.items()) keys += (keys.empty() ? "" : ", ") + entry.key();
  return keys.empty() ? "(none)" : keys;
}

std::string text_of(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  check<DataError>(found != object.end(), where, ": expected a field '", key, "', got the fields ",
                   keys_of(object));
  check<DataError>(found->is_string(), where, ": field '", key, "': expected text, got ", found->type_name());
  return found->get<std::string>();
}

// The text of an optional field; null counts as absent.
std::string optional_text(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return text_of(object, key, where);
}

// Tools stand as an array or as the text of one.
Json tools_of(const Json& record, const std::string& where) {
  const auto found = record.find("tools");
  if (found == record.end() || found->is_null()) return Json();
  Json tools = *found;
  if (tools.is_string()) {
    if (tools.get<std::string>().empty()) return Json();
    tools = parse_json<DataError>(tools.get<std::string>(), where + ": field 'tools'");
  }
  check<DataError>(tools.is_array(), where, ": field 'tools': expected a list, got ", tools.type_name());
  return tools.empty() ? Json() : tools;
}

// take_media counts those of the media.
void count_unread_text(const Json& record, Keys read, UnreadColumns* unread) {
  read.insert(kMediaColumns.begin(), kMediaColumns.end());
  count_unread(record, read, unread);
}

// Arguments of tool calls stand as objects for the templates, but as JSON text in OpenAI's files.
void open_arguments(Json& message) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return;
  for (Json& call : *calls) {
    if (!call.is_object()) continue;
    Json& function = call.contains("function") ? call["function"] : call;
    if (!function.is_object() || !function.contains("arguments") || !function["arguments"].is_string())
      continue;
    const Json parsed = Json::parse(function["arguments"].get<std::string>(), nullptr, false);
    if (parsed.is_object()) function["arguments"] = parsed;
  }
}

Json openai_message(const Json& given, const std::string& where) {
  static const std::set<std::string> kKnown = {"system",    "developer", "user",
                                               "assistant", "tool",      "function"};
  check<DataError>(given.is_object(), where, ": expected an object with 'role' and 'content', got ",
                   given.type_name());
  Json message = given;
  const std::string role = text_of(message, "role", where);
  check<DataError>(kKnown.count(role) != 0, where, ": 'role': expected ", kRoles, ", got '", role, "'");
  const bool calls = message.contains("tool_calls") && !message["tool_calls"].is_null();
  if (!message.contains("content") || message["content"].is_null()) {
    check<DataError>(calls, where, ": expected 'content', got the fields ", keys_of(message));
    message["content"] = "";
  }
  check<DataError>(message["content"].is_string() || message["content"].is_array(), where,
                   ": 'content': expected text, got ", message["content"].type_name());
  open_arguments(message);
  return message;
}

void parse_openai(const Json& record, const std::string& where, Conversation& out) {
  const auto messages = record.find("messages");
  check<DataError>(messages != record.end(), where, ": expected a field 'messages', got the fields ",
                   keys_of(record));
  check<DataError>(messages->is_array() && !messages->empty(), where,
                   ": 'messages': expected a list of at least one message, got ",
                   messages->is_array() ? "an empty list" : messages->type_name());
  for (std::size_t i = 0; i < messages->size(); ++i) {
    out.messages.push_back(openai_message((*messages)[i], concat(where, ": message ", i + 1)));
  }
}

// A function call of a ShareGPT file: the text of {"name", "arguments"} or of a list of them.
Json function_call(const std::string& text, const std::string& where) {
  const Json parsed = parse_json<DataError>(text, where + ": function call");
  Json calls = Json::array();
  for (const Json& call : parsed.is_array() ? parsed : Json::array({parsed})) {
    check<DataError>(call.is_object() && call.contains("name"), where,
                     ": function call: expected an object with 'name' and 'arguments', got ", call.dump());
    calls.push_back(
        {{"type", "function"},
         {"function", {{"name", call.at("name")}, {"arguments", call.value("arguments", Json::object())}}}});
  }
  return {{"role", "assistant"}, {"content", ""}, {"tool_calls", calls}};
}

Json sharegpt_message(const Json& turn, const std::string& where) {
  static const std::map<std::string, std::string> kFrom = {
      {"human", "user"},          {"user", "user"},         {"gpt", "assistant"},
      {"assistant", "assistant"}, {"chatgpt", "assistant"}, {"bing", "assistant"},
      {"bard", "assistant"},      {"model", "assistant"},   {"system", "system"},
      {"tool", "tool"},           {"observation", "tool"},  {"function_response", "tool"},
      {"function_call", "call"},  {"tool_call", "call"}};
  check<DataError>(turn.is_object(), where, ": expected an object with 'from' and 'value', got ",
                   turn.type_name());
  const std::string from = text_of(turn, "from", where);
  const std::string value = text_of(turn, "value", where);
  const auto role = kFrom.find(from);
  check<DataError>(role != kFrom.end(), where,
                   ": 'from': expected human, gpt, system, function_call or observation, got '", from, "'");
  if (role->second == "call") return function_call(value, where);
  return {{"role", role->second}, {"content", value}};
}

void parse_sharegpt(const Json& record, const std::string& where, Conversation& out) {
  const auto turns = record.find("conversations");
  check<DataError>(turns != record.end(), where, ": expected a field 'conversations', got the fields ",
                   keys_of(record));
  check<DataError>(turns->is_array() && !turns->empty(), where,
                   ": 'conversations': expected a list of at least one turn, got ",
                   turns->is_array() ? "an empty list" : turns->type_name());
  const std::string system = optional_text(record, "system", where);
  if (!system.empty()) out.messages.push_back({{"role", "system"}, {"content", system}});
  for (std::size_t i = 0; i < turns->size(); ++i) {
    out.messages.push_back(sharegpt_message((*turns)[i], concat(where, ": turn ", i + 1)));
  }
}

void parse_alpaca(const Json& record, const std::string& where, Conversation& out) {
  const auto add = [&](const char* role, const std::string& content) {
    out.messages.push_back({{"role", role}, {"content", content}});
  };
  const std::string system = optional_text(record, "system", where);
  if (!system.empty()) add("system", system);
  const auto history = record.find("history");
  if (history != record.end() && !history->is_null()) {
    check<DataError>(history->is_array(), where, ": 'history': expected a list of [question, answer], got ",
                     history->type_name());
    for (const Json& turn : *history) {
      check<DataError>(turn.is_array() && turn.size() == 2 && turn[0].is_string() && turn[1].is_string(),
                       where, ": 'history': expected pairs of texts [question, answer], got ", turn.dump());
      add("user", turn[0].get<std::string>());
      add("assistant", turn[1].get<std::string>());
    }
  }
  const std::string input = optional_text(record, "input", where);
  const std::string instruction = text_of(record, "instruction", where);
  add("user", input.empty() ? instruction : instruction.empty() ? input : instruction + "\n" + input);
  add("assistant", text_of(record, "output", where));
}

ConversationFormat detect(const Json& record, const std::string& where) {
  if (record.contains("messages")) return ConversationFormat::kOpenAi;
  if (record.contains("conversations")) return ConversationFormat::kShareGpt;
  check<DataError>(
      record.contains("instruction") && record.contains("output"), where,
      ": expected a conversation ('messages', 'conversations', or 'instruction' and 'output'), got "
      "the fields ",
      keys_of(record));
  return ConversationFormat::kAlpaca;
}

}  // namespace

ConversationFormat conversation_format(const std::string& name) {
  for (const FormatName& known : kNames) {
    if (name == known.name) return known.format;
  }
  throw ConfigError(concat("data.format: expected auto, openai, sharegpt or alpaca, got '", name, "'"));
}

std::string conversation_format_name(ConversationFormat format) {
  for (const FormatName& known : kNames) {
    if (format == known.format) return known.name;
  }
  return "auto";
}

Conversation parse_conversation(const Json& record, ConversationFormat format, const std::string& where,
                                UnreadColumns* unread, const MediaResolver& resolve) {
  check<DataError>(record.is_object(), where, ": expected a JSON object, got ", record.type_name());
  if (format == ConversationFormat::kAuto) format = detect(record, where);
  Conversation out;
  out.where = where;
  out.messages = Json::array();
  out.tools = tools_of(record, where);
  if (format == ConversationFormat::kOpenAi) {
    parse_openai(record, where, out);
    count_unread_text(record, {"messages", "tools"}, unread);
  } else if (format == ConversationFormat::kShareGpt) {
    parse_sharegpt(record, where, out);
    count_unread_text(record, {"conversations", "system", "tools"}, unread);
  } else {
    parse_alpaca(record, where, out);
    count_unread_text(record, {"instruction", "input", "output", "history", "system", "tools"}, unread);
  }
  take_media(record, resolve, unread, out);
  return out;
}

}  // namespace loongforge
