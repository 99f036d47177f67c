#include "loongforge/train/run_log.h"

namespace loongforge {

RunLog::RunLog(const RunFolder& folder, std::int64_t last_step, bool tensorboard)
    : metrics_(folder.metrics(), last_step),
      evaluations_(folder.root() / "eval.jsonl", last_step),
      samples_(folder.root() / "samples.jsonl", last_step) {
  if (!tensorboard) return;
  // Curves of a run that starts afresh must not mix with those of an attempt that left no checkpoint.
  if (last_step < 0) remove_tree(folder.tensorboard());
  make_directories(folder.tensorboard());
  events_ = std::make_unique<EventWriter>(folder.tensorboard());
  if (last_step >= 0) events_->restart(last_step + 1);
}

void RunLog::scalars(const char* group, const Json& record) {
  if (!events_) return;
  const auto step = record.at("step").get<std::int64_t>();
  for (const auto& [key, value] : record.items()) {
    if (value.is_number() && key != "step" && key != "time") {
      events_->scalar(concat(group, "/", key), value.get<double>(), step);
    }
  }
}

void RunLog::metrics(const Json& record) {
  metrics_.append(record);
  scalars("train", record);
}

void RunLog::evaluation(const Json& record) {
  evaluations_.append(record);
  scalars("eval", record);
  flush();
}

void RunLog::samples(const std::vector<Json>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    samples_.append(records[i]);
    if (!events_) continue;
    const std::string text =
        records[i].at("prompt").get<std::string>() + records[i].at("text").get<std::string>();
    events_->text(concat("sample/", i + 1), text, records[i].at("step").get<std::int64_t>());
  }
  flush();
}

void RunLog::flush() {
  if (events_) events_->flush();
}

}  // namespace loongforge
