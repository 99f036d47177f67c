// Tokenised conversations in memory, with the counts of what was left out.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "loongforge/data/conversation.h"

namespace loongforge {

// 5 bytes a token. Conversations are kept in the order of the files.
class ConversationSet {
 public:
  struct Counts {
    std::int64_t read = 0;
    std::int64_t dropped_untrained = 0;  // no trained token (left after cutting)
    std::int64_t cut = 0, cut_tokens = 0;
    std::int64_t tokens = 0, trained_tokens = 0;
    std::map<std::string, std::int64_t> unread_columns;  // fields of records that nothing reads
  };

  // Reads and tokenises on `threads` threads (0: all). `limit` > 0: at most so many of each file. Throws
  // DataError for what read_conversations refuses and when no conversation has a trained token.
  ConversationSet(const std::vector<std::string>& files, ConversationFormat format,
                  const ConversationTokeniser& tokeniser, std::int64_t limit, int threads);

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::span<const std::int32_t> lengths() const { return lengths_; }
  std::span<const std::int32_t> ids(std::int64_t i) const;
  std::span<const std::uint8_t> trained(std::int64_t i) const;
  const Counts& counts() const { return counts_; }
  const std::vector<std::string>& files() const { return files_; }
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  void add(const TokenisedConversation& conversation);

  std::vector<std::string> files_;
  std::vector<std::int32_t> lengths_, ids_;
  std::vector<std::uint8_t> trained_;
  std::vector<std::int64_t> starts_;
  Counts counts_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace loongforge
