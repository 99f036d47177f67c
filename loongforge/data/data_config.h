// The configuration block `data` and the sources made from it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loongforge/data/batch_source.h"
#include "loongforge/data/media_loader.h"

namespace loongforge {

class ChatTemplate;
class Fields;
class Tokenizer;
struct VisualInfo;

struct DataConfig {
  std::vector<std::string> train;     // prefixes of prepared datasets, or conversation files for task sft
  std::vector<double> train_weights;  // share of rows of each of `train`; empty: by size
  std::vector<std::string> eval;
  double eval_fraction = 0;  // share of the documents of `train` held out when `eval` is empty
  std::string format = "auto";
  bool pack = true;
  std::int64_t pack_window = 1024;
  std::int64_t max_conversations = 0;
  std::string content_specials = "plain";
  std::string chat_template;  // Jinja file used instead of the model's template; read by the caller
  std::string on_bad_media = "stop";
  std::string caption_prompt;
  std::int64_t min_pixels = 0, max_pixels = 0, max_patches = 0;
  double video_fps = 0;
  std::int64_t video_max_frames = 0;

  void fields(Fields& fields);
  // Keys that contradict each other or have no effect, one sentence each. `conversations`: for task sft.
  std::vector<std::string> violations(bool conversations) const;
  // Keys for pictures and clips that are not at their defaults.
  std::vector<std::string> media_keys() const;
  MediaOptions media_options() const;
};

// How the run wants its pictures and clips; null for a model of text (`visual` null). Throws ConfigError for
// keys without effect, CheckpointError for files of a processor that does not fit the model.
std::shared_ptr<const MediaLoader> make_media_loader(const DataConfig& config, const VisualInfo* visual,
                                                     const std::map<std::string, std::string>& processor);

// What the sources need to know of the run.
struct SourceContext {
  BatchShape shape;
  std::uint64_t seed = 0;
  const Tokenizer* tokenizer = nullptr;         // sft: required; pretrain: checked against the manifest
  const ChatTemplate* chat_template = nullptr;  // sft: required
  std::int64_t embedding_rows = 0;              // ids from here on are refused; 0: not checked
  int threads = 0;
  const VisualInfo* visual = nullptr;            // of a model that reads pictures; must outlive the source
  std::map<std::string, std::string> processor;  // texts of its processor's files by name; may be empty
};

// Endless training sources. Throws ConfigError for keys that do not fit together, DataError for data that is
// missing, empty, garbled or of another kind, CheckpointError for a tokenizer that does not fit.
std::unique_ptr<BatchSource> make_pretrain_source(const DataConfig& config, const SourceContext& context);
std::unique_ptr<BatchSource> make_sft_source(const DataConfig& config, const SourceContext& context);

// Held-out sources: read once, in order, each token counted once; every step is one micro-batch of
// micro_batch_size rows. Null when the configuration names no held-out data.
std::unique_ptr<BatchSource> make_pretrain_eval_source(const DataConfig& config,
                                                       const SourceContext& context);
std::unique_ptr<BatchSource> make_sft_eval_source(const DataConfig& config, const SourceContext& context);

}  // namespace loongforge
