// Messages for people: one line each on standard error and, when a run has opened one, in its log file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "loongforge/base/error.h"

namespace loongforge {

enum class LogLevel { kInfo, kWarning, kError };

void log_message(LogLevel level, const std::string& message);
// Also appends every later message, with time, to `path` (until the next call; empty closes).
void open_log_file(const std::filesystem::path& path);
// Info messages go to the terminal only when this is false.
void set_quiet(bool quiet);
// Warnings since the program started.
std::int64_t warning_count();

template <typename... Parts>
void log_info(const Parts&... parts) {
  log_message(LogLevel::kInfo, concat(parts...));
}
template <typename... Parts>
void log_warning(const Parts&... parts) {
  log_message(LogLevel::kWarning, concat(parts...));
}
template <typename... Parts>
void log_error(const Parts&... parts) {
  log_message(LogLevel::kError, concat(parts...));
}

}  // namespace loongforge
