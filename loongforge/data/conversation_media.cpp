#include "loongforge/data/conversation_media.h"

#include <algorithm>
#include <array>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

using Kind = MediaItem::Kind;

// One of the two kinds in the words of records.
struct Medium {
  Kind kind;
  const char* type;    // of a content part
  const char* mark;    // in texts
  const char* column;  // and its other name
  const char* other_column;
};
constexpr std::array<Medium, 2> kMedia = {{{Kind::kPicture, "image", "<image>", "images", "image"},
                                           {Kind::kClip, "video", "<video>", "videos", "video"}}};

// The value of the first of these keys that is there and not null; null when there is none.
template <typename Keys>
const Json* first_of(const Json& object, const Keys& keys) {
  for (const char* key : keys) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

// Frames a second, as a number or the text of one; 0 when nothing is said.
double frame_rate(const Json& object, const std::string& where) {
  const Json* value = first_of(object, std::array{"fps"});
  if (value == nullptr) return 0;
  const Json number = value->is_string() ? Json::parse(value->get<std::string>(), nullptr, false) : *value;
  check<DataError>(number.is_number() && number.get<double>() > 0, where,
                   ": 'fps': expected a number of frames a second above 0, got ", value->dump());
  return number.get<double>();
}

class MediaTaker {
 public:
  MediaTaker(const Json& record, const MediaResolver& resolve, Conversation& out)
      : resolve_(resolve), out_(out) {
    for (std::size_t k = 0; k < kMedia.size(); ++k) {
      const Json* column = first_of(record, std::array{kMedia[k].column, kMedia[k].other_column});
      if (column == nullptr) continue;
      has_columns_ = true;
      if (kMedia[k].kind == Kind::kClip) rate_ = frame_rate(record, out.where);
      if (column->is_array()) {
        files_[k].assign(column->begin(), column->end());
      } else {
        files_[k] = {*column};
      }
    }
  }

  bool has_columns() const { return has_columns_; }

  // The content of a message, of one kind or the other.
  Json content(const Json& given, const std::string& where) {
    Json parts = Json::array();
    bool plain = true;
    for (const Json& part : given.is_array() ? given : Json::array({given})) {
      if (part.is_string()) {
        plain &= add_text(part.get<std::string>(), where, parts);
      } else {
        plain &= add_part(part, where, parts);
      }
    }
    if (!plain) return parts;
    std::string text;
    for (const Json& part : parts) text += part.at("text").get<std::string>();
    return text;
  }

  void finish() const {
    for (std::size_t k = 0; k < kMedia.size(); ++k) {
      check<DataError>(places_[k] == files_[k].size(), out_.where, ": expected one file a place, got ",
                       places_[k], " places ", kMedia[k].mark, " in the texts and ", files_[k].size(),
                       " files in '", kMedia[k].column, "'; mend the record");
    }
  }

 private:
  // Text, cut at the marks; whether there was none.
  bool add_text(std::string_view text, const std::string& where, Json& parts) {
    bool plain = true;
    while (has_columns_) {
      const std::array at = {text.find(kMedia[0].mark), text.find(kMedia[1].mark)};
      const std::size_t k = at[1] < at[0] ? 1 : 0;
      if (at[k] == std::string_view::npos) break;
      put_text(text.substr(0, at[k]), parts);
      place(k, where, parts);
      text.remove_prefix(at[k] + std::string_view(kMedia[k].mark).size());
      plain = false;
    }
    put_text(text, parts);
    return plain;
  }

  static void put_text(std::string_view text, Json& parts) {
    if (!text.empty()) parts.push_back({{"type", "text"}, {"text", text}});
  }

  // One part of a content list; whether it is text.
  bool add_part(const Json& part, const std::string& where, Json& parts) {
    const std::string type = part.is_object() ? part.value("type", Json()).dump() : part.type_name();
    if (type == "\"text\"" && part.contains("text") && part.at("text").is_string()) {
      put_text(part.at("text").get<std::string>(), parts);
      return true;
    }
    const bool clip = type == "\"video\"";
    check<DataError>(clip || type == "\"image\"" || type == "\"image_url\"", where,
                     ": 'content': expected text or parts of type text, image, image_url or video, got ",
                     type);
    const Json* file = first_of(part, std::array{clip ? "video" : "image", "image_url", "path", "url"});
    if (file != nullptr && file->is_object()) file = first_of(*file, std::array{"url"});
    if (file == nullptr) {
      place(clip ? 1 : 0, where, parts);
    } else {
      add_item(clip ? 1 : 0, *file, frame_rate(part, where), where, parts);
    }
    return false;
  }

  // A place for the next file of the column. Those without one are counted, for `finish`.
  void place(std::size_t k, const std::string& where, Json& parts) {
    const std::size_t next = places_[k]++;
    if (next >= files_[k].size()) return;
    add_item(k, files_[k][next], rate_, concat(where, ": ", kMedia[k].column, " ", next + 1), parts);
  }

  void add_item(std::size_t k, const Json& file, double rate, const std::string& where, Json& parts) {
    MediaItem item{kMedia[k].kind, {}, 0, out_.where};
    const bool frames = file.is_array() && item.is_clip();
    check<DataError>(frames ? !file.empty() : file.is_string(), where, ": expected a path",
                     item.is_clip() ? " or a list of frames" : "", ", got ",
                     frames ? "an empty list" : file.type_name());
    check<DataError>(!frames || rate > 0, where,
                     ": a clip given as frames needs 'fps', frames a second; add it to the record");
    if (frames) item.frame_rate = rate;
    for (const Json& one : frames ? file : Json::array({file})) {
      check<DataError>(one.is_string(), where, ": expected the path of a frame, got ", one.type_name());
      item.sources.push_back(resolve_(one.get<std::string>(), where));
    }
    out_.media.push_back(std::move(item));
    parts.push_back({{"type", kMedia[k].type}});
  }

  const MediaResolver& resolve_;
  Conversation& out_;
  double rate_ = 0;
  bool has_columns_ = false;
  std::array<std::vector<Json>, 2> files_;
  std::array<std::size_t, 2> places_{};
};

}  // namespace

void take_media(const Json& record, const MediaResolver& resolve, std::map<std::string, std::int64_t>* unread,
                Conversation& out) {
  MediaTaker taker(record, resolve, out);
  std::size_t number = 0;
  for (Json& message : out.messages) {
    message["content"] = taker.content(message["content"], concat(out.where, ": message ", ++number));
  }
  taker.finish();
  if (unread == nullptr || taker.has_columns()) return;
  for (const Medium& medium : kMedia) {
    const bool marked = std::ranges::any_of(out.messages, [&](const Json& message) {
      const Json& content = message.at("content");
      return content.is_string() &&
             content.get_ref<const std::string&>().find(medium.mark) != std::string::npos;
    });
    if (marked) ++(*unread)[medium.mark];
  }
}

}  // namespace loongforge
