// An error in the source of a template.
#pragma once

#include <stdexcept>
#include <string>

namespace loongforge::jinja {

class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(int line, const std::string& message) : std::runtime_error(message), line(line) {}
  int line;
};

}  // namespace loongforge::jinja
