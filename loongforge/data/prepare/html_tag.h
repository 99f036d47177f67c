// Reading one tag of an HTML page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loongforge {

struct HtmlTag {
  std::string name;  // lower case
  bool closing = false;
  std::string_view attributes;  // the raw text between name and '>'
  std::size_t end = 0;          // first byte behind the tag

  // Value of an attribute in lower case without quotes; empty when absent.
  std::string attribute(std::string_view wanted) const;
};

// Reads the tag at html[begin], which is '<'. False when there is no tag here (the '<' stands for itself).
bool read_tag(std::string_view html, std::size_t begin, HtmlTag& tag);

}  // namespace loongforge
