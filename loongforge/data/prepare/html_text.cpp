#include "loongforge/data/prepare/html_text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "loongforge/data/prepare/html_entities.h"
#include "loongforge/data/prepare/html_tag.h"

namespace loongforge {
namespace {

const std::set<std::string_view> kDropped = {"script", "style", "template", "svg",    "noscript",
                                             "iframe", "nav",   "title",    "object", "select"};
const std::set<std::string_view> kRawText = {"script", "style", "title", "noscript", "iframe"};
const std::set<std::string_view> kParagraph = {"p",  "h1", "h2",  "h3",    "h4",   "h5",         "h6",
                                               "dl", "hr", "pre", "table", "form", "blockquote", "figure"};
const std::set<std::string_view> kLine = {"div",     "section", "article", "header", "footer",     "main",
                                          "aside",   "tr",      "dt",      "dd",     "address",    "details",
                                          "summary", "caption", "thead",   "tbody",  "figcaption", "fieldset",
                                          "body",    "center",  "option"};
constexpr const char* kNavigation = "navigation";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool is_navigation(const HtmlTag& tag) {
  return tag.attribute("role") == kNavigation ||
         tag.attribute("class").find(kNavigation) != std::string::npos ||
         tag.attribute("id").find(kNavigation) != std::string::npos;
}

class Extractor {
 public:
  explicit Extractor(std::string_view html) : html_(html), last_tag_end_(html.rfind('>')) {}

  std::string run() {
    while (at_ < html_.size()) {
      if (html_[at_] == '<') {
        markup();
      } else {
        text();
      }
    }
    while (!out_.empty() && is_blank(out_.back())) out_.pop_back();
    return std::move(out_);
  }

 private:
  struct List {
    bool numbered;
    int item = 0;
  };

  void markup() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) {
      skip_past("-->");
    } else if (rest.starts_with("<!") || rest.starts_with("<?")) {
      skip_past(">");
    } else if (HtmlTag tag; can_be_tag(at_) && read_tag(html_, at_, tag)) {
      at_ = tag.end;
      if (tag.closing || !drop(tag)) element(tag);
    } else {
      put("<");
      ++at_;
    }
  }

  // Behind the last '>' nothing is a tag; knowing it saves a search from every '<' there.
  bool can_be_tag(std::size_t at) const {
    return last_tag_end_ != std::string_view::npos && at < last_tag_end_;
  }

  void skip_past(std::string_view end) {
    const std::size_t found = html_.find(end, at_);
    at_ = found == std::string_view::npos ? html_.size() : found + end.size();
  }

  // Passes over an element that is left out. One that is never closed is not dropped, so that a single
  // forgotten end tag does not lose the page; a second search for it would cost quadratic time.
  bool drop(const HtmlTag& tag) {
    const bool unwanted = kDropped.count(tag.name) != 0 || is_navigation(tag) ||
                          (tag.name == "a" && tag.attribute("class").find("headerlink") != std::string::npos);
    if (!unwanted || unclosed_.count(tag.name) != 0) return false;
    const std::size_t end =
        kRawText.count(tag.name) != 0 ? raw_text_end(tag) : matching_end(tag.name, tag.end);
    if (end == std::string_view::npos) {
      unclosed_.insert(tag.name);
      return false;
    }
    at_ = end;
    return true;
  }

  std::size_t raw_text_end(const HtmlTag& tag) const {
    for (std::size_t at = html_.find("</", tag.end); at != std::string_view::npos;
         at = html_.find("</", at + 2)) {
      HtmlTag close;
      if (can_be_tag(at) && read_tag(html_, at, close) && close.name == tag.name) return close.end;
    }
    return std::string_view::npos;
  }

  std::size_t matching_end(const std::string& name, std::size_t from) const {
    int depth = 1;
    for (std::size_t at = html_.find('<', from); at != std::string_view::npos; at = html_.find('<', at + 1)) {
      HtmlTag tag;
      if (!can_be_tag(at)) break;
      if (!read_tag(html_, at, tag) || tag.name != name) continue;
      depth += tag.closing ? -1 : 1;
      if (depth == 0) return tag.end;
    }
    return std::string_view::npos;
  }

  void element(const HtmlTag& tag) {
    const std::string& name = tag.name;
    if (name == "br") {
      line_break();
    } else if (name == "li") {
      item(tag.closing);
    } else if (name == "ul" || name == "ol") {
      list(tag);
    } else if (name == "td" || name == "th") {
      if (!tag.closing) cell();
    } else if (name == "q") {
      put("\"");
    } else if (kParagraph.count(name) != 0) {
      // The first paragraph of a list item begins behind its mark.
      want_breaks(marker_.empty() ? 2 : 1);
      if (name == "pre") preformatted(tag.closing);
    } else if (kLine.count(name) != 0) {
      want_breaks(1);
      if (name == "tr") first_cell_ = true;
    }
  }

