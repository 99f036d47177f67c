#include "loongforge/train/run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/base/interrupt.h"
#include "loongforge/base/log.h"
#include "loongforge/base/progress.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/train/open_model.h"
#include "loongforge/train/setup.h"
#include "loongforge/train/trainer.h"

namespace loongforge {
namespace {

// Makes the run folder, and takes it away again when nothing came of the run.
class OpenFolder {
 public:
  explicit OpenFolder(const fs::path& path) : path_(path), is_new_(!fs::exists(path)) {
    make_directories(path);
    fd_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check<ResourceError>(fd_ >= 0 && ::access(path.c_str(), W_OK | X_OK) == 0, path.string(),
                         ": cannot be written: ", std::strerror(errno), "; name another train.output_dir");
    // Held by the open folder itself: it goes with the process, however that ends.
    check<ResourceError>(::flock(fd_, LOCK_EX | LOCK_NB) == 0, path.string(),
                         ": another process is training here; wait for it, or name another train.output_dir");
  }
  ~OpenFolder() {
    if (fd_ >= 0) ::close(fd_);
    std::error_code ignored;
    if (is_new_) fs::remove(path_, ignored);  // only when empty
  }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

 private:
  fs::path path_;
  bool is_new_;
  int fd_ = -1;
};

class OpenLog {
 public:
  explicit OpenLog(const fs::path& path) { open_log_file(path); }
  ~OpenLog() { open_log_file(""); }
};

std::string go_on_text(const RunOptions& options) {
  if (options.command.empty()) return "start it again with --resume to go on";
  return "go on with: " + options.command + " --resume";
}

void refuse_used(const RunFolder& folder, const RunOptions& options) {
  if (options.resume || !folder.used()) return;
  const std::optional<CheckpointRef> last = folder.last_complete();
  throw ConfigError(concat(folder.root().string(), ": holds an earlier run (",
                           last ? concat("last checkpoint: step ", last->step) : "without a whole checkpoint",
                           "); add --resume to go on with it, or name another train.output_dir"));
}

// The summary of a run that has already come to its end.
std::optional<Json> finished_summary(const RunFolder& folder, const RunConfig& config) {
  const std::optional<CheckpointRef> last = folder.last_complete();
  if (!last || last->step < config.train.steps || !fs::exists(folder.summary())) return std::nullopt;
  Json summary = read_json<CheckpointError>(folder.summary());
  const Json steps = summary.is_object() ? summary.value("steps", Json()) : Json();
  check<CheckpointError>(
      steps.is_number_integer(), folder.summary().string(),
      ": expected an object with a whole number 'steps'; remove the file, and the run makes "
      "it again");
  if (steps.get<std::int64_t>() < config.train.steps) return std::nullopt;
  return summary;
}

void write_settings(const RunFolder& folder, const RunConfig& config, const RunOptions& options,
                    int threads) {
  write_file_atomic(folder.config(), resolved_yaml(config));
  write_file_atomic(folder.root() / "machine.json", dump_json_pretty(machine_facts(threads)));
  if (!options.origins.empty()) {
    write_file_atomic(folder.root() / "config_origins.json", dump_json_pretty(options.origins));
  }
}

void announce(const RunConfig& config, const RunParts& parts, int threads) {
  const Model& model = *parts.model;
  log_info("training ", model.info().family, " with ",
           format_count(static_cast<double>(model.parameter_count())), " parameters (",
           format_count(static_cast<double>(model.trainable_count())), " trained), task ", config.task, ", ",
           config.precision.compute, ", ", config.train.steps, " steps of ", config.train.global_batch_size,
           " x ", config.train.seq_length, " tokens, ", threads, threads == 1 ? " thread" : " threads");
  log_info("data: ", dump_json(parts.train->describe()));
  if (parts.eval) log_info("held-out data: ", dump_json(parts.eval->describe()));
}

RunOutcome train(const RunConfig& config, const RunOptions& options, const RunFolder& folder) {
  const int threads = configure_computation(config.train);
  RunParts parts = open_run(config);
  const OpenLog log(folder.log());
  announce(config, parts, threads);
  Trainer trainer(config, options, folder, parts);
  write_settings(folder, config, options, threads);
  std::optional<Json> summary = trainer.run();
  if (!summary) {
    log_info("stopped; ", go_on_text(options));
    return {.kind = RunOutcome::Kind::kInterrupted, .exit_code = 130, .summary = Json::object()};
  }
  log_info("finished: ", folder.root().string());
  return {.kind = RunOutcome::Kind::kFinished, .exit_code = 0, .summary = std::move(*summary)};
}

}  // namespace

RunOutcome run_training(const RunConfig& config, const RunOptions& options) {
  validate(config);
  install_interrupt_handler();
  if (options.quiet) set_quiet(true);
  const RunFolder folder(config.train.output_dir);
  refuse_used(folder, options);
  if (options.resume) {
    if (std::optional<Json> summary = finished_summary(folder, config)) {
      log_info(folder.root().string(), ": the run is already finished (", config.train.steps, " steps)");
      return {.kind = RunOutcome::Kind::kAlreadyFinished, .exit_code = 0, .summary = std::move(*summary)};
    }
  }
  const OpenFolder open(folder.root());
  return train(with_model_folders(config), options, folder);
}

}  // namespace loongforge
