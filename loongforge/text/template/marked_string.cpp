#include "loongforge/text/template/marked_string.h"

#include <algorithm>

#include "loongforge/text/template/template_error.h"

namespace loongforge::jinja {

void MarkedString::append(std::string_view bytes) {
  if (text.size() + bytes.size() > kMostBytes) fail("a text grows beyond ", kMostBytes >> 20, " MiB");
  text += bytes;
}

void MarkedString::append(const MarkedString& other) {
  const std::size_t base = text.size();
  for (const Mark& mark : other.marks) {
    // Neighbours of one kind stay one mark, so that loops of small pieces do not pile marks up.
    if (!marks.empty() && marks.back().tag == kWords && mark.tag == kWords &&
        marks.back().end == base + mark.begin) {
      marks.back().end = base + mark.end;
    } else {
      marks.push_back({base + mark.begin, base + mark.end, mark.tag});
    }
  }
  append(std::string_view(other.text));
}

MarkedString MarkedString::slice(std::size_t begin, std::size_t end) const {
  MarkedString out;
  end = std::min(end, text.size());
  begin = std::min(begin, end);
  out.text = text.substr(begin, end - begin);
  for (const Mark& mark : marks) {
    const std::size_t from = std::max(mark.begin, begin), to = std::min(mark.end, end);
    if (from < to) out.marks.push_back({from - begin, to - begin, mark.tag});
  }
  return out;
}

void MarkedString::mark_from(std::size_t begin, std::int32_t tag) {
  if (begin < text.size()) marks.push_back({begin, text.size(), tag});
}

bool MarkedString::has_words() const {
  return std::any_of(marks.begin(), marks.end(), [](const Mark& mark) { return mark.tag == kWords; });
}

MarkedString MarkedString::derived(std::string bytes) const {
  MarkedString out(std::move(bytes));
  if (has_words()) out.mark_from(0, kWords);
  return out;
}

}  // namespace loongforge::jinja
