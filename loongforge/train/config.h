// The configuration of a training run: one struct a block, all declared with Fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/data_config.h"
#include "loongforge/optim/config.h"
#include "loongforge/train/model_config.h"

namespace loongforge {

class Fields;

struct PrecisionConfig {
  std::string compute = "float32";
  std::string master = "float32";

  void fields(Fields& f);
};

struct TrainConfig {
  std::int64_t steps = 0;
  std::int64_t seq_length = 1024;
  std::int64_t global_batch_size = 8;
  std::int64_t micro_batch_size = 1;
  std::int64_t seed = 1;
  std::int64_t threads = 0;
  std::string output_dir;
  bool deterministic = true;

  void fields(Fields& f);
};

struct LoraConfig {
  std::int64_t rank = 0;
  double alpha = 16;
  double dropout = 0;
  std::vector<std::string> targets = {"q_proj", "v_proj"};

  void fields(Fields& f);
};

struct CheckpointConfig {
  std::int64_t every = 0;
  std::int64_t keep = 2;
  std::string hf_dtype = "auto";
  bool async = true;

  void fields(Fields& f);
};

struct EvalConfig {
  std::int64_t every = 0;
  std::int64_t max_batches = 0;

  void fields(Fields& f);
};

struct LogConfig {
  std::int64_t every = 10;
  bool tensorboard = true;

  void fields(Fields& f);
};

struct NumericConfig {
  std::string on_nan = "stop";
  std::int64_t max_skips = 50;

  void fields(Fields& f);
};

struct SampleConfig {
  std::vector<std::string> prompts;
  std::string conversations;  // file; the model gives the last answer of each anew
  std::int64_t max_conversations = 10;
  std::int64_t max_new_tokens = 64;

  bool any() const { return !prompts.empty() || !conversations.empty(); }
  void fields(Fields& f);
};

struct RecomputeConfig {
  std::string mode = "none";

  void fields(Fields& f);
};

struct RunConfig {
  std::string task = "pretrain";
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimConfig optim;
  PrecisionConfig precision;
  RecomputeConfig recompute;
  LoraConfig lora;
  ComponentConfig vision, projector, language;
  CheckpointConfig checkpoint;
  EvalConfig eval;
  LogConfig log;
  NumericConfig numeric;
  SampleConfig sample;

  // Declares every key, in the order of the members.
  void fields(Fields& f);
};

// Violations that concern more than one setting or a file, one sentence each; empty when the run can start.
std::vector<std::string> violations(const RunConfig& config);
// Throws ConfigError listing all violations.
void validate(const RunConfig& config);

// The settings that decide the numbers of a run, as text by key.
Json resume_identity(const RunConfig& config);

// What differs between the identity in a checkpoint and the present one, one sentence each.
struct ResumeChanges {
  std::vector<std::string> refused;  // the run would be another one
  std::vector<std::string>
      noticed;  // allowed, but later numbers are no longer bit for bit those of an unbroken run
};
ResumeChanges resume_changes(const Json& saved, const Json& present);

// The whole configuration as YAML that runs it again.
std::string resolved_yaml(const RunConfig& config);

}  // namespace loongforge
