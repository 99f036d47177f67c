#include "loongforge/nn/name_map.h"

#include <algorithm>
#include <cctype>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr std::string_view kHole = "{}";

// The number in place of "{}" (empty where the pattern has none), or nothing when `name` does not fit.
std::optional<std::string> match(std::string_view pattern, std::string_view name) {
  const std::size_t hole = pattern.find(kHole);
  if (hole == std::string_view::npos) {
    return pattern == name ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, hole);
  const std::string_view after = pattern.substr(hole + kHole.size());
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) {
    return std::nullopt;
  }
  const std::string_view number = name.substr(before.size(), name.size() - before.size() - after.size());
  const bool digits =
      std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c); });
  const bool plain = number == "0" || number.front() != '0';
  return digits && plain ? std::optional<std::string>(number) : std::nullopt;
}

std::string put(const std::string& pattern, const std::string& number) {
  const std::size_t hole = pattern.find(kHole);
  if (hole == std::string::npos) return pattern;
  return pattern.substr(0, hole) + number + pattern.substr(hole + kHole.size());
}

}  // namespace

NameMap NameMap::under(const std::string& prefix, const std::string& file_prefix) const {
  NameMap out = *this;
  for (auto& [ours, file] : out.rules_) {
    ours = prefix + ours;
    file = file_prefix + file;
  }
  return out;
}

NameMap& NameMap::operator+=(const NameMap& other) {
  rules_.insert(rules_.end(), other.rules_.begin(), other.rules_.end());
  return *this;
}

std::string NameMap::to_file(const std::string& name) const {
  for (const auto& [ours, file] : rules_) {
    if (const auto number = match(ours, name)) return put(file, *number);
  }
  throw InternalError(concat("parameter '", name, "': the model card declares no name in files for it"));
}

std::optional<std::string> NameMap::from_file(const std::string& name) const {
  for (const auto& [ours, file] : rules_) {
    if (const auto number = match(file, name)) return put(ours, *number);
  }
  return std::nullopt;
}

std::string NameMap::module_to_file(const std::string& linear) const {
  constexpr std::string_view kWeight = ".weight";
  std::string name = to_file(linear + std::string(kWeight));
  check(name.ends_with(kWeight), "parameter '", linear, ".weight': its name in files, '", name,
        "', does not end in .weight");
  name.resize(name.size() - kWeight.size());
  return name;
}

}  // namespace loongforge
