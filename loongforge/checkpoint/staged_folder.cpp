#include "loongforge/checkpoint/staged_folder.h"

#include <unistd.h>

#include <system_error>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"

namespace loongforge {
namespace {

void move_over(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  check<ResourceError>(!error, to.string(), ": cannot be written: ", error.message());
}

// "runs/x/" names the folder runs/x.
std::filesystem::path without_slash(std::filesystem::path path) {
  path = path.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

StagedFolder::StagedFolder(std::filesystem::path target) : target_(without_slash(std::move(target))) {
  check<ResourceError>(!std::filesystem::exists(target_) || std::filesystem::is_directory(target_),
                       target_.string(), ": expected a folder, got a file");
  staging_ = target_;
  staging_ += ".partial-" + std::to_string(::getpid());
  make_directories(staging_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(staging_, ignored);
}

void StagedFolder::commit() {
  if (!std::filesystem::exists(target_)) {
    move_over(staging_, target_);
  } else {
    for (const auto& entry : std::filesystem::directory_iterator(staging_)) {
      move_over(entry.path(), target_ / entry.path().filename());
    }
  }
  sync_directory(target_.has_parent_path() ? target_.parent_path() : ".");
}

}  // namespace loongforge
