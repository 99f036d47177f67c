// Source of a template to its tree.
#pragma once

#include <memory>
#include <string_view>

#include "loongforge/text/template/ast.h"

namespace loongforge::jinja {

// Throws SyntaxError.
std::shared_ptr<const Program> parse_program(std::string_view source);

}  // namespace loongforge::jinja
