// One training run from its configuration to its last checkpoint: what the command `train` does.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/json.h"
#include "loongforge/train/config.h"

namespace loongforge {

struct RunOptions {
  bool resume = false;            // go on from the last complete checkpoint, or start where there is none
  bool quiet = false;             // no status line and no messages but warnings
  std::string command;            // command that started it; shown, with --resume, when it stops early
  std::int64_t stop_after = 0;    // stop as Ctrl-C would after so many steps of this start; 0: do not
  Json origins = Json::object();  // key -> where its value came from; written to config_origins.json
};

struct RunOutcome {
  enum class Kind { kFinished, kAlreadyFinished, kInterrupted };
  Kind kind = Kind::kFinished;
  int exit_code = 0;  // 0, or 130 after Ctrl-C
  Json summary;       // as written to summary.json; empty object when interrupted
};

// Runs the whole of it: checks the configuration, opens model and data, trains, evaluates, writes the run
// folder train.output_dir. Throws ConfigError (also for a used folder without `resume`), DataError,
// CheckpointError, NumericError, ResourceError.
RunOutcome run_training(const RunConfig& config, const RunOptions& options);

}  // namespace loongforge
