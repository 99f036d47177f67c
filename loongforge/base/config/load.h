// Reading a configuration file into declared fields.
//
// A file is a YAML mapping. `include: other.yaml` (or a list) is read first, relative to the including file,
// and what follows wins. "${env:NAME}" and "${env:NAME:-fallback}" inside a scalar are replaced. Overrides
// "key.path=value" come last; the value is YAML ("[1, 2]", "true", text).
#pragma once

#include <string>
#include <vector>

#include "loongforge/base/config/fields.h"
#include "loongforge/base/files.h"

namespace loongforge {

// Fills the targets. Throws one ConfigError that lists every problem, each with file:line:column, what was
// expected and the nearest valid key.
void load_config(Fields& fields, const fs::path& file, const std::vector<std::string>& overrides);

// Only overrides over the defaults.
void load_overrides(Fields& fields, const std::vector<std::string>& overrides);

// Checks ranges, choices and required values of all fields; returns the violations.
std::vector<std::string> field_violations(const Fields& fields);

// Throws ConfigError listing all `problems`, if there are any.
void throw_if_any(const std::vector<std::string>& problems);

}  // namespace loongforge
