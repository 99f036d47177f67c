// Builds the batches of the next step in a background thread while the present step runs.
#pragma once

#include <cstdint>
#include <future>

#include "loongforge/data/batch_source.h"

namespace loongforge {

class Prefetcher {
 public:
  // Steps [first, end) of `source`, which must outlive this object; nothing past `end` is read.
  Prefetcher(const BatchSource& source, std::int64_t first, std::int64_t end);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  bool done() const { return next_ >= end_; }
  // Batches of the next step; waits for them. Throws what building them threw.
  StepBatches next();
  // Seconds that the calls of next() have waited so far.
  double waited_seconds() const { return waited_; }

 private:
  void start();
  const BatchSource& source_;
  std::int64_t next_, end_;
  double waited_ = 0;
  std::future<StepBatches> pending_;
};

}  // namespace loongforge
