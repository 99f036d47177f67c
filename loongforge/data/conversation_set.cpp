#include "loongforge/data/conversation_set.h"

#include <algorithm>
#include <mutex>

#include "loongforge/base/error.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/base/parallel.h"
#include "loongforge/base/progress.h"
#include "loongforge/base/random.h"
#include "loongforge/data/manifest.h"

namespace loongforge {
namespace {

constexpr std::int64_t kBlock = 64;
constexpr std::int64_t kShown = 10;  // bad pictures and clips that are named

std::int64_t patches_of(const std::vector<PlacedMedium>& media) {
  std::int64_t patches = 0;
  for (const PlacedMedium& one : media) patches += one.grid.patches();
  return patches;
}

void warn_of_losses(const std::string& name, const ConversationSet::Counts& counts) {
  if (counts.dropped_untrained > 0) {
    log_warning(name, ": ", counts.dropped_untrained, " of ", counts.read,
                " conversations are dropped, because no word of the assistant is left to train on");
  }
  if (counts.dropped_bad_media > 0) {
    log_warning(name, ": ", counts.dropped_bad_media, " of ", counts.read,
                " conversations are dropped, because a picture or clip cannot be read");
  }
  if (counts.dropped_oversize > 0) {
    log_warning(name, ": ", counts.dropped_oversize, " of ", counts.read,
                " conversations are dropped, because their pictures and clips do not fit whole into "
                "train.seq_length or data.max_patches; data.max_pixels makes them smaller");
  }
  if (counts.cut > 0) {
    log_warning(name, ": ", counts.cut, " of ", counts.read, " conversations are cut at train.seq_length (",
                counts.cut_tokens, " tokens left out)");
  }
  warn_of_unread(name, counts.unread_columns);
}

}  // namespace

// What became of one conversation.
struct ConversationSet::Entry {
  TokenisedConversation tokens;
  std::vector<PlacedMedium> media;
  std::string bad_media;  // why a picture or clip cannot be read
};

ConversationSet::ConversationSet(const std::vector<std::string>& files,
                                 const ConversationTokeniser& tokeniser, ConversationSetOptions options)
    : files_(files), options_(std::move(options)) {
  check<InternalError>(!files.empty(), "no file of conversations");
  for (const std::string& file : files) {
    const std::vector<Conversation> conversations = read_conversations(
        file, options_.format, options_.limit, &counts_.unread_columns, options_.caption_prompt);
    for (Entry& one : make_entries(conversations, tokeniser)) add(std::move(one));
  }
  warn_of_losses(
      files.size() == 1 ? files.front() : concat(files.front(), " and ", files.size() - 1, " more"), counts_);
  check<DataError>(size() > 0, files.front(),
                   ": expected at least one conversation with words of the assistant, "
                   "got none in ",
                   counts_.read, " (train.seq_length may cut them off)");
}

ConversationSet::Entry ConversationSet::make_entry(const Conversation& conversation,
                                                   const ConversationTokeniser& tokeniser) const {
  Entry out;
  std::vector<std::int64_t> places;
  if (!reads_media()) {
    out.tokens = tokeniser.tokenise(conversation);
    return out;
  }
  for (const MediaItem& item : conversation.media) {
    try {
      out.media.push_back({item, options_.media->grid(item)});
    } catch (const DataError& error) {
      if (!options_.skip_bad_media) throw;
      out.bad_media = error.what();
      return out;
    }
    places.push_back(options_.media->tokens(out.media.back().grid));
  }
  out.tokens = tokeniser.tokenise(conversation, places);
  return out;
}

std::vector<ConversationSet::Entry> ConversationSet::make_entries(
    const std::vector<Conversation>& conversations, const ConversationTokeniser& tokeniser) const {
  const auto n = static_cast<std::int64_t>(conversations.size());
  std::vector<Entry> out(conversations.size());
  Progress progress("tokenise", "conversations", static_cast<double>(n));
  std::mutex mutex;
  const auto block = [&](std::int64_t b) {
    throw_if_interrupted();
    const std::int64_t end = std::min(n, (b + 1) * kBlock);
    for (std::int64_t i = b * kBlock; i < end; ++i) {
      out[static_cast<std::size_t>(i)] = make_entry(conversations[static_cast<std::size_t>(i)], tokeniser);
    }
    const std::lock_guard lock(mutex);
    progress.add(static_cast<double>(end - b * kBlock));
  };
  parallel_for((n + kBlock - 1) / kBlock, block, options_.threads);
  return out;
}

bool ConversationSet::is_dropped(const Entry& entry, std::int64_t trained) {
  if (!entry.bad_media.empty()) {
    if (counts_.dropped_bad_media++ < kShown) log_warning(entry.bad_media, " (the conversation is skipped)");
    return true;
  }
  // Cutting is counted for dropped conversations too: it may be why nothing is left.
  if (entry.tokens.cut_tokens > 0) {
    ++counts_.cut;
    counts_.cut_tokens += entry.tokens.cut_tokens;
  }
  const bool oversize = options_.max_patches > 0 && patches_of(entry.media) > options_.max_patches;
  if (entry.tokens.cuts_media || oversize) {
    ++counts_.dropped_oversize;
    return true;
  }
  if (trained == 0) ++counts_.dropped_untrained;
  return trained == 0;
}

void ConversationSet::add(Entry entry) {
  const TokenisedConversation& conversation = entry.tokens;
  ++counts_.read;
  // The first token of a conversation is never a label.
  const std::int64_t trained =
      conversation.trained_tokens() - (conversation.trained.empty() ? 0 : conversation.trained.front());
  if (is_dropped(entry, trained)) return;
  starts_.push_back(static_cast<std::int64_t>(ids_.size()));
  lengths_.push_back(static_cast<std::int32_t>(conversation.ids.size()));
  ids_.insert(ids_.end(), conversation.ids.begin(), conversation.ids.end());
  trained_.insert(trained_.end(), conversation.trained.begin(), conversation.trained.end());
  const auto hash = [](const void* data, std::size_t bytes) {
    return hash_bytes({static_cast<const char*>(data), bytes});
  };
  fingerprint_ = mix_hash(fingerprint_, hash(conversation.ids.data(), conversation.ids.size() * 4));
  fingerprint_ = mix_hash(fingerprint_, hash(conversation.trained.data(), conversation.trained.size()));
  if (reads_media()) add_media(std::move(entry.media));
}

void ConversationSet::add_media(std::vector<PlacedMedium> media) {
  patches_.push_back(patches_of(media));
  media_.push_back(std::move(media));
  fingerprint_ = mix_hash(fingerprint_, media_hash(size() - 1));
}

std::span<const PlacedMedium> ConversationSet::media(std::int64_t i) const {
  if (!reads_media()) return {};
  return media_[static_cast<std::size_t>(i)];
}

// By name, size, first and last bytes; reading all of them would take as long as training on them.
std::uint64_t ConversationSet::media_hash(std::int64_t i) const {
  std::uint64_t hash = 0;
  for (const PlacedMedium& one : media(i)) {
    for (const MediaSource& source : one.item.sources)
      hash = mix_hash(hash, hash_bytes(fs::path(source.name).filename().string()));
    const MediaGrid& grid = one.grid;
    hash = mix_hash(hash, hash_bytes(concat(grid.bytes, " ", grid.ends, " ", grid.t, " ", grid.h, " ", grid.w,
                                            " ", grid.seconds)));
  }
  return hash;
}

std::optional<std::vector<PatchRows>> ConversationSet::load_media(std::int64_t i) const {
  std::vector<PatchRows> out;
  try {
    for (const PlacedMedium& one : media(i)) out.push_back(options_.media->load(one.item, one.grid));
  } catch (const DataError& error) {
    if (!options_.skip_bad_media) throw;
    const std::lock_guard lock(mutex_);
    if (skipped_.insert(i).second && std::ssize(skipped_) <= kShown)
      log_warning(error.what(), " (the conversation is skipped)");
    return std::nullopt;
  }
  return out;
}

std::int64_t ConversationSet::skipped() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(skipped_);
}

std::span<const std::int32_t> ConversationSet::ids(std::int64_t i) const {
  const auto n = static_cast<std::size_t>(i);
  return std::span(ids_).subspan(static_cast<std::size_t>(starts_[n]), static_cast<std::size_t>(lengths_[n]));
}

std::span<const std::uint8_t> ConversationSet::trained(std::int64_t i) const {
  const auto n = static_cast<std::size_t>(i);
  return std::span(trained_).subspan(static_cast<std::size_t>(starts_[n]),
                                     static_cast<std::size_t>(lengths_[n]));
}

}  // namespace loongforge
