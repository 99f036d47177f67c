#include "loongforge/data/webdataset_conversations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/formats/printable.h"
#include "loongforge/formats/webdataset.h"

namespace loongforge {
namespace {

constexpr std::array kPictures = {"jpg", "jpeg", "png", "webp"};
constexpr std::array kAnswers = {"answers", "answer"}, kWords = {"content", "value"};
constexpr std::array kClips = {"mp4", "avi", "mkv", "mov", "webm", "flv", "mpg", "mpeg", "wmv", "ogv"};

// The first of these fields that is there and not null; null when there is none.
template <typename Names>
const char* first_of(const Json& object, const Names& names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return name;
  }
  return nullptr;
}

bool is_clip(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(kClips, [&](const char* known) { return extension == concat(".", known); });
}

// One sample on its way into a record that parse_conversation reads.
class SampleReader {
 public:
  SampleReader(const std::shared_ptr<const WebdatasetShard>& shard, std::int64_t index)
      : shard_(shard),
        sample_(shard->sample(index)),
        where_(concat(shard->path().string(), ": sample '", printable(sample_.key), "'")) {
    for (const char* name : kPictures) {
      if (picture_.empty() && sample_.find(name) != nullptr) picture_ = name;
    }
  }

  const std::string& where() const { return where_; }

  Json record(const std::string& caption_prompt) {
    const SamplePart* part = sample_.find("json");
    const Json json = part == nullptr ? Json() : parse_json<DataError>(text_of(*part), where_ + ": json");
    if (json.is_structured()) read_parts_.insert("json");
    if (json.is_array()) return messages(json);
    if (json.is_object()) {
      note_unread(json);
      if (const Json* texts = read(json, std::array{"texts", "messages"})) return chat(json, *texts);
      if (first_of(json, kAnswers) != nullptr) {
        if (const Json* question = read(json, std::array{"context", "question"}))
          return question_and_answer(*question, *read(json, kAnswers));
      }
      if (const Json* caption = read(json, std::array{"caption", "captions"}))
        return captioned(*caption, caption_prompt);
    }
    const SamplePart* text = find("txt");
    check<DataError>(
        text != nullptr, where_,
        ": expected txt, or json with caption, context and answers, texts or messages, got the parts ",
        parts());
    return captioned(Json(text_of(*text)), caption_prompt);
  }

  MediaResolver resolver() {
    return [this](const std::string& named, const std::string& where) -> MediaSource {
      const SamplePart* part = find(named);
      check<DataError>(part != nullptr, where, ": expected a part '", printable(named),
                       "' of the sample, got the parts ", parts());
      return {concat(shard_->path().string(), ": ", printable(sample_.key), ".", printable(named)),
              MediaBytes{shard_->bytes(*part), shard_}};
    };
  }

  // What neither record() nor the resolver has read.
  void count_unread(UnreadColumns* unread) const {
    if (unread == nullptr) return;
    std::set<std::string> names = unread_;
    for (const SamplePart& part : sample_.parts) {
      if (!read_parts_.contains(part.extension))
        names.insert("*." + printable(part.extension.substr(part.extension.rfind('.') + 1)));
    }
    for (const std::string& name : names) ++(*unread)[name];
  }

 private:
  const SamplePart* find(const std::string& name) {
    const SamplePart* part = sample_.find(name);
    if (part != nullptr) read_parts_.insert(name);
    return part;
  }

  void note_unread(const Json& object) {
    for (const auto& [name, value] : object.items()) {
      if (!value.is_null()) unread_.insert(name);
    }
  }

  // The first of these fields that has a value; null when none has.
  template <typename Names>
  const Json* read(const Json& json, const Names& names) {
    const char* name = first_of(json, names);
    if (name == nullptr) return nullptr;
    unread_.erase(name);
    return &json.at(name);
  }

  std::string parts() const {
    std::string out;
    for (const SamplePart& part : sample_.parts) out += (out.empty() ? "" : ", ") + printable(part.extension);
    return out;
  }

