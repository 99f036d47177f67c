#include "loongforge/base/json.h"

#include <set>

namespace loongforge {
namespace {

constexpr int kMaxDepth = 256;

// Builds the value as nlohmann's own parser does, and stops at what that one lets through.
class StrictHandler : public nlohmann::json_sax<Json> {
 public:
  explicit StrictHandler(Json& out) : builder_(out, false) {}

  bool null() override { return builder_.null(); }
  bool boolean(bool v) override { return builder_.boolean(v); }
  bool number_integer(number_integer_t v) override { return builder_.number_integer(v); }
  bool number_unsigned(number_unsigned_t v) override { return builder_.number_unsigned(v); }
  bool number_float(number_float_t v, const string_t& s) override { return builder_.number_float(v, s); }
  bool string(string_t& v) override { return builder_.string(v); }
  bool binary(binary_t& v) override { return builder_.binary(v); }
  bool start_object(std::size_t n) override { return enter() && builder_.start_object(n); }
  bool end_object() override { return leave() && builder_.end_object(); }
  bool start_array(std::size_t n) override { return enter() && builder_.start_array(n); }
  bool end_array() override { return leave() && builder_.end_array(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      reason_ = concat("(key '", name, "' stands twice in one object)");
      return false;
    }
    return builder_.key(name);
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    std::string what = e.what();
    const auto cut = what.find("parse error");
    if (cut != std::string::npos) what = what.substr(cut);
    for (char& c : what) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    reason_ = concat("at byte ", position, ": ", what);
    return false;
  }

  const std::string& reason() const { return reason_; }

 private:
  bool enter() {
    keys_.emplace_back();
    if (keys_.size() > kMaxDepth) {
      reason_ = concat("(nested deeper than ", kMaxDepth, " levels)");
      return false;
    }
    return true;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  std::vector<std::set<std::string>> keys_;
  std::string reason_;
};

}  // namespace

std::string detail::parse_json_into(std::string_view text, Json& out) {
  StrictHandler handler(out);
  const bool parsed = Json::sax_parse(text.begin(), text.end(), &handler);
  if (parsed) return "";
  return handler.reason().empty() ? "(rejected)" : handler.reason();
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json_pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace loongforge
