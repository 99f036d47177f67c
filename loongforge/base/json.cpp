#include "loongforge/base/json.h"

#include <unordered_set>
#include <vector>

namespace loongforge {
namespace {

constexpr int kMaxDepth = 256;

// Builds the value in time linear in its size (nlohmann's own builder searches all keys of an ordered object
// for every new one) and stops at what that one lets through.
class StrictHandler : public nlohmann::json_sax<Json> {
 public:
  explicit StrictHandler(Json& out) : root_(out) {}

  bool null() override { return add(nullptr), true; }
  bool boolean(bool v) override { return add(v), true; }
  bool number_integer(number_integer_t v) override { return add(v), true; }
  bool number_unsigned(number_unsigned_t v) override { return add(v), true; }
  bool number_float(number_float_t v, const string_t&) override { return add(v), true; }
  bool string(string_t& v) override { return add(std::move(v)), true; }
  bool binary(binary_t& v) override { return add(Json::binary(std::move(v))), true; }
  bool start_object(std::size_t) override { return enter(Json::object()); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(Json::array()); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (!levels_.back().keys.insert(name).second) {
      reason_ = concat("(key ", dump_json(Json(name)), " stands twice in one object)");
      return false;
    }
    name_ = std::move(name);
    return true;
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
  struct Level {
    Json* value;  // stays valid: its parent gets no further element before this level ends
    std::unordered_set<std::string> keys;
  };

  Json& add(Json value) {
    if (levels_.empty()) return root_ = std::move(value);
    Json& parent = *levels_.back().value;
    if (parent.is_array()) {
      auto& items = parent.get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return items.back();
    }
    auto& items = parent.get_ref<Json::object_t&>();
    items.emplace_back(std::move(name_), std::move(value));
    return items.back().second;
  }
  bool enter(Json empty) {
    if (levels_.size() == kMaxDepth) {
      reason_ = concat("(nested deeper than ", kMaxDepth, " levels)");
      return false;
    }
    levels_.push_back({&add(std::move(empty)), {}});
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }

  Json& root_;
  std::vector<Level> levels_;
  std::string name_;
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
