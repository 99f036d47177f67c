// The readable text of an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace loongforge {

// Tags go, references are decoded, blanks outside <pre> are joined. Paragraphs, headings, lists, tables and
// <pre> stand apart by an empty line, list items begin with "- " or "1. ", cells of a table row are joined by
// " | ". Left out: comments, <title>, <script>, <style>, <template>, <svg>, <noscript>, <iframe>, <nav>,
// elements with role="navigation" or "navigation" in their class or id, and Sphinx's "headerlink" anchors.
// Never throws: broken markup is read as browsers would read it, roughly. `html` is UTF-8, and so is the
// result.
std::string html_text(std::string_view html);

// The charset that the first bytes declare (`<meta charset=...>`), in lower case; empty when none.
std::string html_charset(std::string_view html);

}  // namespace loongforge
