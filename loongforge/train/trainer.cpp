#include "loongforge/train/trainer.h"

#include <cmath>

#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/base/process.h"
#include "loongforge/data/prefetch.h"
#include "loongforge/ops/squared_norm.h"
#include "loongforge/optim/schedule.h"
#include "loongforge/train/checkpoint_job.h"
#include "loongforge/train/evaluate.h"
#include "loongforge/train/samples.h"
#include "loongforge/train/step.h"

namespace loongforge {
namespace {

constexpr const char* kSkipsInRow = "skips_in_row";

// Adds one to a counter and returns it.
std::int64_t increase(Json& counters, const char* name) {
  const std::int64_t count = counters.value(name, std::int64_t{0}) + 1;
  counters[name] = count;
  return count;
}

// A weight as JSON: whole where it counts tokens.
Json weight_json(double weight) {
  const auto whole = static_cast<std::int64_t>(weight);
  return static_cast<double>(whole) == weight ? Json(whole) : Json(weight);
}

}  // namespace

Trainer::Trainer(const RunConfig& config, const RunOptions& options, const RunFolder& folder, RunParts& parts)
    : config_(config),
      options_(options),
      folder_(folder),
      parts_(parts),
      optimizer_(config.optim, parts.model->params()),
      status_(*parts.model, config.train.steps, 0),
      writer_(folder, config.checkpoint.keep, config.checkpoint.async) {
  restore();
  first_step_ = progress_.step;
}

Json Trainer::identity() const {
  Json identity = resume_identity(config_);
  // Frozen weights are not in the checkpoint; another base would silently make another model of it.
  std::vector<at::Tensor> frozen;
  for (const ParamRef& param : parts_.model->params()) {
    if (!param->trainable) frozen.push_back(param->value.detach());
  }
  if (!frozen.empty()) identity["frozen weights (squared norm)"] = dump_json(ops::squared_norm(frozen));
  return identity;
}

void Trainer::check_identity(const Json& saved) const {
  const ResumeChanges changes = resume_changes(saved, progress_.identity);
  std::string refused;
  for (const std::string& change : changes.refused) refused += (refused.empty() ? "" : "; ") + change;
  check<ConfigError>(refused.empty(), folder_.root().string(),
                     ": this configuration is not the one of the run: ", refused,
                     "; set it back, or start a new run in another train.output_dir");
  for (const std::string& change : changes.noticed) {
    log_warning(change, ": the numbers are no longer bit for bit those of an unbroken run");
  }
}

void Trainer::restore() {
  for (const std::string& name : folder_.remove_partial()) {
    log_info("removed ", name, ": it was only half written");
  }
  const std::optional<CheckpointRef> last = folder_.last_complete();
  progress_.identity = identity();
  if (last) {
    const fs::path state = last->path / "state";
    TrainingProgress saved = load_progress(state);
    check<CheckpointError>(saved.step == last->step, (state / "state.json").string(), ": 'step': expected ",
                           last->step, " as the folder's name, got ", saved.step,
                           "; the checkpoint is damaged");
    check_identity(saved.identity);
    parts_.train->check_state(saved.data);
    load_state_tensors(state, optimizer_.state());
    optimizer_.set_updates(saved.updates);
    optimizer_.refresh_values();
    saved.identity = progress_.identity;
    progress_ = std::move(saved);
    log_info("going on from ", last->path.filename().string(), " of ", folder_.root().string());
  }
  log_.emplace(folder_, last ? progress_.step : -1, config_.log.tensorboard);
  const auto lines = static_cast<std::int64_t>(log_->all_metrics().size());
  if (last && lines != progress_.step) {
    log_warning(folder_.metrics().string(), ": holds ", lines, " of the ", progress_.step,
                " steps before this checkpoint; curves and summary lack the others");
  }
}

std::optional<Json> Trainer::run() {
  try {
    std::optional<Json> summary = run_phases();
    line_.finish();
    return summary;
  } catch (const Interrupted&) {
    line_.finish();
    save_and_wait();
    return std::nullopt;
  } catch (...) {
    line_.finish();
    throw;
  }
}

std::optional<Json> Trainer::run_phases() {
  evaluate_at(progress_.step);
  if (progress_.step == 0) sample_at(0, "before");
  if (!loop()) {
    save_and_wait();
    return std::nullopt;
  }
  // A run is done only when its last checkpoint stands.
  save_and_wait();
  evaluate_at(progress_.step);
  sample_at(progress_.step, "after");
  Json summary = make_summary();
  write_file_atomic(folder_.summary(), dump_json_pretty(summary));
  return summary;
}

bool Trainer::loop() {
  Prefetcher prefetcher(*parts_.train, progress_.step, config_.train.steps);
  while (progress_.step < config_.train.steps) {
    if (interrupt_requested()) return false;
    if (options_.stop_after > 0 && progress_.step - first_step_ >= options_.stop_after) return false;
    writer_.poll();
    const double waited = prefetcher.waited_seconds();
    StepBatches batches = prefetcher.next();
    if (!take_step(std::move(batches), prefetcher.waited_seconds() - waited)) return false;
    if (due(config_.checkpoint.every)) save(progress_.step < config_.train.steps);
    if (due(config_.eval.every)) evaluate_at(progress_.step);
  }
  return true;
}

StepOptions Trainer::step_options() const {
  StepOptions options;
  // The schedule counts updates: a skipped step neither trains nor moves the rate.
  options.lr = learning_rate(config_.optim, optimizer_.updates() + 1, config_.train.steps);
  options.clip_norm = config_.optim.clip_norm;
  options.seed = static_cast<std::uint64_t>(config_.train.seed);
  options.rows_per_micro_batch = config_.train.micro_batch_size;
  options.tokens_per_micro_batch = config_.train.micro_batch_size * config_.train.seq_length;
  if (config_.recompute.mode == "full") options.recompute.mode = RecomputePolicy::Mode::kLayer;
  return options;
}

bool Trainer::take_step(StepBatches batches, double data_wait_seconds) {
  const BatchCounts counts = batches.counts;
  const StepOptions options = step_options();
  const double start = monotonic_seconds();
  StepResult result = train_step(*parts_.model, *parts_.task, optimizer_, std::move(batches), options);
  const double seconds = monotonic_seconds() - start + data_wait_seconds;
  if (result.kind == StepResult::Kind::kInterrupted) return false;
  if (result.kind == StepResult::Kind::kUpdated) {
    progress_.tokens += counts.tokens;
    progress_.counted_tokens += counts.trained;
    progress_.counters.erase(kSkipsInRow);
  } else {
    if (result.reason.empty())
      result.reason = concat("none of its ", counts.tokens, " tokens counts towards the loss");
    note_skip(result);
  }
  ++progress_.step;
  progress_.updates = optimizer_.updates();
  progress_.seconds += seconds;
  log_->metrics(status_.record({.step = progress_.step,
                                .result = &result,
                                .counts = counts,
                                .lr = options.lr,
                                .tokens = progress_.tokens,
                                .seconds = seconds,
                                .data_wait_seconds = data_wait_seconds,
                                .epoch = parts_.train->epochs(progress_.step - 1)}));
  report_step();
  return true;
}

void Trainer::note_skip(const StepResult& result) {
  const bool not_finite = result.kind == StepResult::Kind::kNotFinite;
  check<NumericError>(!not_finite || config_.numeric.on_nan == "skip", result.reason,
                      "; nothing was updated, ", last_checkpoint_text(),
                      "; lower optim.lr, mend the data, or set numeric.on_nan: skip");
  const std::int64_t count =
      increase(progress_.counters, not_finite ? "steps_not_finite" : "steps_without_targets");
  line_.finish();
  log_warning("step ", progress_.step + 1, " skipped (", count, " so far): ", result.reason);
  if (!not_finite) return;
  const std::int64_t in_row = increase(progress_.counters, kSkipsInRow);
  check<NumericError>(in_row < config_.numeric.max_skips, in_row,
                      " steps in a row were skipped, the last because ", result.reason, "; ",
                      last_checkpoint_text(), "; lower optim.lr or mend the data");
}

void Trainer::report_step() {
  if (progress_.step % config_.log.every == 0 || progress_.step == config_.train.steps) {
    line_.finish();
    log_info(status_.log_line());
    log_->flush();
  } else if (!options_.quiet && stderr_is_terminal()) {
    line_.show(status_.line());
  }
}

void Trainer::evaluate_at(std::int64_t step) {
  const bool wanted = step == 0 || step == config_.train.steps || due(config_.eval.every);
  if (!parts_.eval || !wanted || log_->evaluation_at(step) != nullptr) return;
  const double start = monotonic_seconds();
  const EvalResult result =
      evaluate(*parts_.model, *parts_.task, *parts_.eval, config_.eval.max_batches,
               [&](std::int64_t done, std::int64_t all) {
                 // Short evaluations would only flicker.
                 const double seconds = monotonic_seconds() - start;
                 if (options_.quiet || seconds < 2) return;
                 const auto left = static_cast<double>(all - done) / static_cast<double>(done);
                 line_.show(concat("held-out data ", done, "/", all, " micro-batches, ETA ",
                                   format_duration(seconds * left)));
               });
  line_.finish();
  log_->evaluation({{"step", step},
                    {"loss", result.loss},
                    {"counted_tokens", weight_json(result.weight)},
                    {"eval_seconds", result.seconds},
                    {"time", wall_seconds()}});
  log_info("held-out loss ", result.loss, " after step ", step, " (", format_count(result.weight),
           " tokens, ", format_duration(result.seconds), ")");
}

void Trainer::sample_at(std::int64_t step, const std::string& when) {
  if (parts_.samples.empty() || log_->has_samples(step)) return;
  const std::vector<Json> samples =
      generate_samples(config_, *parts_.model, *parts_.tokenizer, parts_.samples, step, when);
  log_->samples(samples);
  for (const Json& sample : samples) {
    log_info("sample ", when, ": ", dump_json(sample.at("prompt")), " -> ", dump_json(sample.at("text")));
  }
}

void Trainer::save(bool training_goes_on) {
  if (progress_.step == 0 || writer_.last_step() == progress_.step) return;
  if (progress_.step == first_step_ && folder_.last_complete()) return;
  progress_.data = parts_.train->state(progress_.step);
  const bool copy = training_goes_on && config_.checkpoint.async;
  writer_.save(make_checkpoint_job(config_, parts_, optimizer_, progress_, copy));
}

void Trainer::save_and_wait() {
  save(/*training_goes_on=*/false);
  writer_.finish();
}

std::string Trainer::last_checkpoint_text() const {
  const std::optional<CheckpointRef> last = folder_.last_complete();
  return last ? "the last checkpoint is " + last->path.string() : std::string("there is no checkpoint yet");
}

Json Trainer::make_summary() const {
  const Model& model = *parts_.model;
  Json summary = {{"status", "finished"},
                  {"task", config_.task},
                  {"family", model.info().family},
                  {"parameters", model.parameter_count()},
                  {"trained_parameters", model.trainable_count()},
                  {"steps", progress_.step},
                  {"tokens", progress_.tokens},
                  {"counted_tokens", progress_.counted_tokens},
                  {"seconds", progress_.seconds},
                  {"tokens_per_second", static_cast<double>(progress_.tokens) / progress_.seconds},
                  {"peak_memory_bytes", peak_resident_bytes()},
                  {"peak_share", status_.mean_peak_share()}};
  const std::vector<Json>& metrics = log_->all_metrics();
  if (!metrics.empty()) {
    summary["loss_first"] = metrics.front().value("loss", Json());
    summary["loss_last"] = metrics.back().value("loss", Json());
  }
  const Json* before = log_->evaluation_at(0);
  const Json* after = log_->evaluation_at(progress_.step);
  if (before != nullptr) summary["heldout_loss_before"] = before->value("loss", Json());
  if (after != nullptr) {
    summary["heldout_loss_after"] = after->value("loss", Json());
    summary["heldout_tokens"] = after->value("counted_tokens", Json());
  }
  summary["warnings"] = warning_count();
  summary["counters"] = progress_.counters;
  summary["data"] = parts_.train->describe();
  summary["epochs"] = parts_.train->epochs(progress_.step - 1);
  summary["checkpoint"] = fs::relative(folder_.checkpoint(progress_.step), folder_.root()).string();
  return summary;
}

}  // namespace loongforge
