#include "loongforge/data/data_config.h"

#include "loongforge/base/config/fields.h"
#include "loongforge/base/config/load.h"
#include "loongforge/base/error.h"
#include "loongforge/data/conversation_rows.h"
#include "loongforge/data/document_rows.h"
#include "loongforge/data/manifest.h"
#include "loongforge/data/row_source.h"
#include "loongforge/data/shard_list.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {
namespace {

// DATA-3: an id without an embedding row must never reach the model.
void check_vocabulary(const SourceContext& context) {
  if (context.tokenizer == nullptr || context.embedding_rows <= 0) return;
  check<CheckpointError>(context.tokenizer->vocab_size() <= context.embedding_rows, "tokenizer: knows ",
                         context.tokenizer->vocab_size(), " ids, but the model's embedding has ",
                         context.embedding_rows,
                         " rows; use the model's own tokenizer or a model with more rows");
}

RowSourceOptions source_options(const DataConfig& config, const SourceContext& context, bool endless) {
  RowSourceOptions options;
  options.shape = context.shape;
  options.seed = context.seed;
  options.endless = endless;
  if (endless) options.weights = config.train_weights;
  options.embedding_rows = context.embedding_rows;
  options.visual = context.visual;
  return options;
}

// With weights each entry is a set of its own; without, all entries are mixed as one.
std::vector<std::vector<std::string>> groups_of(const DataConfig& config) {
  if (config.train_weights.empty()) return {config.train};
  std::vector<std::vector<std::string>> groups;
  for (const std::string& entry : config.train) groups.push_back({entry});
  return groups;
}

DocumentSet open_documents(const std::vector<std::string>& prefixes, const SourceContext& context,
                           DocumentSplit split) {
  for (const std::string& prefix : prefixes) {
    require_prepared(prefix);
    check_tokenizer_fits(prefix, context.tokenizer, context.embedding_rows);
  }
  return DocumentSet(prefixes, split);
}

ConversationTokeniser conversation_tokeniser(const DataConfig& config, const SourceContext& context) {
  check<ConfigError>(context.tokenizer != nullptr && context.chat_template != nullptr,
                     "task sft: expected a model directory with tokenizer and chat template; give model.path "
                     "or data.chat_template");
  ConversationOptions options;
  options.max_tokens = context.shape.seq_length;
  options.specials =
      config.content_specials == "control" ? ContentSpecials::kControl : ContentSpecials::kPlain;
  options.visual = context.visual;
  return ConversationTokeniser(*context.chat_template, *context.tokenizer, options);
}

std::shared_ptr<const ConversationSet> read_set(const DataConfig& config, const SourceContext& context,
                                                const std::vector<std::string>& files) {
  ConversationSetOptions options;
  options.format = conversation_format(config.format);
  options.limit = config.max_conversations;
  options.threads = context.threads;
  options.media = make_media_loader(config, context.visual, context.processor);
  options.skip_bad_media = config.on_bad_media == "skip";
  options.max_patches = config.max_patches;
  options.caption_prompt = config.caption_prompt;
  return std::make_shared<ConversationSet>(files, conversation_tokeniser(config, context),
                                           std::move(options));
}

ConversationRowsOptions row_options(const DataConfig& config, const SourceContext& context) {
  ConversationRowsOptions options;
  options.seq_length = context.shape.seq_length;
  options.pack = config.pack;
  options.window = config.pack_window;
  options.max_patches = config.max_patches;
  options.threads = context.threads;
  return options;
}

std::unique_ptr<BatchSource> single(std::unique_ptr<RowSet> set, RowSourceOptions options) {
  std::vector<std::unique_ptr<RowSet>> sets;
  sets.push_back(std::move(set));
  return std::make_unique<RowSource>(std::move(sets), std::move(options));
}

void media_fields(DataConfig& c, Fields& f) {
  f.field("data.on_bad_media", c.on_bad_media,
          "A picture or clip that cannot be read: stop the run, or skip its whole conversation and count it.")
      .one_of({"stop", "skip"});
  f.field("data.caption_prompt", c.caption_prompt,
          "What users say to pictures of WebDataset samples that have a caption only; empty: nothing.");
  f.field("data.min_pixels", c.min_pixels,
          "Least pixels of a picture or a frame; 0: the model's processor says.")
      .at_least(0)
      .at_most(kMostPixels);
  f.field("data.max_pixels", c.max_pixels,
          "Most pixels of a picture or a frame, larger ones are reduced; 0: the model's processor says.")
      .at_least(0)
      .at_most(kMostPixels);
  f.field(
       "data.max_patches", c.max_patches,
       "Most patches of all pictures and clips of a row; a conversation with more is dropped; 0: no limit.")
      .at_least(0);
  f.field("data.video_fps", c.video_fps, "Frames of a clip that are seen; 0: the model's processor says.")
      .unit("1/s")
      .at_least(0)
      .at_most(kMostFrameRate);
  f.field("data.video_max_frames", c.video_max_frames,
          "Most frames of a clip; 0: the model's processor says.")
      .at_least(0)
      .at_most(kMostFrames);
}

}  // namespace

