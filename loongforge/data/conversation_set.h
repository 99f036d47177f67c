// Tokenised conversations in memory, with the counts of what was left out.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loongforge/data/conversation.h"
#include "loongforge/data/media_loader.h"
#include "loongforge/data/unread_columns.h"

namespace loongforge {

struct ConversationSetOptions {
  ConversationFormat format = ConversationFormat::kAuto;
  std::int64_t limit = 0;                    // at most so many conversations of each file; 0: all
  int threads = 0;                           // 0: all
  std::shared_ptr<const MediaLoader> media;  // null: the model reads text alone
  bool skip_bad_media = false;               // conversations with a picture or clip that cannot be read
  std::string caption_prompt;                // what users say to pictures that have a caption only
  std::int64_t max_patches = 0;              // conversations with more are dropped; 0: no limit
};

// A picture or clip of a conversation that was kept.
struct PlacedMedium {
  MediaItem item;
  MediaGrid grid;
};

// 5 bytes a token. Conversations are kept in the order of the files; of pictures and clips only what is known
// without their pixels.
class ConversationSet {
 public:
  struct Counts {
    std::int64_t read = 0;
    std::int64_t dropped_untrained = 0;  // no trained token (left after cutting)
    std::int64_t dropped_bad_media = 0;  // a picture or clip cannot be read
    std::int64_t dropped_oversize = 0;   // cutting would go through a picture or clip, or beyond max_patches
    std::int64_t cut = 0, cut_tokens = 0;
    UnreadColumns unread_columns;
  };

  // Throws DataError for what read_conversations refuses, for a picture or clip that cannot be read (unless
  // they are skipped), and when no conversation has a trained token.
  ConversationSet(const std::vector<std::string>& files, const ConversationTokeniser& tokeniser,
                  ConversationSetOptions options);

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::span<const std::int32_t> lengths() const { return lengths_; }
  std::span<const std::int32_t> ids(std::int64_t i) const;
  std::span<const std::uint8_t> trained(std::int64_t i) const;
  // Empty for a model of text.
  std::span<const PlacedMedium> media(std::int64_t i) const;
  std::int64_t tokens_of(const PlacedMedium& one) const { return options_.media->tokens(one.grid); }
  // Patches of all its pictures and clips, of every conversation.
  std::span<const std::int64_t> patches() const { return patches_; }
  // The same number for the same files, by name and size.
  std::uint64_t media_hash(std::int64_t i) const;
  // The patches of media(i); nothing when they cannot be read and such conversations are skipped. Throws
  // DataError naming record and file. Thread-safe.
  std::optional<std::vector<PatchRows>> load_media(std::int64_t i) const;

  bool reads_media() const { return options_.media != nullptr; }
  const Counts& counts() const { return counts_; }
  // Conversations that load_media has skipped so far.
  std::int64_t skipped() const;
  const std::vector<std::string>& files() const { return files_; }
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Entry;
  Entry make_entry(const Conversation& conversation, const ConversationTokeniser& tokeniser) const;
  std::vector<Entry> make_entries(const std::vector<Conversation>& conversations,
                                  const ConversationTokeniser& tokeniser) const;
  void add(Entry entry);
  void add_media(std::vector<PlacedMedium> media);
  bool is_dropped(const Entry& entry, std::int64_t trained);

  std::vector<std::string> files_;
  ConversationSetOptions options_;
  std::vector<std::int32_t> lengths_, ids_;
  std::vector<std::uint8_t> trained_;
  std::vector<std::int64_t> starts_, patches_;
  std::vector<std::vector<PlacedMedium>> media_;  // empty for a model of text
  Counts counts_;
  std::uint64_t fingerprint_ = 0;
  mutable std::mutex mutex_;
  mutable std::set<std::int64_t> skipped_;
};

}  // namespace loongforge
