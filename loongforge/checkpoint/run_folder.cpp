#include "loongforge/checkpoint/run_folder.h"

#include <algorithm>
#include <cstdio>

#include "loongforge/base/files.h"

namespace loongforge {
namespace {

constexpr const char* kPrefix = "step-";

// The step of "step-00000100", or nothing.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string digits = name.substr(5);
  if (digits.size() < 8 || digits.size() > 18) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(digits);
}

std::vector<fs::path> folders_of(const fs::path& parent) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

fs::path RunFolder::checkpoint(std::int64_t step) const {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return checkpoints() / name;
}

bool RunFolder::used() const {
  return is_there(metrics()) || is_there(summary()) || !folders_of(checkpoints()).empty();
}

std::vector<CheckpointRef> RunFolder::complete() const {
  std::vector<CheckpointRef> found;
  for (const fs::path& folder : folders_of(checkpoints())) {
    const auto step = step_of(folder.filename().string());
    if (step && is_there(folder / kCompleteMarker)) found.push_back({*step, folder});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return found;
}

std::optional<CheckpointRef> RunFolder::last_complete() const {
  const std::vector<CheckpointRef> all = complete();
  if (all.empty()) return std::nullopt;
  return all.back();
}

std::vector<std::string> RunFolder::remove_partial() const {
  std::vector<std::string> removed;
  for (const fs::path& folder : folders_of(checkpoints())) {
    std::string name = folder.filename().string();
    const bool temporary = name.ends_with(kPartialSuffix);
    const std::string stem =
        temporary ? name.substr(0, name.size() - std::string(kPartialSuffix).size()) : name;
    if (!step_of(stem)) continue;
    if (!temporary && is_there(folder / kCompleteMarker)) continue;
    remove_tree(folder);
    removed.push_back(std::move(name));
  }
  return removed;
}

void RunFolder::keep_last(std::int64_t keep) const {
  if (keep <= 0) return;
  const std::vector<CheckpointRef> all = complete();
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < all.size(); ++i) {
    // Without its marker first, a removal that is cut short leaves a partial folder, not a broken complete
    // one.
    std::error_code error;
    fs::remove(all[i].path / kCompleteMarker, error);
    remove_tree(all[i].path);
  }
}

}  // namespace loongforge
