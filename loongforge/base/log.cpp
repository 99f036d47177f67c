#include "loongforge/base/log.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

#include "loongforge/base/files.h"
#include "loongforge/base/process.h"

namespace loongforge {
namespace {

std::mutex mutex;
std::unique_ptr<AppendFile> file;
std::atomic<bool> quiet{false};
std::atomic<std::int64_t> warnings{0};

}  // namespace

void log_message(LogLevel level, const std::string& message) {
  if (level == LogLevel::kWarning) ++warnings;
  const char* prefix = level == LogLevel::kInfo ? "" : level == LogLevel::kWarning ? "warning: " : "error: ";
  const std::lock_guard lock(mutex);
  if (level != LogLevel::kInfo || !quiet) std::fprintf(stderr, "%s%s\n", prefix, message.c_str());
  if (file) file->append(concat(utc_timestamp(), " ", prefix, message, "\n"));
}

void open_log_file(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex);
  file = path.empty() ? nullptr : std::make_unique<AppendFile>(path);
}

void set_quiet(bool value) {
  quiet = value;
}

std::int64_t warning_count() {
  return warnings;
}

}  // namespace loongforge
