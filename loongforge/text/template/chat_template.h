// Chat templates: conversations rendered to text as transformers' apply_chat_template does with jinja2, with
// the exact bytes of the assistant's turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/base/json.h"

namespace loongforge {

namespace jinja {
struct Program;
}

// Bytes [begin, end) of a rendered text that the model must learn, and the index of the message they belong
// to.
struct AssistantSpan {
  std::size_t begin = 0, end = 0;
  std::size_t message = 0;
};

// A rendered conversation.
struct Rendered {
  std::string text;
  // In order, without overlap: the words of every assistant turn and the end-of-turn marker behind them, but
  // not the role header before and not the line break after. Empty unless RenderOptions::assistant_spans.
  std::vector<AssistantSpan> assistant;
};

struct RenderOptions {
  // JSON schemas of functions, as `tools` of apply_chat_template; null: none.
  Json tools = nullptr;
  // Ends the text with the header of an assistant turn, so that a model goes on from it.
  bool add_generation_prompt = false;
  // Further variables for the template, e.g. {"enable_thinking": false}.
  Json extra = Json::object();
  // Finds Rendered::assistant.
  bool assistant_spans = true;
  // The time that strftime_now() shows; default: the clock.
  std::optional<std::time_t> now;
};

// A parsed template, cheap to copy; const calls may run on many threads at once.
//
// It understands the language of jinja2 3.1 as transformers configures it (trim_blocks, lstrip_blocks, loop
// controls, generation blocks, sandbox), without inheritance and inclusion of other templates.
class ChatTemplate {
 public:
  // `name` stands in messages; `special_tokens`: {"bos_token": ...} of Tokenizer::special_tokens_json().
  // Throws CheckpointError "<name>:<line>: ..." for a template with an error in its syntax.
  ChatTemplate(std::string source, std::string name, Json special_tokens = Json::object());

  // `messages`: [{"role": "user", "content": ...}, ...]. Throws DataError "<name>:<line>: ..." when the
  // template refuses the conversation, or when the assistant's bytes cannot be told apart for certain.
  Rendered render(const Json& messages, const RenderOptions& options = {}) const;

  const std::string& source() const { return source_; }
  const std::string& name() const { return name_; }

 private:
  std::string source_, name_;
  Json special_tokens_;
  std::shared_ptr<const jinja::Program> program_;
};

}  // namespace loongforge
