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

std::vector<TokenisedConversation> tokenise_all(const std::vector<Conversation>& conversations,
                                                const ConversationTokeniser& tokeniser, int threads) {
  const auto n = static_cast<std::int64_t>(conversations.size());
  std::vector<TokenisedConversation> out(conversations.size());
  Progress progress("tokenise", "conversations", static_cast<double>(n));
  std::mutex mutex;
  const auto block = [&](std::int64_t b) {
    throw_if_interrupted();
    const std::int64_t end = std::min(n, (b + 1) * kBlock);
    for (std::int64_t i = b * kBlock; i < end; ++i) {
      out[static_cast<std::size_t>(i)] = tokeniser.tokenise(conversations[static_cast<std::size_t>(i)]);
    }
    const std::lock_guard lock(mutex);
    progress.add(static_cast<double>(end - b * kBlock));
  };
  parallel_for((n + kBlock - 1) / kBlock, block, threads);
  return out;
}

void warn_of_losses(const std::string& name, const ConversationSet::Counts& counts) {
  if (counts.dropped_untrained > 0) {
    log_warning(name, ": ", counts.dropped_untrained, " of ", counts.read,
                " conversations are dropped, because no word of the assistant is left to train on");
  }
  if (counts.cut > 0) {
    log_warning(name, ": ", counts.cut, " of ", counts.read, " conversations are cut at train.seq_length (",
                counts.cut_tokens, " tokens left out)");
  }
  for (const auto& [column, count] : counts.unread_columns) {
    log_warning(name, ": the field '", column, "' of ", count, " records is not read");
  }
}

}  // namespace

ConversationSet::ConversationSet(const std::vector<std::string>& files, ConversationFormat format,
                                 const ConversationTokeniser& tokeniser, std::int64_t limit, int threads)
    : files_(files) {
  check<InternalError>(!files.empty(), "no file of conversations");
  for (const std::string& file : files) {
    const std::vector<Conversation> conversations =
        read_conversations(file, format, limit, &counts_.unread_columns);
    for (const TokenisedConversation& one : tokenise_all(conversations, tokeniser, threads)) add(one);
  }
  check<DataError>(size() > 0, files.front(),
                   ": expected at least one conversation with words of the assistant, "
                   "got none in ",
                   counts_.read, " (train.seq_length may cut them off)");
  warn_of_losses(
      files.size() == 1 ? files.front() : concat(files.front(), " and ", files.size() - 1, " more"), counts_);
}

void ConversationSet::add(const TokenisedConversation& conversation) {
  ++counts_.read;
  // Cutting is counted for dropped conversations too: it may be why nothing is left.
  if (conversation.cut_tokens > 0) {
    ++counts_.cut;
    counts_.cut_tokens += conversation.cut_tokens;
  }
  // The first token of a conversation is never a label.
  const std::int64_t trained =
      conversation.trained_tokens() - (conversation.trained.empty() ? 0 : conversation.trained.front());
  if (trained == 0) {
    ++counts_.dropped_untrained;
    return;
  }
  starts_.push_back(static_cast<std::int64_t>(ids_.size()));
  lengths_.push_back(static_cast<std::int32_t>(conversation.ids.size()));
  ids_.insert(ids_.end(), conversation.ids.begin(), conversation.ids.end());
  trained_.insert(trained_.end(), conversation.trained.begin(), conversation.trained.end());
  counts_.tokens += static_cast<std::int64_t>(conversation.ids.size());
  counts_.trained_tokens += trained;
  const auto hash = [](const void* data, std::size_t bytes) {
    return hash_bytes({static_cast<const char*>(data), bytes});
  };
  fingerprint_ = mix_hash(fingerprint_, hash(conversation.ids.data(), conversation.ids.size() * 4));
  fingerprint_ = mix_hash(fingerprint_, hash(conversation.trained.data(), conversation.trained.size()));
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
