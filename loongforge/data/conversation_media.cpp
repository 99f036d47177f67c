#include "loongforge/data/conversation_media.h"

#include <algorithm>
#include <array>

#include "loongforge/base/error.h"
#include "loongforge/media/frame_sampling.h"

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

// The value of the key; null when it is absent or null.
const Json* value_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// The first of these keys that has a value; null when none has.
template <typename Keys>
const char* first_of(const Json& object, const Keys& keys) {
  const auto found =
      std::ranges::find_if(keys, [&](const char* key) { return value_of(object, key) != nullptr; });
  return found == keys.end() ? nullptr : *found;
}

bool is_filled(const Json* value) {
  return value != nullptr && !(value->is_array() && value->empty()) && *value != "";
}

// The column of either name; null when the record has none.
const Json* column_of(const Json& record, const Medium& medium, const std::string& where) {
  const Json *first = value_of(record, medium.column), *second = value_of(record, medium.other_column);
  check<DataError>(!is_filled(first) || !is_filled(second), where, ": expected files in '", medium.column,
                   "' or in '", medium.other_column, "', got both; put all of them into '", medium.column,
                   "'");
  return is_filled(second) || first == nullptr ? second : first;
}

// Frames a second, as a number or the text of one; 0 when nothing is said.
double frame_rate(const Json& object, const std::string& where) {
  const Json* value = value_of(object, "fps");
  if (value == nullptr) return 0;
  const Json number = value->is_string() ? Json::parse(value->get<std::string>(), nullptr, false) : *value;
  const double rate = number.is_number() ? number.get<double>() : 0;
  check<DataError>(rate >= kLeastFrameRate && rate <= kMostFrameRate, where,
                   ": 'fps': expected a number of frames a second from ", kLeastFrameRate, " to ",
                   kMostFrameRate, ", got ", value->dump(), "; mend the record");
  return rate;
}

class MediaTaker {
 public:
  MediaTaker(const Json& record, const MediaResolver& resolve, Conversation& out)
      : resolve_(resolve), out_(out), rate_unread_(value_of(record, "fps") != nullptr) {
    for (std::size_t k = 0; k < kMedia.size(); ++k) {
      const Json* column = column_of(record, kMedia[k], out.where);
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

  void finish(UnreadColumns* unread) const {
    for (std::size_t k = 0; k < kMedia.size(); ++k) {
      check<DataError>(places_[k] == files_[k].size(), out_.where, ": expected one file a place, got ",
                       places_[k], " places ", kMedia[k].mark, " in the texts and ", files_[k].size(),
                       " files in '", kMedia[k].column, "'; mend the record");
    }
    if (unread == nullptr) return;
    std::set<std::string> names = unread_;
    if (rate_unread_) names.insert("fps");
    for (const std::string& name : names) ++(*unread)[name];
  }

 private:
  // Text, cut at the marks; whether there was none.
  bool add_text(std::string_view text, const std::string& where, Json& parts) {
    bool plain = true;
    if (!has_columns_) note_marks(text);
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
      note_unread(part, {"type", "text"});
      const std::string_view text = part.at("text").get_ref<const std::string&>();
      note_marks(text);
      put_text(text, parts);
      return true;
    }
    const bool clip = type == "\"video\"";
    check<DataError>(clip || type == "\"image\"" || type == "\"image_url\"", where,
                     ": 'content': expected text or parts of type text, image, image_url or video, got ",
                     type);
    const char* key = first_of(part, std::array{clip ? "video" : "image", "image_url", "path", "url"});
    const Json* file = key == nullptr ? nullptr : &part.at(key);
    if (file != nullptr && file->is_object()) {
      note_unread(*file, {"url"});
      file = value_of(*file, "url");
    }
    const bool frames = clip && file != nullptr && file->is_array();
    note_unread(part, {"type", key == nullptr ? "type" : key, frames ? "fps" : "type"});
    if (file == nullptr) {
      place(clip ? 1 : 0, where, parts);
    } else {
      add_item(clip ? 1 : 0, *file, frames ? frame_rate(part, where) : 0, where, parts);
    }
    return false;
  }

  // Marks that stay text.
  void note_marks(std::string_view text) {
    for (const Medium& medium : kMedia) {
      if (text.find(medium.mark) != std::string_view::npos) unread_.insert(medium.mark);
    }
  }

  // Fields with a value that are not among `read`.
  void note_unread(const Json& object, const std::set<std::string_view>& read) {
    for (const auto& [name, value] : object.items()) {
      if (!value.is_null() && !read.contains(name)) unread_.insert(name);
    }
  }

  // A place for the next file of the column. Those without one are counted, for `finish`.
  void place(std::size_t k, const std::string& where, Json& parts) {
    const std::size_t next = places_[k]++;
    if (next >= files_[k].size()) return;
    if (kMedia[k].kind == Kind::kClip && files_[k][next].is_array()) rate_unread_ = false;
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
  bool rate_unread_, has_columns_ = false;
  std::array<std::vector<Json>, 2> files_;
  std::array<std::size_t, 2> places_{};
  std::set<std::string> unread_;
};

}  // namespace

void take_media(const Json& record, const MediaResolver& resolve, UnreadColumns* unread, Conversation& out) {
  MediaTaker taker(record, resolve, out);
  std::size_t number = 0;
  for (Json& message : out.messages) {
    message["content"] = taker.content(message["content"], concat(out.where, ": message ", ++number));
  }
  taker.finish(unread);
}

}  // namespace loongforge
