#include "loongforge/train/config.h"

#include <algorithm>

#include "loongforge/base/config/fields.h"
#include "loongforge/base/config/load.h"
#include "loongforge/base/config/print.h"
#include "loongforge/text/unicode.h"
#include "loongforge/train/task.h"

namespace loongforge {

namespace {

// Of rows and tokens: documents of a micro-batch are cut by 32-bit numbers.
constexpr double kMost = 1 << 30;

}  // namespace

void PrecisionConfig::fields(Fields& f) {
  f.field("precision.compute", compute, "Type of weights and activations in forward and backward.")
      .one_of({"float32", "bfloat16", "float64"});
  f.field("precision.master", master,
          "Type of the weights that the optimizer updates; float64 compute widens it.")
      .one_of({"float32", "float64"});
}

void TrainConfig::fields(Fields& f) {
  f.field("train.steps", steps, "Optimizer steps of the whole run.").at_least(1).unit("steps").required();
  f.field("train.seq_length", seq_length, "Tokens a row.").at_least(2).at_most(kMost).unit("tokens");
  f.field("train.global_batch_size", global_batch_size, "Rows a step.")
      .at_least(1)
      .at_most(kMost)
      .unit("rows");
  f.field("train.micro_batch_size", micro_batch_size,
          "Rows computed at once; the step's loss does not depend on it.")
      .at_least(1)
      .at_most(kMost)
      .unit("rows");
  f.field("train.seed", seed, "Chooses initial weights, data order and dropout.").at_least(0);
  f.field("train.threads", threads, "Threads of the computation; 0: one a CPU.").at_least(0).at_most(4096);
  f.field("train.output_dir", output_dir, "Run folder.").required();
  f.field("train.deterministic", deterministic,
          "Refuse operators whose result is not the same bits every time.");
}

void LoraConfig::fields(Fields& f) {
  f.field("lora.rank", rank, "Rank of the adapters; 0: all weights are trained and there are none.")
      .at_least(0)
      .at_most(65536);
  f.field("lora.alpha", alpha, "The adapters' output is scaled by alpha / rank.").above(0).at_most(1e6);
  f.field("lora.dropout", dropout, "Share of the adapters' input that is dropped while training.")
      .at_least(0)
      .below(1);
  f.field("lora.targets", targets,
          "Linears with an adapter, by the last part of their Hugging Face name, or all-linear.");
}

void CheckpointConfig::fields(Fields& f) {
  f.field("checkpoint.every", every, "Steps between checkpoints; 0: only at the end and on Ctrl-C.")
      .at_least(0)
      .unit("steps");
  f.field("checkpoint.keep", keep, "Newest checkpoints that stay; 0: all.").at_least(0);
  f.field("checkpoint.hf_dtype", hf_dtype, "Type of the weights in hf/; auto: that of precision.compute.")
      .one_of({"auto", "float32", "bfloat16", "float16"});
  f.field("checkpoint.async", async, "Write in a thread while training goes on (costs memory for the copy).");
}

void EvalConfig::fields(Fields& f) {
  f.field("eval.every", every,
          "Steps between evaluations on data.eval; 0: only before the first and after the last.")
      .at_least(0)
      .unit("steps");
  f.field("eval.max_batches", max_batches,
          "Held-out micro-batches of one evaluation, the first of the data; 0: all of it.")
      .at_least(0);
}

void LogConfig::fields(Fields& f) {
  f.field("log.every", every, "Steps between lines in log.txt (and on the screen, where it is no terminal).")
      .at_least(1)
      .unit("steps");
  f.field("log.tensorboard", tensorboard, "Write tensorboard/.");
}

void NumericConfig::fields(Fields& f) {
  f.field("numeric.on_nan", on_nan,
          "What follows a loss or gradient that is not finite: stop with an error, or skip the step and "
          "count it.")
      .one_of({"stop", "skip"});
  f.field("numeric.max_skips", max_skips, "Skipped steps in a row after which the run stops all the same.")
      .at_least(1)
      .unit("steps");
}

void SampleConfig::fields(Fields& f) {
  f.field("sample.prompts", prompts,
          "Prompts that the model answers before the first and after the last step.");
  f.field(
      "sample.conversations", conversations,
      "Conversations as in data.train (task sft) whose last answer the model gives anew at the same times; "
      "the report shows both, with the first picture.");
  f.field("sample.max_conversations", max_conversations, "The first so many of these conversations.")
      .at_least(1);
  f.field("sample.max_new_tokens", max_new_tokens, "Tokens of one answer at most.")
      .at_least(1)
      .unit("tokens");
}

void RecomputeConfig::fields(Fields& f) {
  f.field("recompute.mode", mode,
          "full: activations inside a layer are computed again in backward (less memory).")
      .one_of({"none", "full"});
}

void RunConfig::fields(Fields& f) {
  f.field("task", task, "What is trained.").one_of(task_names());
  model.fields(f);
  data.fields(f);
  train.fields(f);
  optim.fields(f);
  precision.fields(f);
  recompute.fields(f);
  lora.fields(f);
  vision.fields(f, "vision");
  projector.fields(f, "projector");
  language.fields(f, "language");
  checkpoint.fields(f);
  eval.fields(f);
  log.fields(f);
  numeric.fields(f);
  sample.fields(f);
}

namespace {

void model_violations(const RunConfig& c, std::vector<std::string>& out) {
  const ModelConfig& m = c.model;
  for (std::string& text : m.violations()) out.push_back(std::move(text));
  const bool no_tokenizer = m.tokenizer_path().empty();
  if (no_tokenizer && c.task == "sft") out.push_back("model.tokenizer: task sft needs a tokenizer; name one");
  if (!c.sample.conversations.empty() && c.task != "sft") {
    out.push_back(concat("sample.conversations: has no effect with task ", c.task, "; leave it out"));
  }
  if (no_tokenizer && !c.sample.prompts.empty()) {
    out.push_back("model.tokenizer: sample.prompts needs a tokenizer; name one");
  }
  for (std::size_t i = 0; i < c.sample.prompts.size(); ++i) {
    const std::string& prompt = c.sample.prompts[i];
    if (prompt.empty()) out.push_back(concat("sample.prompts: entry ", i + 1, " is empty"));
    if (find_invalid_utf8(prompt) != std::string_view::npos)
      out.push_back(concat("sample.prompts: entry ", i + 1, " is not UTF-8; convert it"));
  }
  if (!c.data.chat_template.empty() && c.task != "sft") {
    out.push_back(concat("data.chat_template: has no effect with task ", c.task, "; leave it out"));
  }
}

void lora_violations(const RunConfig& c, std::vector<std::string>& out) {
  for (const auto& [name, part] : {std::pair("vision", &c.vision), std::pair("projector", &c.projector),
                                   std::pair("language", &c.language)})
    if (part->lora_rank > 0 && !part->train)
      out.push_back(concat(name, ".lora_rank: has no effect with ", name,
                           ".train: false; leave one of them out ",
                           "(adapters alone keep the other weights as they are)"));
  const LoraConfig plain;
  if (c.lora.rank == 0) {
    if (c.lora.alpha != plain.alpha || c.lora.dropout != plain.dropout || c.lora.targets != plain.targets) {
      out.push_back("lora.rank: is 0, so the other lora keys have no effect; set it or leave them out");
    }
    return;
  }
  if (c.model.path.empty() || c.model.init == "random") {
    out.push_back("lora.rank: adapters need a pretrained model; set model.path");
  }
  if (c.checkpoint.hf_dtype != "auto") {
    out.push_back("checkpoint.hf_dtype: has no effect with lora, whose adapters are written in float32");
  }
}

void shape_violations(const RunConfig& c, std::vector<std::string>& out) {
  const TrainConfig& t = c.train;
  if (t.micro_batch_size > 0 && t.global_batch_size % t.micro_batch_size != 0) {
    out.push_back(concat("train.global_batch_size: expected a multiple of train.micro_batch_size (",
                         t.micro_batch_size, "), got ", t.global_batch_size));
  }
  if (t.micro_batch_size > 0 && t.seq_length > static_cast<std::int64_t>(kMost) / t.micro_batch_size) {
    out.push_back(concat("train.seq_length: times train.micro_batch_size (", t.micro_batch_size,
                         ") expected at most ", static_cast<std::int64_t>(kMost), " tokens, got ",
                         t.seq_length, "; make one of them smaller"));
  }
  if (c.eval.every > 0 && c.data.eval.empty() && c.data.eval_fraction <= 0) {
    out.push_back("eval.every: has no effect without held-out data; set data.eval or data.eval_fraction");
  }
  if (c.eval.max_batches > 0 && c.data.eval.empty() && c.data.eval_fraction <= 0) {
    out.push_back(
        "eval.max_batches: has no effect without held-out data; set data.eval or data.eval_fraction");
  }
  if (c.numeric.on_nan == "stop" && c.numeric.max_skips != NumericConfig{}.max_skips) {
    out.push_back("numeric.max_skips: has no effect with numeric.on_nan: stop; take skip or leave it out");
  }
  if (c.precision.compute == "bfloat16" && c.precision.master == "float64") {
    out.push_back("precision.master: expected float32 with precision.compute bfloat16, got float64");
  }
  if (c.precision.compute == "float32" && c.precision.master == "float64") {
    out.push_back("precision.master: expected float32 with precision.compute float32, got float64");
  }
}

// Keys that may change when a run goes on. The second kind changes the numbers, so it is warned of.
constexpr const char* kFree[] = {"train.output_dir", "checkpoint.", "eval.",      "log.",
                                 "numeric.",         "sample.",     "data.train", "data.eval"};
constexpr const char* kNoticed[] = {"train.steps", "train.micro_batch_size", "train.threads", "recompute."};

template <std::size_t N>
bool is_one_of(const std::string& path, const char* const (&keys)[N]) {
  return std::any_of(std::begin(keys), std::end(keys), [&](const std::string& key) {
    return key.ends_with('.') ? path.starts_with(key) : path == key;
  });
}

}  // namespace

std::vector<std::string> violations(const RunConfig& config) {
  RunConfig copy = config;
  Fields fields;
  copy.fields(fields);
  std::vector<std::string> out = field_violations(fields);
  model_violations(config, out);
  lora_violations(config, out);
  shape_violations(config, out);
  config.optim.violations(config.train.steps, out);
  for (auto& text : config.data.violations(config.task == "sft")) out.push_back(std::move(text));
  return out;
}

void validate(const RunConfig& config) {
  throw_if_any(violations(config));
}

Json resume_identity(const RunConfig& config) {
  RunConfig copy = config;
  Fields fields;
  copy.fields(fields);
  Json identity = Json::object();
  for (const Field& field : fields.all()) {
    if (!is_one_of(field.path, kFree)) identity[field.path] = field.value_text();
  }
  return identity;
}

ResumeChanges resume_changes(const Json& saved, const Json& present) {
  ResumeChanges changes;
  for (const auto& [key, value] : present.items()) {
    const auto it = saved.find(key);
    const std::string before = it == saved.end() ? "absent"
                               : it->is_string() ? it->get<std::string>()
                                                 : dump_json(*it);
    const std::string now = value.get<std::string>();
    if (before == now) continue;
    const std::string text = concat(key, ": ", before, " in the checkpoint, ", now, " now");
    (is_one_of(key, kNoticed) ? changes.noticed : changes.refused).push_back(text);
  }
  return changes;
}

std::string resolved_yaml(const RunConfig& config) {
  RunConfig copy = config;
  Fields fields;
  copy.fields(fields);
  return print_config(fields, /*origins=*/false);
}

}  // namespace loongforge