  void preformatted(bool closing) {
    pre_ = std::max(0, pre_ + (closing ? -1 : 1));
    if (!closing && at_ < html_.size() && html_[at_] == '\n') ++at_;
  }

  void line_break() {
    if (pre_ > 0) {
      put("\n");
    } else {
      // Two <br> make an empty line, one only a new one.
      breaks_ = std::min(2, breaks_ + 1);
      space_ = false;
    }
  }

  void list(const HtmlTag& tag) {
    if (tag.closing) {
      if (!lists_.empty()) lists_.pop_back();
      want_breaks(lists_.empty() ? 2 : 1);
    } else {
      want_breaks(lists_.empty() ? 2 : 1);
      lists_.push_back({tag.name == "ol"});
    }
    marker_.clear();
  }

  void item(bool closing) {
    // Items stay together, whether their text stands in paragraphs or not.
    if (closing && marker_.empty()) breaks_ = 0;
    want_breaks(1);
    marker_.clear();
    if (closing) return;
    const std::size_t depth = lists_.empty() ? 1 : lists_.size();
    marker_.assign(2 * (depth - 1), ' ');
    const bool numbered = !lists_.empty() && lists_.back().numbered;
    marker_ += numbered ? std::to_string(++lists_.back().item) + ". " : "- ";
  }

  void cell() {
    if (!first_cell_ && breaks_ == 0) {
      space_ = false;
      put(" | ");
    }
    first_cell_ = false;
  }

  void want_breaks(int count) {
    breaks_ = std::max(breaks_, count);
    space_ = false;
  }

  void text() {
    const std::size_t end = std::min(html_.find_first_of("<&", at_), html_.size());
    if (end == at_) {
      entity();
    } else {
      plain(html_.substr(at_, end - at_));
      at_ = end;
    }
  }

  void entity() {
    std::string decoded;
    const std::size_t read = decode_entity(html_.substr(at_), decoded);
    if (read == 0) {
      put("&");
      ++at_;
      return;
    }
    at_ += read;
    if (decoded == "\xC2\xA0") decoded = " ";  // no-break space
    if (decoded == "\xC2\xAD") return;         // soft hyphen
    put(decoded);
  }

  void plain(std::string_view piece) {
    if (pre_ > 0) {
      for (std::size_t i = 0; i < piece.size(); ++i) {
        if (piece[i] != '\r') put(piece.substr(i, 1));
      }
      return;
    }
    std::size_t i = 0;
    while (i < piece.size()) {
      if (is_blank(piece[i])) {
        space_ = true;
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < piece.size() && !is_blank(piece[end])) ++end;
      put(piece.substr(i, end - i));
      i = end;
    }
  }

  // Writes text, with the breaks, the list marker or the blank that wait before it.
  void put(std::string_view piece) {
    if (breaks_ > 0) {
      // Within <pre> the blanks at line ends belong to the text.
      while (!out_.empty() && out_.back() == ' ') out_.pop_back();
      int have = 0;
      while (have < 2 && out_.size() > static_cast<std::size_t>(have) &&
             out_[out_.size() - 1 - static_cast<std::size_t>(have)] == '\n') {
        ++have;
      }
      if (!out_.empty()) out_.append(static_cast<std::size_t>(std::max(0, breaks_ - have)), '\n');
      breaks_ = 0;
    } else if (space_ && !out_.empty() && !is_blank(out_.back())) {
      out_.push_back(' ');
    }
    space_ = false;
    out_ += marker_;
    marker_.clear();
    out_ += piece;
  }

  std::string_view html_;
  std::size_t last_tag_end_;
  std::size_t at_ = 0;
  std::string out_, marker_;
  std::vector<List> lists_;
  std::set<std::string> unclosed_;
  int breaks_ = 0, pre_ = 0;
  bool space_ = false, first_cell_ = true;
};

}  // namespace

std::string html_text(std::string_view html) {
  return Extractor(html).run();
}

std::string html_charset(std::string_view html) {
  std::string head(html.substr(0, 2048));
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::size_t at = head.find("charset");
  if (at == std::string::npos) return "";
  at += 7;
  while (at < head.size() && (is_blank(head[at]) || head[at] == '=' || head[at] == '"' || head[at] == '\''))
    ++at;
  std::size_t end = at;
  while (end < head.size() &&
         (std::isalnum(static_cast<unsigned char>(head[end])) != 0 || head[end] == '-' || head[end] == '_')) {
    ++end;
  }
  return head.substr(at, end - at);
}

}  // namespace loongforge
