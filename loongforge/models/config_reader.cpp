#include "loongforge/models/config_reader.h"

#include <cmath>
#include <limits>

#include "loongforge/base/log.h"

namespace loongforge {
namespace {

// Long values (lists of thousands) would drown the message.
std::string shortened(const Json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = dump_json(value);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

}  // namespace

ConfigReader::ConfigReader(const Json& config, std::string where)
    : config_(config), where_(std::move(where)) {
  check<CheckpointError>(config.is_object(), where_, ": expected a JSON object, got ", config.type_name());
}

const Json* ConfigReader::get(const std::string& key) {
  known_.insert(key);
  const auto it = config_.find(key);
  return it == config_.end() || it->is_null() ? nullptr : &*it;
}

void ConfigReader::refuse(const std::string& key, const std::string& expected) const {
  const auto it = config_.find(key);
  const std::string got = it == config_.end() ? "nothing" : shortened(*it);
  throw CheckpointError(concat(where_, ": key '", key, "': expected ", expected, ", got ", got));
}

std::int64_t ConfigReader::integer(const std::string& key, std::int64_t least,
                                   std::optional<std::int64_t> fallback) {
  const Json* value = get(key);
  if (value == nullptr && fallback) return *fallback;
  const std::string expected = concat("a whole number of at least ", least);
  if (value == nullptr || !value->is_number_integer()) refuse(key, expected);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > kMost)
    refuse(key, expected + " below 2^31");
  const auto number = value->get<std::int64_t>();
  if (number < least) refuse(key, expected);
  return number;
}

double ConfigReader::number(const std::string& key, double above, std::optional<double> fallback) {
  const Json* value = get(key);
  if (value == nullptr && fallback) return *fallback;
  const std::string expected = concat("a number above ", above);
  if (value == nullptr || !value->is_number()) refuse(key, expected);
  const auto number = value->get<double>();
  if (!(std::isfinite(number) && number > above)) refuse(key, expected);
  return number;
}

bool ConfigReader::flag(const std::string& key, bool fallback) {
  const Json* value = get(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::string ConfigReader::text(const std::string& key, const std::string& fallback) {
  const Json* value = get(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) refuse(key, "a string");
  return value->get<std::string>();
}

const Json* ConfigReader::object(const std::string& key) {
  const Json* value = get(key);
  if (value != nullptr && !value->is_object()) refuse(key, "an object or null");
  return value;
}

void ConfigReader::only(const std::string& key, const Json& only, const std::string& why) {
  const Json* value = get(key);
  if (value != nullptr && *value != only) refuse(key, concat("null or ", dump_json(only), " (", why, ")"));
}

void ConfigReader::finish() const {
  std::string unknown;
  for (const auto& [key, value] : config_.items()) {
    if (!known_.contains(key)) unknown += (unknown.empty() ? "'" : ", '") + key + "'";
  }
  if (!unknown.empty())
    log_warning(where_, ": keys that the model card does not know have no effect: ", unknown);
}

}  // namespace loongforge
