#include "loongforge/train/setup.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/base/log.h"
#include "loongforge/base/parallel.h"
#include "loongforge/train/open_model.h"

namespace loongforge {
namespace {

std::optional<ChatTemplate> open_chat_template(const RunConfig& config, Tokenizer& tokenizer) {
  if (!config.data.chat_template.empty()) {
    const std::string source = read_file<CheckpointError>(config.data.chat_template);
    tokenizer = tokenizer.with_chat_template(source);
    return ChatTemplate(source, config.data.chat_template, tokenizer.special_tokens_json());
  }
  const std::optional<std::string> source = tokenizer.chat_template();
  const std::string where = config.model.tokenizer_path();
  check<CheckpointError>(source.has_value(), where,
                         ": the tokenizer has no chat template; name a file in data.chat_template");
  return ChatTemplate(*source, where, tokenizer.special_tokens_json());
}

void check_fit(const RunConfig& config, const RunParts& parts) {
  const ModelInfo& info = parts.model->info();
  if (parts.tokenizer) {
    check<CheckpointError>(parts.tokenizer->vocab_size() <= info.vocab_size, "tokenizer: has ids up to ",
                           parts.tokenizer->vocab_size() - 1, ", the model's embedding has ", info.vocab_size,
                           " rows; take the tokenizer that belongs to the model");
  }
  if (info.max_positions > 0 && config.train.seq_length > info.max_positions) {
    log_warning("train.seq_length: ", config.train.seq_length, " is beyond the ", info.max_positions,
                " positions that the model was made for");
  }
}

SourceContext source_context(const RunConfig& config, const RunParts& parts) {
  SourceContext context;
  context.shape = {.seq_length = config.train.seq_length,
                   .micro_batch_size = config.train.micro_batch_size,
                   .global_batch_size = config.train.global_batch_size};
  context.seed = static_cast<std::uint64_t>(config.train.seed);
  context.tokenizer = parts.tokenizer ? &*parts.tokenizer : nullptr;
  context.chat_template = parts.chat_template ? &*parts.chat_template : nullptr;
  context.embedding_rows = parts.model->info().vocab_size;
  context.threads = static_cast<int>(config.train.threads);
  const ModelInfo& info = parts.model->info();
  context.visual = info.visual ? &*info.visual : nullptr;
  context.processor = parts.processor;
  return context;
}

}  // namespace

int configure_computation(const TrainConfig& config) {
  const int threads = config.threads > 0 ? static_cast<int>(config.threads) : cpu_count();
  at::set_num_threads(threads);
  // Memory need not be filled: every operator of ours writes what it reads.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  at::globalContext().setDeterministicAlgorithms(config.deterministic, /*warn_only=*/false);
  return threads;
}

RunParts open_run(const RunConfig& config) {
  RunParts parts;
  parts.task = make_task(config.task);
  OpenedRunModel opened = open_run_model(config);
  parts.model = std::move(opened.model);
  parts.tokenizer = std::move(opened.tokenizer);
  parts.processor = std::move(opened.processor);
  const bool sft = config.task == "sft";
  if (sft) parts.chat_template = open_chat_template(config, *parts.tokenizer);
  check_fit(config, parts);
  parts.model->check_filled();
  const SourceContext context = source_context(config, parts);
  parts.train = sft ? make_sft_source(config.data, context) : make_pretrain_source(config.data, context);
  parts.eval =
      sft ? make_sft_eval_source(config.data, context) : make_pretrain_eval_source(config.data, context);
  if (config.sample.any()) {
    const auto media = make_media_loader(config.data, context.visual, context.processor);
    parts.samples = make_sample_prompts(config, *parts.tokenizer, context.chat_template, media.get());
  }
  return parts;
}

}  // namespace loongforge