  std::string text_of(const SamplePart& part) const {
    const auto bytes = shard_->bytes(part);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // The text of the first of a list; {"content": text} is one too.
  std::string words(const Json& value, const char* what) const {
    const Json* one = &value;
    if (one->is_array() && !one->empty()) one = &(*one)[0];
    if (one->is_object()) {
      const char* name = first_of(*one, kWords);
      one = name == nullptr ? nullptr : &one->at(name);
    }
    check<DataError>(one != nullptr && one->is_string(), where_, ": expected ", what, " as text, got ",
                     value.dump());
    return one->get<std::string>();
  }

  static Json message(const char* role, Json content) {
    return {{"role", role}, {"content", std::move(content)}};
  }

  // Messages with the sample's picture, which stands first where no mark says otherwise.
  Json with_picture(Json messages) const {
    check<DataError>(!picture_.empty(), where_,
                     ": expected a picture (jpg, jpeg, png or webp), got the parts ", parts());
    const bool marked = std::ranges::any_of(messages, [](const Json& one) {
      return one.at("content").is_string() &&
             one.at("content").get_ref<const std::string&>().find("<image>") != std::string::npos;
    });
    const auto user =
        std::ranges::find_if(messages, [](const Json& one) { return one.at("role") == "user"; });
    if (!marked && user != messages.end())
      (*user)["content"] = concat("<image>", (*user)["content"].get<std::string>());
    return {{"messages", std::move(messages)}, {"images", Json::array({picture_})}};
  }

  Json captioned(const Json& caption, const std::string& prompt) const {
    return with_picture(
        Json::array({message("user", prompt), message("assistant", words(caption, "the caption"))}));
  }

  Json question_and_answer(const Json& question, const Json& answer) const {
    return with_picture(Json::array({message("user", words(question, "the question")),
                                     message("assistant", words(answer, "the answer"))}));
  }

  // Without roles user and assistant take turns.
  Json messages(const Json& list) {
    Json out = Json::array();
    for (const Json& one : list) {
      const char* turn = out.size() % 2 == 0 ? "user" : "assistant";
      out.push_back(message(turn, words(one, "a message")));
      if (!one.is_object()) continue;
      if (one.contains("role")) out.back()["role"] = one.at("role");
      const char* read = first_of(one, kWords);
      for (const auto& [name, value] : one.items()) {
        if (name != "role" && name != read && !value.is_null()) unread_.insert(name);
      }
    }
    return with_picture(std::move(out));
  }

  Json chat(const Json& json, const Json& texts) {
    const bool sharegpt =
        texts.is_array() && !texts.empty() && texts[0].is_object() && texts[0].contains("from");
    Json record = {{sharegpt ? "conversations" : "messages", texts}};
    for (const char* key : {"tools", "system", "fps"}) {
      if (const Json* value = read(json, std::array{key})) record[key] = *value;
    }
    const Json* given = read(json, std::array{"name"});
    const Json names = given != nullptr ? *given : picture_.empty() ? Json::array() : Json::array({picture_});
    const Json* kind = read(json, std::array{"media"});
    const Json media = kind == nullptr ? Json() : *kind;
    for (const Json& name : names.is_array() ? names : Json::array({names})) {
      const bool clip =
          media == "video" || (media != "image" && name.is_string() && is_clip(name.get<std::string>()));
      record[clip ? "videos" : "images"].push_back(name);
    }
    return record;
  }

  std::shared_ptr<const WebdatasetShard> shard_;
  WebdatasetSample sample_;
  std::string where_, picture_;
  std::set<std::string> unread_, read_parts_;
};

}  // namespace

std::vector<Conversation> read_shards(const ShardList& list, const std::string& caption_prompt,
                                      std::int64_t limit, UnreadColumns* unread) {
  std::vector<Conversation> out;
  for (const fs::path& path : list.shards) {
    const auto shard = std::make_shared<const WebdatasetShard>(path);
    for (std::int64_t i = 0; i < shard->size(); ++i) {
      if (limit > 0 && std::ssize(out) >= limit) return out;
      if (!list.keeps(path, i)) continue;
      throw_if_interrupted();
      SampleReader sample(shard, i);
      out.push_back(parse_conversation(sample.record(caption_prompt), ConversationFormat::kAuto,
                                       sample.where(), unread, sample.resolver()));
      sample.count_unread(unread);
    }
  }
  return out;
}

}  // namespace loongforge
