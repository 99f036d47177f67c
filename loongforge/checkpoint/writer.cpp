#include "loongforge/checkpoint/writer.h"

#include "loongforge/base/files.h"
#include "loongforge/base/log.h"

namespace loongforge {
namespace {

std::uint64_t bytes_of(const std::vector<StateTensor>& state) {
  std::uint64_t bytes = 0;
  for (const StateTensor& entry : state) bytes += entry.tensor.nbytes();
  return bytes;
}

void rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  check<ResourceError>(!error, to.string(), ": cannot be put in place: ", error.message());
  sync_directory(to.parent_path());
}

void write_parts(const RunFolder& folder, const CheckpointJob& job, const fs::path& partial) {
  make_directories(partial);
  require_disk_space(partial, bytes_of(job.state));
  if (job.write_hf) job.write_hf(partial / "hf");
  save_state(partial / "state", job.progress, job.state);
  sync_directory(partial);
  const fs::path final = folder.checkpoint(job.progress.step);
  remove_tree(final);
  rename_folder(partial, final);
  write_file_atomic(final / kCompleteMarker, concat("step ", job.progress.step, "\n"));
  sync_directory(final);
}

// Best effort: the error that led here is the one to report.
void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

std::vector<StateTensor> copy_tensors(const std::vector<StateTensor>& live) {
  std::vector<StateTensor> copies;
  for (const StateTensor& entry : live) copies.push_back({entry.name, entry.tensor.detach().clone()});
  return copies;
}

void write_checkpoint(const RunFolder& folder, const CheckpointJob& job, std::int64_t keep) {
  const fs::path final = folder.checkpoint(job.progress.step);
  const fs::path partial = final.string() + kPartialSuffix;
  remove_tree(partial);
  try {
    write_parts(folder, job, partial);
  } catch (...) {
    remove_quietly(partial);
    if (!fs::exists(final / kCompleteMarker)) remove_quietly(final);
    throw;
  }
  folder.keep_last(keep);
}

CheckpointWriter::CheckpointWriter(RunFolder folder, std::int64_t keep, bool in_background)
    : folder_(std::move(folder)), keep_(keep), in_background_(in_background) {}

CheckpointWriter::~CheckpointWriter() {
  try {
    finish();
  } catch (const std::exception& error) {
    log_error(error.what());
  }
}

void CheckpointWriter::save(CheckpointJob job) {
  finish();
  last_step_ = job.progress.step;
  if (!in_background_) {
    write_checkpoint(folder_, job, keep_);
    return;
  }
  ended_ = false;
  thread_ = std::thread([this, job = std::move(job)] {
    try {
      write_checkpoint(folder_, job, keep_);
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_ = true;
  });
}

void CheckpointWriter::poll() {
  if (thread_.joinable() && ended_) finish();
}

void CheckpointWriter::finish() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace loongforge
