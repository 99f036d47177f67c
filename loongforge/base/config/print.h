// The texts made from declared fields.
#pragma once

#include <string>

#include "loongforge/base/config/fields.h"
#include "loongforge/base/json.h"

namespace loongforge {

// The whole configuration as YAML that load_config reads back to the same values; with `origins`, each line
// carries where its value came from as a comment.
std::string print_config(const Fields& fields, bool origins);
// Nested object of all values.
Json config_json(const Fields& fields);
// key -> where its value came from ("default", "file.yaml:3:5", "command line").
Json config_origins(const Fields& fields);
// Reference page: one table per block (key, type, default, range, meaning).
std::string config_markdown(const Fields& fields);

}  // namespace loongforge
