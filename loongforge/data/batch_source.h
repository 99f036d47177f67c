// Where batches come from: a source gives any micro-batch of any step as a pure function of (seed, step), so
// that resuming costs nothing and data order does not depend on the number of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/data/batch.h"

namespace loongforge {

// How rows become micro-batches and steps. global_batch_size is a multiple of micro_batch_size.
struct BatchShape {
  std::int64_t seq_length = 1024;      // tokens a row
  std::int64_t micro_batch_size = 1;   // rows a micro-batch
  std::int64_t global_batch_size = 1;  // rows a step

  std::int64_t micro_batches() const { return global_batch_size / micro_batch_size; }
  // Throws ConfigError unless all are positive and the division is exact.
  void validate() const;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // Micro-batch `index` of `step`; both from 0. Thread-safe. Throws DataError where a token does not fit the
  // model or the files have changed.
  virtual Batch batch(std::int64_t step, std::int64_t index) const = 0;
  // Micro-batches of `step`; the last step of a finite source may have fewer rows in its last one.
  virtual std::int64_t micro_batches(std::int64_t step) const = 0;
  // Number of steps of a source that is read once; nothing for an endless one.
  virtual std::optional<std::int64_t> steps() const { return std::nullopt; }

  // What was read, dropped, cut and padded, for people and for the report.
  virtual Json describe() const = 0;
  // Passes over the data that have begun before `step` ends (1 = no row repeated yet), the largest of a
  // blend.
  virtual double epochs(std::int64_t step) const = 0;

  // Numbers that say where `step` begins and what data it is: {"step", "rows", "seed", "seq_length",
  // "fingerprint"}.
  virtual Json state(std::int64_t step) const = 0;
  // Throws DataError when `saved`, a state() of an earlier process, belongs to other data, seed or row
  // length.
  void check_state(const Json& saved) const;
};

// All micro-batches of one step, and the sums of their counts.
struct StepBatches {
  std::int64_t step = 0;
  std::vector<Batch> micro_batches;
  BatchCounts counts;
};
StepBatches read_step(const BatchSource& source, std::int64_t step);

}  // namespace loongforge