std::shared_ptr<const MediaLoader> make_media_loader(const DataConfig& config, const VisualInfo* visual,
                                                     const std::map<std::string, std::string>& processor) {
  if (visual == nullptr) {
    const std::vector<std::string> keys = config.media_keys();
    check<ConfigError>(keys.empty(), keys.empty() ? "" : keys.front(),
                       ": has no effect with a model that reads text alone; leave it out");
    return nullptr;
  }
  return std::make_shared<MediaLoader>(*visual, processor, config.media_options());
}

MediaOptions DataConfig::media_options() const {
  return {min_pixels, max_pixels, video_fps, video_max_frames};
}

void DataConfig::fields(Fields& f) {
  f.field("data.train", train,
          "Prefixes made by `prepare` (task pretrain), or files of conversations and WebDataset shards: "
          "X.tar, X-{000..009}.tar, a folder (task sft).");
  f.field("data.train_weights", train_weights,
          "Share of rows that each entry of data.train gives; empty: all are mixed, each token once a pass.");
  f.field("data.eval", eval, "Held-out data of the same kind, read once, in order, at each evaluation.");
  f.field("data.eval_fraction", eval_fraction,
          "Share of the documents or conversations of data.train held out where data.eval is empty.")
      .at_least(0)
      .below(1);
  f.field("data.format", format, "Form of conversation files.")
      .one_of({"auto", "openai", "sharegpt", "alpaca"});
  f.field("data.pack", pack, "Pack several conversations into a row; false: one a row, padded.");
  f.field("data.pack_window", pack_window, "Conversations that are packed together.").at_least(1);
  f.field("data.max_conversations", max_conversations, "At most so many of each file; 0: all.").at_least(0);
  f.field("data.content_specials", content_specials,
          "Names of special tokens typed inside messages: plain text, or the control tokens themselves.")
      .one_of({"plain", "control"});
  f.field("data.chat_template", chat_template,
          "Jinja file used instead of the chat template of the model; empty: the model's.");
  media_fields(*this, f);
}

std::vector<std::string> DataConfig::media_keys() const {
  std::vector<std::string> keys;
  if (on_bad_media != "stop") keys.push_back("data.on_bad_media");
  if (!caption_prompt.empty()) keys.push_back("data.caption_prompt");
  if (min_pixels != 0) keys.push_back("data.min_pixels");
  if (max_pixels != 0) keys.push_back("data.max_pixels");
  if (max_patches != 0) keys.push_back("data.max_patches");
  if (video_fps != 0) keys.push_back("data.video_fps");
  if (video_max_frames != 0) keys.push_back("data.video_max_frames");
  return keys;
}

