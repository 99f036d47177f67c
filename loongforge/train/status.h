// Live figures of a run: rates, share of the machine's peak, time to go, as JSON and as a line.
#pragma once

#include <cstdint>
#include <string>

#include "loongforge/base/json.h"
#include "loongforge/data/batch.h"
#include "loongforge/nn/model.h"
#include "loongforge/train/step.h"

namespace loongforge {

// What one step did, for its metrics record.
struct StepFacts {
  std::int64_t step = 0;  // from 1
  const StepResult* result = nullptr;
  BatchCounts counts;
  double lr = 0;
  std::int64_t tokens = 0;  // cumulative
  double seconds = 0;
  double data_wait_seconds = 0;
  double epoch = 0;
};

class Status {
 public:
  // `steps`: of the whole run; `done`: when this start begins.
  Status(const Model& model, std::int64_t steps, std::int64_t done);

  // {"step", "loss", "lr", "grad_norm", "tokens", "tokens_per_second", "step_seconds", "peak_memory_bytes",
  // "peak_share", ...}; a skipped step has "skipped" with the reason and neither loss nor norm.
  Json record(const StepFacts& facts);
  // "step 12/40  loss 2.345  812 tokens/s  61 % of peak  4.1 GiB  ETA 1 min 02 s", of the last record.
  std::string line() const;
  // The same with learning rate and norm, for the log.
  std::string log_line() const;
  // Matrix-product rate of all steps so far by the measured peak.
  double mean_peak_share() const { return work_seconds_ > 0 ? work_ / work_seconds_ / peak_ : 0; }

 private:
  double flops(const BatchCounts& counts) const;

  const Model& model_;
  std::int64_t steps_;
  double peak_;  // operations a second
  double passes_;
  double work_ = 0, work_seconds_ = 0;
  double recent_seconds_ = 0;  // moving average of a step
  Json last_;
};

// Facts of this machine for machine.json.
Json machine_facts(int threads);

}  // namespace loongforge
