// What goes wrong while a template runs; the renderer adds the template's name and the line.
#pragma once

#include <stdexcept>
#include <string>

#include "loongforge/base/error.h"

namespace loongforge::jinja {

class TemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw TemplateError(concat(parts...));
}

}  // namespace loongforge::jinja
