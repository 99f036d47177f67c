#include "loongforge/data/batch_source.h"

#include <string>

#include "loongforge/base/error.h"

namespace loongforge {

void BatchShape::validate() const {
  check<ConfigError>(seq_length > 0, "train.seq_length: expected at least 1, got ", seq_length);
  check<ConfigError>(micro_batch_size > 0, "train.micro_batch_size: expected at least 1, got ",
                     micro_batch_size);
  check<ConfigError>(global_batch_size > 0 && global_batch_size % micro_batch_size == 0,
                     "train.global_batch_size: expected a multiple of train.micro_batch_size (",
                     micro_batch_size, "), got ", global_batch_size);
}

void BatchSource::check_state(const Json& saved) const {
  const Json now = state(0);
  for (const char* key : {"seed", "seq_length", "rows_a_step", "fingerprint"}) {
    check<DataError>(saved.contains(key), "saved data position: has no '", key,
                     "'; the checkpoint was made by another program");
    check<DataError>(saved.at(key) == now.at(key), "saved data position: '", key, "' is ",
                     saved.at(key).dump(), ", but this run has ", now.at(key).dump(),
                     "; resume with the data, seed and row length of the checkpoint, or start a new run");
  }
}

StepBatches read_step(const BatchSource& source, std::int64_t step) {
  StepBatches out;
  out.step = step;
  const std::int64_t count = source.micro_batches(step);
  out.micro_batches.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    out.micro_batches.push_back(source.batch(step, i));
    out.counts += out.micro_batches.back().counts;
  }
  return out;
}

}  // namespace loongforge
