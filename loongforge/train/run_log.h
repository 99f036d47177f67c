// Everything that a run writes down beside its checkpoints: metrics, evaluations, samples, TensorBoard.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/formats/event_file.h"
#include "loongforge/train/json_lines.h"

namespace loongforge {

class RunLog {
 public:
  // Goes on after `last_step` (-1: a fresh run): what earlier starts wrote of later steps is dropped, so
  // every step stands once in each file.
  RunLog(const RunFolder& folder, std::int64_t last_step, bool tensorboard);

  // One object a step; numbers go to TensorBoard as train/KEY.
  void metrics(const Json& record);
  // {"step", "loss", ...} of held-out data; TensorBoard: eval/KEY.
  void evaluation(const Json& record);
  void samples(const std::vector<Json>& records);
  // Makes all of it visible to readers.
  void flush();

  // Held-out record of `step`, or null.
  const Json* evaluation_at(std::int64_t step) const { return evaluations_.find(step); }
  bool has_samples(std::int64_t step) const { return samples_.find(step) != nullptr; }
  const std::vector<Json>& all_metrics() const { return metrics_.records(); }

 private:
  void scalars(const char* group, const Json& record);

  JsonLines metrics_, evaluations_, samples_;
  std::unique_ptr<EventWriter> events_;
};

}  // namespace loongforge
