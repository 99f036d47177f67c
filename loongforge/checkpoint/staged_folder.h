// A folder that appears under its name only when all of its files are there.
#pragma once

#include <filesystem>

namespace loongforge {

// Files are written to path(); `commit` moves them to the target (over files of the same name where the
// target exists). Without commit nothing stays. Throws ResourceError.
class StagedFolder {
 public:
  explicit StagedFolder(std::filesystem::path target);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::filesystem::path& path() const { return staging_; }
  void commit();

 private:
  std::filesystem::path target_, staging_;
};

}  // namespace loongforge
