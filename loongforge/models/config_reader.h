// Typed reading of a model's config.json with messages that name the file and the key.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "loongforge/base/json.h"

namespace loongforge {

// Every key that is read counts as known; `finish` reports the others. Absent and null are the same. All
// calls throw CheckpointError: "<where>: key '<key>': expected ..., got ...".
class ConfigReader {
 public:
  ConfigReader(const Json& config, std::string where);

  // Whole number of at least `least`; required without `fallback`.
  std::int64_t integer(const std::string& key, std::int64_t least, std::optional<std::int64_t> fallback = {});
  // Finite number above `above`; required without `fallback`.
  double number(const std::string& key, double above, std::optional<double> fallback = {});
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key, const std::string& fallback);
  // The object under the key, or null. Its own keys are read with a reader of its own.
  const Json* object(const std::string& key);
  // The key must be absent, null or `only` (anything else changes the model in a way that is not supported).
  void only(const std::string& key, const Json& only, const std::string& why);
  // Counts the key as known: it changes nothing here.
  void ignore(const std::string& key) { known_.insert(key); }
  // Warns once about the keys nobody read.
  void finish() const;
  // Throws for `key` with the words "expected <expected>, got <value>".
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;
  const std::string& where() const { return where_; }

 private:
  // Null when absent or null.
  const Json* get(const std::string& key);
  const Json& config_;
  std::string where_;
  std::set<std::string> known_;
};

}  // namespace loongforge
