#include "loongforge/text/template/chat_template.h"

#include <algorithm>

#include "loongforge/base/error.h"
#include "loongforge/text/template/assistant_spans.h"
#include "loongforge/text/template/ast.h"
#include "loongforge/text/template/parser.h"
#include "loongforge/text/template/syntax_error.h"
#include "loongforge/text/unicode.h"

namespace loongforge {
namespace {

using jinja::Interpreter;
using jinja::MarkedString;
using jinja::TemplateError;
using jinja::Value;

// The variables of one rendering beside the messages.
struct Surroundings {
  const Json& special_tokens;
  const Json& tools;
  const Json& extra;
  std::time_t now;
};

MarkedString run_program(const jinja::Program& program, const Json& messages, bool prompt,
                         const Surroundings& around, const std::string& name) {
  Interpreter interpreter(around.now);
  auto scope = std::make_shared<jinja::Scope>();
  scope->parent = interpreter.globals();
  MarkedString out;
  try {
    auto& variables = scope->variables;
    for (const auto& [key, value] : around.special_tokens.items()) variables[key] = jinja::from_json(value);
    for (const auto& [key, value] : around.extra.items()) variables[key] = jinja::from_json(value);
    jinja::List list;
    for (const Json& message : messages) {
      list.push_back(jinja::message_from_json(message));
      interpreter.note_message(list.back(), static_cast<int>(list.size()) - 1);
    }
    variables["messages"] = Value(std::move(list));
    variables["tools"] = jinja::from_json(around.tools);
    if (!variables.contains("documents")) variables["documents"] = Value();
    variables["add_generation_prompt"] = Value(prompt);
    // The template's own names stand above the given ones.
    auto top = std::make_shared<jinja::Scope>();
    top->parent = scope;
    jinja::Frame frame{interpreter, std::move(top), out, nullptr};
    jinja::run_body(program.body, frame);
  } catch (const TemplateError& e) {
    throw DataError(concat(name, ":", interpreter.line, ": ", one_line(e.what())));
  }
  return out;
}

bool is_assistant(const Json& message) {
  if (!message.is_object()) return false;
  const auto role = message.find("role");
  return role != message.end() && role->is_string() && *role == "assistant";
}

// What add_generation_prompt adds behind `messages`; none when the template refuses them.
std::optional<std::string> header_behind(const jinja::Program& program, const Json& messages,
                                         const Surroundings& around, const std::string& name) {
  try {
    const std::string without = run_program(program, messages, false, around, name).text;
    const std::string with = run_program(program, messages, true, around, name).text;
    // A template may also end a text without prompt with something of its own, such as eos.
    const auto [at, unused] = std::mismatch(with.begin(), with.end(), without.begin(), without.end());
    return std::string(at, with.end());
  } catch (const DataError&) {
    // A template may insist on certain roles; another conversation is tried.
  }
  return std::nullopt;
}

// Whether the template writes something behind the words of an assistant.
bool writes_end_marker(const jinja::Program& program, const Surroundings& around, const std::string& name) {
  try {
    const Json messages =
        Json::array({{{"role", "user"}, {"content", "x"}}, {{"role", "assistant"}, {"content", "x"}}});
    const MarkedString out = run_program(program, messages, false, around, name);
    std::size_t last = 0;
    for (const jinja::Mark& mark : out.marks) {
      if (mark.tag == jinja::kWords) last = std::max(last, mark.end);
    }
    return last > 0 && out.text.find_first_not_of(" \t\r\n", last) != std::string::npos;
  } catch (const DataError&) {
    return false;
  }
}

// From a shortest conversation first, then from the messages before the last assistant turn.
std::vector<std::string> headers_of(const jinja::Program& program, const Json& messages,
                                    std::size_t last_assistant, const Surroundings& around,
                                    const std::string& name) {
  std::vector<std::string> headers;
  const auto add = [&](const std::optional<std::string>& header) {
    if (header && std::find(headers.begin(), headers.end(), *header) == headers.end())
      headers.push_back(*header);
  };
  const Json no_tools = nullptr;
  const Surroundings plain{around.special_tokens, no_tools, around.extra, around.now};
  add(header_behind(program, Json::array({{{"role", "user"}, {"content", "x"}}}), plain, name));
  if (headers.empty() || headers.front().empty()) {
    Json before = Json::array();
    for (std::size_t i = 0; i < last_assistant; ++i) before.push_back(messages[i]);
    add(header_behind(program, before, around, name));
    std::stable_sort(headers.begin(), headers.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }
  return headers;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string source, std::string name, Json special_tokens)
    : source_(std::move(source)), name_(std::move(name)), special_tokens_(std::move(special_tokens)) {
  check<CheckpointError>(find_invalid_utf8(source_) == std::string::npos, name_,
                         ": chat template is not UTF-8; take the file from its source again");
  try {
    program_ = jinja::parse_program(source_);
  } catch (const jinja::SyntaxError& e) {
    throw CheckpointError(concat(name_, ":", e.line, ": ", one_line(e.what()), "; mend the template"));
  }
}

Rendered ChatTemplate::render(const Json& messages, const RenderOptions& options) const {
  check<DataError>(messages.is_array(), name_, ": messages: expected an array of {role, content}, got ",
                   messages.type_name());
  check<DataError>(options.extra.is_object() && special_tokens_.is_object(), name_,
                   ": template variables: expected an object, got ", options.extra.type_name());
  const Surroundings around{special_tokens_, options.tools, options.extra,
                            options.now.value_or(std::time(nullptr))};
  const MarkedString out = run_program(*program_, messages, options.add_generation_prompt, around, name_);
  Rendered rendered{out.text, {}};
  if (!options.assistant_spans) return rendered;
  std::vector<std::size_t> assistants;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (is_assistant(messages[i])) assistants.push_back(i);
  }
  const auto headers = [&] { return headers_of(*program_, messages, assistants.back(), around, name_); };
  const auto marker = [&] { return writes_end_marker(*program_, around, name_); };
  try {
    rendered.assistant = jinja::find_assistant_spans(
        {out, assistants, program_->has_generation, options.add_generation_prompt, headers, marker});
  } catch (const TemplateError& e) {
    throw DataError(concat(name_, ": ", one_line(e.what())));
  }
  return rendered;
}

}  // namespace loongforge
