#include <cstdio>
#include <iostream>
#include <limits>

#include "loongforge/cli/command.h"
#include "loongforge/cli/opened_model.h"
#include "loongforge/text/unicode.h"

namespace loongforge::cli {
namespace {

struct TokenizeArguments {
  std::string tokenizer;
  bool json = false, decode = false, plain = false;
};

// An unsigned number that int64 cannot hold.
bool is_beyond(const Json& id) {
  return id.is_number_unsigned() &&
         id.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

std::vector<std::int32_t> ids_of(const Json& line, const std::string& where) {
  check<DataError>(line.is_array(), where, ": expected a JSON list of ids");
  std::vector<std::int32_t> ids;
  for (const auto& id : line) {
    check<DataError>(id.is_number_integer(), where, ": expected integers, got ", dump_json(id));
    const auto value = id.get<std::int64_t>();
    check<DataError>(value >= 0 && value <= std::numeric_limits<std::int32_t>::max() && !is_beyond(id), where,
                     ": expected ids of 0 to ", std::numeric_limits<std::int32_t>::max(), ", got ",
                     dump_json(id));
    ids.push_back(static_cast<std::int32_t>(value));
  }
  return ids;
}

void tokenize(const TokenizeArguments& arguments) {
  const Tokenizer tokenizer = open_tokenizer(arguments.tokenizer);
  std::int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string where = concat("standard input:", ++number);
    if (arguments.decode) {
      const std::string text = tokenizer.decode(ids_of(parse_json(line, where), where));
      std::printf("%s\n", arguments.json ? dump_json(Json(text)).c_str() : text.c_str());
      continue;
    }
    if (arguments.json) {
      const Json text = parse_json(line, where);
      check<DataError>(text.is_string(), where, ": expected a JSON string");
      line = text.get<std::string>();
    }
    const std::size_t bad = find_invalid_utf8(line);
    check<DataError>(bad == std::string_view::npos, where, ": not UTF-8 at byte ", bad,
                     "; convert it to UTF-8");
    std::printf("%s\n", dump_json(Json(tokenizer.encode(line, !arguments.plain))).c_str());
  }
}

}  // namespace

void add_tokenize(Command app, Outcome&) {
  Command command = app.subcommand("tokenize", "Token ids of each line of standard input, or back");
  auto arguments = std::make_shared<TokenizeArguments>();
  command.option("--tokenizer", arguments->tokenizer, "Model folder or tokenizer.json").required();
  command.flag("--json", arguments->json, "Lines of text are JSON strings");
  command.flag("--decode", arguments->decode, "Lists of ids to text");
  command.flag("--plain", arguments->plain, "Names of special tokens are ordinary text");
  command.example("echo 'Hello world' | loongforge tokenize --tokenizer models/smollm2");
  command.action([arguments] { tokenize(*arguments); });
}

}  // namespace loongforge::cli
