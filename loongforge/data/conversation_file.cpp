#include <array>
#include <memory>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/data/conversation.h"
#include "loongforge/data/webdataset_conversations.h"
#include "loongforge/formats/byte_source.h"
#include "loongforge/formats/jsonl.h"

namespace loongforge {
namespace {

// First byte that is no blank; 0 for a file without any. A byte order mark is passed over.
char first_character(const fs::path& path) {
  const auto source = open_decompressed(path);
  std::array<char, 4096> buffer;
  while (const std::size_t n = source->read(buffer)) {
    for (std::size_t i = 0; i < n; ++i) {
      const char c = buffer[i];
      const bool mark = c == '\xEF' || c == '\xBB' || c == '\xBF';
      if (!mark && c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
    }
  }
  return 0;
}

Json read_array(const std::string& path) {
  const auto source = open_decompressed(path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = source->read(buffer)) text.append(buffer.data(), n);
  const std::string_view body = text;
  return parse_json<DataError>(body.starts_with("\xEF\xBB\xBF") ? body.substr(3) : body, path);
}

class Collector {
 public:
  Collector(const std::string& path, ConversationFormat format, std::int64_t limit, UnreadColumns* unread)
      : resolve_(files_of(fs::path(path).parent_path())), format_(format), limit_(limit), unread_(unread) {}

  // False when the limit is reached.
  bool add(const Json& record, const std::string& where) {
    if (limit_ > 0 && static_cast<std::int64_t>(out.size()) >= limit_) return false;
    if (out.size() % 1024 == 0) throw_if_interrupted();
    out.push_back(parse_conversation(record, format_, where, unread_, resolve_));
    return true;
  }

  std::vector<Conversation> out;

 private:
  MediaResolver resolve_;
  ConversationFormat format_;
  std::int64_t limit_;
  UnreadColumns* unread_;
};

}  // namespace

std::vector<Conversation> read_conversations(const std::string& path, ConversationFormat format,
                                             std::int64_t limit, UnreadColumns* unread,
                                             const std::string& caption_prompt) {
  if (const ShardList list = find_shards(path); !list.shards.empty()) {
    std::vector<Conversation> samples = read_shards(list, caption_prompt, limit, unread);
    check<DataError>(!samples.empty(), path, ": expected at least one sample, got shards without any");
    return samples;
  }
  check<DataError>(
      !fs::is_directory(path), path,
      ": expected a file of conversations, or a folder with WebDataset shards (.tar); it has none");
  const char first = first_character(path);
  check<DataError>(first != 0, path, ": expected conversations, but the file is empty");
  check<DataError>(
      first == '[' || first == '{', path,
      ": expected JSON lines or a JSON list of conversations, got a file that begins with another "
      "character");
  Collector collector(path, format, limit, unread);
  if (first == '[') {
    const Json records = read_array(path);
    std::int64_t number = 0;
    for (const Json& record : records) {
      if (!collector.add(record, concat(path, ": record ", ++number))) break;
    }
  } else {
    JsonlReader reader(path);
    Json record;
    while (reader.next(record) && collector.add(record, reader.where())) {
    }
  }
  check<DataError>(!collector.out.empty(), path, ": expected at least one conversation, got an empty list");
  return std::move(collector.out);
}

}  // namespace loongforge
