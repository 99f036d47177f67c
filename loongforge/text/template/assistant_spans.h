// Which bytes of a rendered conversation an assistant wrote.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/template/marked_string.h"

namespace loongforge::jinja {

// What the search may ask for.
struct SpanSearch {
  const MarkedString& rendered;
  // Indices of the messages whose role is assistant.
  std::vector<std::size_t> assistants;
  bool has_generation = false;
  // The text ends with an assistant's header that belongs to no turn.
  bool ends_with_prompt = false;
  // Headers of an assistant turn, the likeliest first: what add_generation_prompt adds. An empty string means
  // that it adds nothing.
  std::function<std::vector<std::string>()> headers;
  // True when the template is known to write a marker behind an assistant's words.
  std::function<bool()> writes_end_marker;
};

// Bytes inside {% generation %} where the template has it. Otherwise, of every assistant turn (what the
// template writes while it loops over that message), all behind the header up to and with the end-of-turn
// marker. Throws TemplateError when a turn, its header or its end cannot be told for certain.
std::vector<AssistantSpan> find_assistant_spans(const SpanSearch& search);

}  // namespace loongforge::jinja
