#include "loongforge/text/template/assistant_spans.h"

#include <algorithm>
#include <map>

#include "loongforge/text/template/python_text.h"
#include "loongforge/text/template/value.h"

namespace loongforge::jinja {
namespace {

constexpr const char* kMend =
    "mark the assistant's words in the template with {% generation %} ... {% endgeneration %}";

class SpanFinder {
 public:
  explicit SpanFinder(const SpanSearch& search) : search_(search), text_(search.rendered.text) {}

  std::vector<AssistantSpan> run() {
    if (search_.assistants.empty()) return {};
    for (const Mark& mark : search_.rendered.marks) {
      if (mark.tag == kWords) words_.push_back(mark);
    }
    collect_turns();
    return search_.has_generation ? generation_spans() : turn_spans();
  }

 private:
  std::string_view view(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }

  bool has_words(std::size_t begin, std::size_t end) const {
    return std::any_of(words_.begin(), words_.end(),
                       [&](const Mark& mark) { return mark.begin < end && mark.end > begin; });
  }

  // The outermost turn at each place; what is only white space is no turn.
  void collect_turns() {
    std::vector<Mark> marks;
    for (const Mark& mark : search_.rendered.marks) {
      if (mark.tag >= 0 && !strip_left(view(mark.begin, mark.end)).empty()) marks.push_back(mark);
    }
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::size_t covered = 0;
    for (const Mark& mark : marks) {
      if (mark.end <= covered) continue;
      covered = std::max(covered, mark.end);
      turns_[static_cast<std::size_t>(mark.tag)].push_back(mark);
    }
  }

  const Mark& turn_of(std::size_t message) const {
    const auto found = turns_.find(message);
    if (found == turns_.end()) {
      fail("the assistant's bytes cannot be told apart: no part of the text belongs to message ", message,
           "; ", kMend);
    }
    if (found->second.size() > 1) {
      fail("the assistant's bytes cannot be told apart: message ", message, " is written in ",
           found->second.size(), " places; ", kMend);
    }
    return found->second.front();
  }

  // ---- {% generation %} ----

  std::vector<AssistantSpan> generation_spans() {
    std::vector<Mark> marks;
    for (const Mark& mark : search_.rendered.marks) {
      if (mark.tag == kGeneration) marks.push_back(mark);
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
    std::vector<AssistantSpan> spans;
    for (const Mark& mark : marks) {
      if (!spans.empty() && mark.begin < spans.back().end) continue;
      spans.push_back({mark.begin, mark.end, message_at(mark.begin, spans.size())});
    }
    for (const std::size_t message : search_.assistants) {
      const auto turn = turns_.find(message);
      const bool covered =
          std::any_of(spans.begin(), spans.end(), [&](const auto& s) { return s.message == message; });
      if (!covered && turn != turns_.end() &&
          has_words(turn->second.front().begin, turn->second.front().end)) {
        fail("message ", message,
             " of the assistant stands outside of {% generation %}; mend the template so that ",
             "every assistant turn is inside");
      }
    }
    if (spans.empty()) fail("no {% generation %} block was reached; mend the template");
    return spans;
  }

  std::size_t message_at(std::size_t place, std::size_t order) const {
    for (const auto& [message, marks] : turns_) {
      for (const Mark& mark : marks) {
        if (mark.begin <= place && place < mark.end) return message;
      }
    }
    return search_.assistants[std::min(order, search_.assistants.size() - 1)];
  }

  // ---- headers and ends ----

  std::vector<AssistantSpan> turn_spans() {
    std::vector<AssistantSpan> spans;
    headers_ = search_.headers();
    for (const std::size_t message : search_.assistants) {
      const Mark& turn = turn_of(message);
      const std::size_t limit = end_limit(turn.end);
      const std::size_t begin = begin_of(turn.begin, limit, message);
      spans.push_back({begin, end_of(begin, limit, message), message});
    }
    return spans;
  }

  // A generation prompt behind the last turn may have been written inside the loop.
  std::size_t end_limit(std::size_t end) const {
    if (!search_.ends_with_prompt || end != text_.size()) return end;
    for (const std::string& header : headers_) {
      if (!header.empty() && text_.ends_with(header)) return end - header.size();
    }
    return end;
  }

  // The end of the only place in [begin, end) where the template itself wrote `header`; npos when there is
  // none.
  std::size_t behind(const std::string& header, std::size_t begin, std::size_t end,
                     std::size_t message) const {
    std::size_t found = std::string::npos;
    for (std::size_t at = text_.find(header, begin); at != std::string::npos && at + header.size() <= end;
         at = text_.find(header, at + 1)) {
      if (has_words(at, at + header.size())) continue;
      if (found != std::string::npos) {
        fail("the assistant's bytes cannot be told apart: the header of message ", message, " stands twice; ",
             kMend);
      }
      found = at + header.size();
    }
    return found;
  }

  std::size_t begin_of(std::size_t begin, std::size_t end, std::size_t message) const {
    for (const std::string& header : headers_) {
      if (header.empty()) {
        if (plain_start(begin, end)) return begin;
        continue;
      }
      const std::size_t at = behind(header, begin, end, message);
      if (at != std::string::npos) return at;
    }
    for (const std::string& header : headers_) {
      const std::size_t at = behind_shorter(header, begin, end, message);
      if (at != std::string::npos) return at;
    }
    fail("the assistant's bytes cannot be told apart: message ", message,
         " does not start with what add_generation_prompt adds; ", kMend);
  }

  // Without a generation prompt a turn may start with its words at once.
  bool plain_start(std::size_t begin, std::size_t end) const {
    std::size_t first = end;
    for (const Mark& mark : words_) {
      if (mark.end > begin && mark.begin < end) first = std::min(first, std::max(mark.begin, begin));
    }
    return first < end && strip_left(view(begin, first)).empty();
  }

  // The prompt may go on with what a turn of the past no longer shows, such as <think>: then the header is
  // the part before that tag.
  std::size_t behind_shorter(const std::string& header, std::size_t begin, std::size_t end,
                             std::size_t message) const {
    for (std::size_t n = header.size() - std::min<std::size_t>(1, header.size()); n > 0; --n) {
      const char before = header[n - 1], next = header[n];
      const bool cut = (before == '\n' || before == '>' || before == ']') && (next == '<' || next == '[');
      if (!cut) continue;
      const std::size_t at = behind(header.substr(0, n), begin, end, message);
      if (at != std::string::npos) return at;
    }
    return std::string::npos;
  }

  // White space behind the marker is not learned, but white space of the words is.
  std::size_t end_of(std::size_t begin, std::size_t end, std::size_t message) const {
    std::size_t last_word = begin;
    for (const Mark& mark : words_) {
      if (mark.begin < end && mark.end > begin) last_word = std::max(last_word, std::min(mark.end, end));
    }
    const std::size_t last = last_word + strip_right(view(last_word, end)).size();
    // Behind an empty answer, what the template writes may be no marker but part of the answer's frame.
    if (last == last_word || (last_word == begin && !search_.writes_end_marker())) {
      fail("the assistant's bytes cannot be told apart: no end-of-turn marker stands behind message ",
           message, "; write one in the template, or ", kMend);
    }
    return last;
  }

  const SpanSearch& search_;
  const std::string& text_;
  std::vector<Mark> words_;
  std::map<std::size_t, std::vector<Mark>> turns_;
  std::vector<std::string> headers_;
};

}  // namespace

std::vector<AssistantSpan> find_assistant_spans(const SpanSearch& search) {
  return SpanFinder(search).run();
}

}  // namespace loongforge::jinja
