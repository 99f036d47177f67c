#include "loongforge/train/status.h"

#include <algorithm>
#include <cstdio>

#include "loongforge/base/parallel.h"
#include "loongforge/base/process.h"
#include "loongforge/base/progress.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/machine_peak.h"

namespace loongforge {
namespace {

std::string print(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double peak_of(at::ScalarType compute) {
  const ops::MachinePeak& peak = ops::machine_peak();
  if (compute == at::kBFloat16) return peak.bfloat16_gflops * 1e9;
  return peak.float32_gflops * (compute == at::kDouble ? 0.5e9 : 1e9);
}

}  // namespace

Status::Status(const Model& model, std::int64_t steps, std::int64_t done)
    : model_(model), steps_(steps), peak_(peak_of(model.compute_dtype())) {
  // Backward costs two forwards: one for the inputs' gradients, one for the trained weights'.
  const double trained = static_cast<double>(model.trainable_count());
  passes_ = 2 + trained / static_cast<double>(std::max<std::int64_t>(1, model.parameter_count()));
  last_ = {{"step", done}};
}

double Status::flops(const BatchCounts& counts) const {
  const auto tokens = static_cast<double>(counts.tokens);
  const auto documents = static_cast<double>(std::max<std::int64_t>(1, counts.documents));
  // The head works for the counted tokens only.
  return passes_ * (model_.flops_per_token(tokens / documents) * tokens +
                    model_.head_flops_per_token() * static_cast<double>(counts.trained));
}

Json Status::record(const StepFacts& facts) {
  const StepResult& result = *facts.result;
  const bool updated = result.kind == StepResult::Kind::kUpdated;
  const double work = flops(facts.counts);
  work_ += work;
  work_seconds_ += facts.seconds;
  recent_seconds_ = recent_seconds_ == 0 ? facts.seconds : 0.8 * recent_seconds_ + 0.2 * facts.seconds;
  Json record = {{"step", facts.step}};
  if (updated) {
    record["loss"] = result.loss;
    if (result.terms.size() > 1) {
      for (const auto& [name, value] : result.terms) record["loss_" + name] = value;
    }
    record["grad_norm"] = result.grad_norm;
  } else {
    record["skipped"] = result.reason;
  }
  record["lr"] = facts.lr;
  record["tokens"] = facts.tokens;
  record["tokens_per_second"] = static_cast<double>(facts.counts.tokens) / facts.seconds;
  record["step_seconds"] = facts.seconds;
  record["peak_memory_bytes"] = peak_resident_bytes();
  record["peak_share"] = work / facts.seconds / peak_;
  record["counted_tokens"] = facts.counts.trained;
  record["padding"] = facts.counts.padding;
  record["documents"] = facts.counts.documents;
  record["epoch"] = facts.epoch;
  record["data_wait_seconds"] = facts.data_wait_seconds;
  record["time"] = wall_seconds();
  last_ = record;
  return record;
}

std::string Status::line() const {
  const auto step = last_.at("step").get<std::int64_t>();
  std::string text = concat("step ", step, "/", steps_);
  if (last_.contains("loss")) text += "  loss " + print("%.4f", last_.at("loss").get<double>());
  if (last_.contains("skipped")) text += "  skipped";
  if (!last_.contains("tokens_per_second")) return text;
  text += concat("  ", format_count(last_.at("tokens_per_second").get<double>()), " tokens/s  ",
                 print("%.0f", 100 * last_.at("peak_share").get<double>()), " % of peak  ",
                 format_bytes(last_.at("peak_memory_bytes").get<double>()));
  if (step < steps_) {
    text += "  ETA " + format_duration(recent_seconds_ * static_cast<double>(steps_ - step));
  }
  return text;
}

std::string Status::log_line() const {
  std::string text = line();
  if (last_.contains("lr")) text += "  lr " + print("%.3g", last_.at("lr").get<double>());
  if (last_.contains("grad_norm"))
    text += "  grad norm " + print("%.3g", last_.at("grad_norm").get<double>());
  return text;
}

Json machine_facts(int threads) {
  const ops::MachinePeak& peak = ops::machine_peak();
  return {{"cpu", cpu_model()},
          {"cpus", cpu_count()},
          {"threads", threads},
          {"cpu_level", ops::cpu_level_name(ops::cpu_level())},
          {"memory_bytes", machine_memory_bytes()},
          {"float32_gflops", peak.float32_gflops},
          {"bfloat16_gflops", peak.bfloat16_gflops},
          {"copy_gigabytes", peak.copy_gigabytes}};
}

}  // namespace loongforge
