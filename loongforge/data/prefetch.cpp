#include "loongforge/data/prefetch.h"

#include "loongforge/base/error.h"
#include "loongforge/base/process.h"

namespace loongforge {

Prefetcher::Prefetcher(const BatchSource& source, std::int64_t first, std::int64_t end)
    : source_(source), next_(first), end_(end) {
  start();
}

Prefetcher::~Prefetcher() {
  if (pending_.valid()) pending_.wait();
}

void Prefetcher::start() {
  if (done()) return;
  pending_ = std::async(std::launch::async, [this, step = next_] { return read_step(source_, step); });
}

StepBatches Prefetcher::next() {
  check<InternalError>(pending_.valid(), "prefetcher: no step is left");
  const double before = monotonic_seconds();
  StepBatches batches = pending_.get();
  waited_ += monotonic_seconds() - before;
  ++next_;
  start();
  return batches;
}

}  // namespace loongforge
