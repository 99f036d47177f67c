#include "loongforge/text/tokenizer/json_access.h"

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

[[noreturn]] void wrong_kind(const nlohmann::json& value, const char* key, const char* expected,
                             const std::string& name) {
  throw CheckpointError(concat(name, ": '", key, "': expected ", expected, ", got ", value.type_name(),
                               "; take the file from its source again"));
}

}  // namespace

const nlohmann::json& json_member(const nlohmann::json& object, const char* key, const std::string& name) {
  if (!object.is_object()) wrong_kind(object, key, "an object that holds it", name);
  const auto found = object.find(key);
  check<CheckpointError>(found != object.end(), name, ": key '", key,
                         "' is missing; take the file from its source again");
  return *found;
}

std::string json_string(const nlohmann::json& object, const char* key, const std::string& name) {
  const auto& value = json_member(object, key, name);
  if (!value.is_string()) wrong_kind(value, key, "a string", name);
  return value.get<std::string>();
}

const nlohmann::json& json_array(const nlohmann::json& object, const char* key, const std::string& name) {
  const auto& value = json_member(object, key, name);
  if (!value.is_array()) wrong_kind(value, key, "an array", name);
  return value;
}

bool json_bool(const nlohmann::json& object, const char* key, bool fallback, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return fallback;
  if (!found->is_boolean()) wrong_kind(*found, key, "true or false", name);
  return found->get<bool>();
}

std::string json_optional_string(const nlohmann::json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) wrong_kind(*found, key, "a string", name);
  return found->get<std::string>();
}

Regex json_pattern(const nlohmann::json& object, const std::string& name) {
  const auto& pattern = json_member(object, "pattern", name);
  if (pattern.is_object() && pattern.contains("Regex"))
    return Regex(json_string(pattern, "Regex", name), name);
  const std::string text = json_string(pattern, "String", name);
  check<CheckpointError>(!text.empty(), name,
                         ": 'pattern': expected a string of at least one character; mend the file");
  return Regex::literal(text);
}

}  // namespace loongforge
