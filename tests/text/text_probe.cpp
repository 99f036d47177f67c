// Runs the text floor for the scripts beside it: one JSON value a line in, one JSON value a line out.
#include <iostream>
#include <string>

#include "loongforge/base/error.h"
#include "loongforge/base/json.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

Json encode(const Tokenizer& tokenizer, const Json& line, bool special) {
  return tokenizer.encode(line.get<std::string>(), special);
}

Json spans(const Tokenizer& tokenizer, const Json& line) {
  Json out = Json::array();
  for (const TokenSpan& span : tokenizer.encode_spans(line.get<std::string>())) {
    out.push_back({span.id, span.begin, span.end});
  }
  return out;
}

Json decode(const Tokenizer& tokenizer, const Json& line, bool skip_special) {
  return tokenizer.decode(line.get<std::vector<std::int32_t>>(), skip_special);
}

Json answer(const std::string& command, const Tokenizer& tokenizer, const Json& line) {
  if (command == "encode") return encode(tokenizer, line, true);
  if (command == "encode-plain") return encode(tokenizer, line, false);
  if (command == "spans") return spans(tokenizer, line);
  if (command == "decode") return decode(tokenizer, line, false);
  if (command == "decode-skip") return decode(tokenizer, line, true);
  throw ConfigError(concat("text_probe: unknown command '", command, "'"));
}

// {"template": source, "messages": [...], "tools": ..., "special": {...}, "extra": {...},
//  "add_generation_prompt": bool, "spans": bool, "now": seconds} -> {"text": ..., "assistant": [[begin, end,
//  message]]}
Json render(const Json& line) {
  try {
    const ChatTemplate chat_template(line["template"].get<std::string>(), "template",
                                     line.value("special", Json::object()));
    RenderOptions options;
    options.tools = line.value("tools", Json());
    options.extra = line.value("extra", Json::object());
    options.add_generation_prompt = line.value("add_generation_prompt", false);
    options.assistant_spans = line.value("spans", false);
    options.now = line.value("now", std::int64_t{0});
    const Rendered rendered = chat_template.render(line.value("messages", Json::array()), options);
    Json spans = Json::array();
    for (const AssistantSpan& span : rendered.assistant)
      spans.push_back({span.begin, span.end, span.message});
    return {{"text", rendered.text}, {"assistant", spans}};
  } catch (const Error& e) {
    return {{"error", e.what()}};
  }
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "render") {
    std::string line;
    while (std::getline(std::cin, line))
      std::cout << dump_json(render(parse_json(line, "standard input"))) << '\n';
    return 0;
  }
  check<ConfigError>(argc >= 3, "usage: text_probe COMMAND FILE [OUT] | render");
  const std::string command = argv[1];
  const Tokenizer tokenizer = Tokenizer::load(argv[2]);
  if (command == "save") {
    check<ConfigError>(argc == 4, "usage: text_probe save FILE OUT");
    tokenizer.save(argv[3]);
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << dump_json(answer(command, tokenizer, parse_json(line, "standard input"))) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace loongforge

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return loongforge::run(argc, argv);
  } catch (const loongforge::Error& e) {
    std::cerr << e.what() << '\n';
    return e.exit_code();
  }
}
