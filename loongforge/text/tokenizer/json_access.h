// Values of a tokenizer.json by key; each throws CheckpointError naming file, key, what was expected and got.
#pragma once

#include <string>

#include "loongforge/text/tokenizer/regex.h"
#include "nlohmann/json.hpp"

namespace loongforge {

const nlohmann::json& json_member(const nlohmann::json& object, const char* key, const std::string& name);
std::string json_string(const nlohmann::json& object, const char* key, const std::string& name);
const nlohmann::json& json_array(const nlohmann::json& object, const char* key, const std::string& name);
// `fallback` when the key is missing or null.
bool json_bool(const nlohmann::json& object, const char* key, bool fallback, const std::string& name);
// The string, or empty when the key is missing or null.
std::string json_optional_string(const nlohmann::json& object, const char* key, const std::string& name);
// "pattern": {"Regex": "..."} or {"String": "..."}.
Regex json_pattern(const nlohmann::json& object, const std::string& name);

}  // namespace loongforge