std::vector<std::string> DataConfig::violations(bool conversations) const {
  std::vector<std::string> out;
  if (train.empty()) out.push_back("data.train: is empty; name the prepared data or conversation files");
  if (!train_weights.empty() && train_weights.size() != train.size()) {
    out.push_back(concat("data.train_weights: expected ", train.size(),
                         " numbers, one for each entry of data.train, got ", train_weights.size()));
  }
  if (!eval.empty() && eval_fraction > 0) {
    out.push_back("data.eval_fraction: has no effect beside data.eval; leave one of them out");
  }
  if (conversations) {
    if (!pack && pack_window != DataConfig().pack_window) {
      out.push_back("data.pack_window: has no effect with data.pack: false; leave it out");
    }
    const auto is_webdataset = [](const std::string& entry) { return !find_shards(entry).shards.empty(); };
    if (!caption_prompt.empty() && std::ranges::none_of(train, is_webdataset) &&
        std::ranges::none_of(eval, is_webdataset)) {
      out.push_back("data.caption_prompt: has no effect without WebDataset shards; leave it out");
    }
    return out;
  }
  const DataConfig plain;
  const auto unused = [&](bool changed, const char* key) {
    if (changed) out.push_back(concat(key, ": has no effect with task pretrain; leave it out"));
  };
  unused(format != plain.format, "data.format");
  unused(pack != plain.pack, "data.pack");
  unused(pack_window != plain.pack_window, "data.pack_window");
  unused(max_conversations != plain.max_conversations, "data.max_conversations");
  unused(content_specials != plain.content_specials, "data.content_specials");
  for (const std::string& key : media_keys()) unused(true, key.c_str());
  return out;
}

std::unique_ptr<BatchSource> make_pretrain_source(const DataConfig& config, const SourceContext& context) {
  throw_if_any(config.violations(false));
  check_vocabulary(context);
  const DocumentSplit split{config.eval.empty() ? config.eval_fraction : 0, false};
  std::vector<std::unique_ptr<RowSet>> sets;
  for (const auto& group : groups_of(config)) {
    sets.push_back(std::make_unique<DocumentRows>(open_documents(group, context, split),
                                                  context.shape.seq_length, context.seed));
  }
  return std::make_unique<RowSource>(std::move(sets), source_options(config, context, true));
}

std::unique_ptr<BatchSource> make_pretrain_eval_source(const DataConfig& config,
                                                       const SourceContext& context) {
  if (config.eval.empty() && config.eval_fraction <= 0) return nullptr;
  check_vocabulary(context);
  const DocumentSplit split{config.eval.empty() ? config.eval_fraction : 0, true};
  DocumentSet documents = open_documents(config.eval.empty() ? config.train : config.eval, context, split);
  return single(std::make_unique<DocumentRows>(std::move(documents), context.shape.seq_length, std::nullopt),
                source_options(config, context, false));
}

std::unique_ptr<BatchSource> make_sft_source(const DataConfig& config, const SourceContext& context) {
  throw_if_any(config.violations(true));
  check_vocabulary(context);
  std::vector<std::unique_ptr<RowSet>> sets;
  for (const auto& group : groups_of(config)) {
    ConversationRowsOptions options = row_options(config, context);
    options.seed = context.seed;
    options.held_out_fraction = config.eval.empty() ? config.eval_fraction : 0;
    sets.push_back(std::make_unique<ConversationRows>(read_set(config, context, group), options));
  }
  return std::make_unique<RowSource>(std::move(sets), source_options(config, context, true));
}

std::unique_ptr<BatchSource> make_sft_eval_source(const DataConfig& config, const SourceContext& context) {
  if (config.eval.empty() && config.eval_fraction <= 0) return nullptr;
  check_vocabulary(context);
  ConversationRowsOptions options = row_options(config, context);
  options.held_out_fraction = config.eval.empty() ? config.eval_fraction : 0;
  options.held_out = true;
  const auto& files = config.eval.empty() ? config.train : config.eval;
  return single(std::make_unique<ConversationRows>(read_set(config, context, files), options),
                source_options(config, context, false));
}

}  // namespace loongforge
