#include <vector>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/regex.h"

namespace loongforge {
namespace {

// One pass over the pattern, keeping where the last atom began.
class Translator {
 public:
  Translator(std::string_view pattern, const std::string& name) : in_(pattern), name_(name) {}

  std::string run() {
    while (pos_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw CheckpointError(concat(name_, ": regular expression '", in_, "': ", what, " at byte ", pos_,
                                 " is not supported; rewrite the pattern without it"));
  }

  void step() {
    const char c = in_[pos_];
    switch (c) {
      case '\\':
        atom_ = out_.size();
        escape(false);
        break;
      case '[':
        atom_ = out_.size();
        character_class();
        break;
      case '(':
        groups_.push_back(out_.size());
        out_ += in_[pos_++];
        break;
      case ')':
        if (!groups_.empty()) {
          atom_ = groups_.back();
          groups_.pop_back();
        }
        out_ += in_[pos_++];
        break;
      case '{':
        interval();
        break;
      case '*':
      case '+':
      case '?':
        out_ += in_[pos_++];
        break;
      default:
        atom_ = out_.size();
        literal();
    }
  }

  void literal() {
    out_ += in_[pos_++];
    while (pos_ < in_.size() && (static_cast<unsigned char>(in_[pos_]) & 0xC0) == 0x80) out_ += in_[pos_++];
  }

  // {n,m} followed by + repeats the whole interval once more.
  void interval() {
    const std::size_t close = in_.find('}', pos_);
    const std::string_view body =
        close == std::string_view::npos ? "" : in_.substr(pos_ + 1, close - pos_ - 1);
    if (body.empty() || body.find_first_not_of("0123456789,") != std::string_view::npos) {
      atom_ = out_.size();
      out_ += "\\{";
      ++pos_;
      return;
    }
    out_ += '{';
    if (body.front() == ',') out_ += '0';
    out_.append(body).append("}");
    pos_ = close + 1;
    if (pos_ < in_.size() && in_[pos_] == '+') {
      out_.insert(atom_, "(?:");
      out_ += ")+";
      ++pos_;
    }
  }

  void escape(bool in_class) {
    if (pos_ + 1 >= in_.size()) refuse("a lone backslash");
    const char c = in_[pos_ + 1];
    const char* mapped = nullptr;
    switch (c) {
      case 's':
        mapped = "\\p{White_Space}";
        break;
      case 'S':
        mapped = "\\P{White_Space}";
        break;
      case 'd':
        mapped = "\\p{Nd}";
        break;
      case 'D':
        mapped = "\\P{Nd}";
        break;
      case 'w':
        mapped = in_class ? "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
                          : "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\xB2\\xB3\\xB9\\xBC-\\xBE]";
        break;
      case 'W':
        if (in_class) refuse("\\W in a class");
        mapped = "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\xB2\\xB3\\xB9\\xBC-\\xBE]";
        break;
      case 'h':
        mapped = in_class ? "0-9A-Fa-f" : "[0-9A-Fa-f]";
        break;
      case 'H':
        if (in_class) refuse("\\H in a class");
        mapped = "[^0-9A-Fa-f]";
        break;
      default:
        break;
    }
    pos_ += 2;
    if (mapped != nullptr) {
      out_ += mapped;
      return;
    }
    out_ += '\\';
    out_ += c;
    // A whole \p{...} is one atom.
    if ((c == 'p' || c == 'P' || c == 'x' || c == 'k' || c == 'g') && pos_ < in_.size() && in_[pos_] == '{') {
      const std::size_t close = in_.find('}', pos_);
      if (close == std::string_view::npos) refuse("an unclosed {");
      out_.append(in_.substr(pos_, close + 1 - pos_));
      pos_ = close + 1;
    }
  }

  void character_class() {
    out_ += in_[pos_++];
    if (pos_ < in_.size() && in_[pos_] == '^') out_ += in_[pos_++];
    bool first = true;
    while (pos_ < in_.size() && (in_[pos_] != ']' || first)) {
      if (in_[pos_] == '\\') {
        escape(true);
      } else if (in_[pos_] == '[' && pos_ + 1 < in_.size() && in_[pos_ + 1] == ':') {
        const std::size_t close = in_.find(":]", pos_);
        if (close == std::string_view::npos) refuse("an unclosed [:");
        out_.append(in_.substr(pos_, close + 2 - pos_));
        pos_ = close + 2;
      } else if (in_[pos_] == '[') {
        refuse("a class inside a class");
      } else if (in_.substr(pos_, 2) == "&&") {
        refuse("&& in a class");
      } else {
        literal();
      }
      first = false;
    }
    if (pos_ >= in_.size()) refuse("an unclosed class");
    out_ += in_[pos_++];
  }

  std::string_view in_;
  const std::string& name_;
  std::string out_;
  std::size_t pos_ = 0, atom_ = 0;
  std::vector<std::size_t> groups_;
};

}  // namespace

std::string oniguruma_to_pcre2(std::string_view pattern, const std::string& name) {
  return Translator(pattern, name).run();
}

}  // namespace loongforge
