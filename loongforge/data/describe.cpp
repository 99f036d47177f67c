#include "loongforge/data/describe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>
#include <vector>

#include "loongforge/base/error.h"
#include "loongforge/data/conversation.h"
#include "loongforge/data/manifest.h"
#include "loongforge/formats/indexed_dataset.h"
#include "loongforge/text/template/chat_template.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// Least, greatest, mean and quantiles, and counts by powers of two: "64-127": 12.
Json length_summary(std::vector<std::int64_t> lengths) {
  if (lengths.empty()) return Json::object();
  std::sort(lengths.begin(), lengths.end());
  const auto at = [&](double share) {
    return lengths[static_cast<std::size_t>(share * static_cast<double>(lengths.size() - 1))];
  };
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  Json histogram = Json::object();
  for (const std::int64_t length : lengths) {
    std::int64_t low = 1;
    while (low * 2 <= length) low *= 2;
    const std::string bin = length == 0 ? "0" : low == 1 ? "1" : concat(low, "-", 2 * low - 1);
    histogram[bin] = histogram.value(bin, 0) + 1;
  }
  return {{"min", lengths.front()},
          {"median", at(0.5)},
          {"mean", std::round(100.0 * sum / static_cast<double>(lengths.size())) / 100.0},
          {"p90", at(0.9)},
          {"max", lengths.back()},
          {"histogram", histogram}};
}

bool is_prefix(const std::string& path) {
  std::error_code ignored;
  return fs::exists(indexed_idx_path(path), ignored) || fs::exists(indexed_bin_path(path), ignored);
}

Json describe_prepared(const std::string& prefix, const DescribeOptions& options) {
  require_prepared(prefix);
  const IndexedDatasetReader reader(prefix);
  Json manifest = read_manifest(prefix);
  if (manifest.is_object()) manifest.erase("sources");
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < reader.size(); ++i) lengths.push_back(reader.length(i));
  Json samples = Json::array();
  for (std::int64_t i = 0; i < std::min(options.samples, reader.size()); ++i) {
    const auto ids = reader.read(i, 0, std::min(options.sample_tokens, reader.length(i)));
    Json sample = {{"document", i}, {"tokens", reader.length(i)}, {"ids", ids}};
    if (options.tokenizer != nullptr) sample["text"] = options.tokenizer->decode(ids);
    samples.push_back(std::move(sample));
  }
  return {{"kind", "prepared"},
          {"prefix", prefix},
          {"documents", reader.size()},
          {"tokens", reader.total_tokens()},
          {"bytes_a_token", token_type_size(reader.token_type())},
          {"lengths", length_summary(std::move(lengths))},
          {"manifest", manifest},
          {"samples", samples}};
}

// Token lengths and the share that is trained, and the first conversations with their trained text. How many
// tokens a picture has, its model knows: conversations with some are not counted here.
void add_tokens(Json& out, const std::vector<Conversation>& conversations, const DescribeOptions& options) {
  const ConversationTokeniser tokeniser(*options.chat_template, *options.tokenizer);
  std::vector<std::int64_t> lengths;
  std::int64_t tokens = 0, trained = 0, untrained = 0;
  for (std::size_t i = 0; i < conversations.size(); ++i) {
    if (!conversations[i].media.empty()) continue;
    const TokenisedConversation one = tokeniser.tokenise(conversations[i]);
    lengths.push_back(static_cast<std::int64_t>(one.ids.size()));
    tokens += lengths.back();
    trained += one.trained_tokens();
    untrained += one.trained_tokens() == 0 ? 1 : 0;
    if (static_cast<std::int64_t>(i) >= options.samples) continue;
    std::vector<std::int32_t> learnt;
    for (std::size_t t = 0; t < one.ids.size(); ++t) {
      if (one.trained[t] != 0) learnt.push_back(one.ids[t]);
    }
    out["samples"][i]["text"] = options.tokenizer->decode(one.ids);
    out["samples"][i]["trained_text"] = options.tokenizer->decode(learnt);
  }
  out["conversations_of_text"] = lengths.size();
  out["tokens"] = tokens;
  out["trained_tokens"] = trained;
  out["without_trained_tokens"] = untrained;
  out["lengths"] = length_summary(std::move(lengths));
}

Json describe_conversations(const std::string& path, const DescribeOptions& options) {
  UnreadColumns unread;
  const auto conversations = read_conversations(path, conversation_format(options.format), 0, &unread);
  std::vector<std::int64_t> turns;
  std::map<std::string, std::int64_t> roles;
  std::int64_t with_tools = 0, pictures = 0, clips = 0;
  for (const Conversation& one : conversations) {
    for (const MediaItem& item : one.media) ++(item.is_clip() ? clips : pictures);
    turns.push_back(static_cast<std::int64_t>(one.messages.size()));
    with_tools += one.tools.is_null() ? 0 : 1;
    for (const Json& message : one.messages) ++roles[message.value("role", "")];
  }
  Json out = {{"kind", "conversations"},
              {"path", path},
              {"conversations", conversations.size()},
              {"messages", length_summary(std::move(turns))},
              {"roles", roles},
              {"with_tools", with_tools},
              {"pictures", pictures},
              {"clips", clips},
              {"unread_columns", unread},
              {"samples", Json::array()}};
  for (std::int64_t i = 0; i < std::min<std::int64_t>(options.samples, std::ssize(conversations)); ++i) {
    out["samples"].push_back({{"messages", conversations[static_cast<std::size_t>(i)].messages}});
  }
  if (options.tokenizer != nullptr && options.chat_template != nullptr)
    add_tokens(out, conversations, options);
  return out;
}

}  // namespace

Json describe_data(const std::string& path, const DescribeOptions& options) {
  return is_prefix(path) ? describe_prepared(path, options) : describe_conversations(path, options);
}

}  // namespace loongforge
