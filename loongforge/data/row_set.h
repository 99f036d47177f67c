// Data cut into rows of one length: what a source shuffles, blends and turns into batches.
#pragma once

#include <cstdint>

#include "loongforge/base/json.h"
#include "loongforge/data/batch_builder.h"

namespace loongforge {

class RowSet {
 public:
  virtual ~RowSet() = default;

  // Rows of one pass over the data; at least 1, the same in every epoch.
  virtual std::int64_t rows() const = 0;
  // Appends row `row` of pass `epoch`: exactly one row's length of positions, padding included. Thread-safe.
  virtual void add_row(std::int64_t row, std::int64_t epoch, BatchBuilder& out) const = 0;
  // The same number for the same data, order apart.
  virtual std::uint64_t fingerprint() const = 0;
  // Counts of what is in it and of what was dropped or cut.
  virtual Json describe() const = 0;
};

}  // namespace loongforge
