// Runs the text floor for the scripts beside it: one JSON value a line in, one JSON value a line out.
#include <iostream>
#include <string>

#include "loongforge/base/error.h"
#include "loongforge/base/json.h"
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

int run(int argc, char** argv) {
  check<ConfigError>(argc >= 3, "usage: text_probe COMMAND FILE [OUT]");
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
