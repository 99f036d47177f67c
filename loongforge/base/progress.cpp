#include "loongforge/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kPatienceSeconds = 2.0;
// Before either, the rate says little about the rest.
constexpr double kEtaShare = 0.02, kEtaSeconds = 30;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string print(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 120;
}

}  // namespace

std::string format_count(double value) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  int unit = 0;
  while (std::abs(value) >= 999.5 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  const char* format = std::abs(value) >= 100 || (unit == 0 && value == std::floor(value)) ? "%.0f"
                       : std::abs(value) >= 10                                             ? "%.1f"
                                                                                           : "%.2f";
  return print(format, value) + kUnits[unit];
}

std::string format_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1023.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return print(unit == 0 ? "%.0f " : "%.1f ", bytes) + kUnits[unit];
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 3.2e9) return "?";
  const auto whole = static_cast<long long>(std::llround(seconds));
  char text[64];
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%lld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld h %02lld min", whole / 3600, whole / 60 % 60);
  }
  return text;
}

bool stderr_is_terminal() {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  return terminal;
}

StatusLine::StatusLine(double plain_seconds) : plain_seconds_(plain_seconds) {}

StatusLine::~StatusLine() {
  finish();
}

void StatusLine::show(const std::string& text, bool force) {
  const double wait = stderr_is_terminal() ? kTerminalSeconds : plain_seconds_;
  if (!force && seconds_since(last_) < wait) return;
  last_ = std::chrono::steady_clock::now();
  if (stderr_is_terminal()) {
    std::fprintf(stderr, "\r\033[K%s",
                 text.substr(0, static_cast<std::size_t>(terminal_width() - 1)).c_str());
    std::fflush(stderr);
    open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

void StatusLine::finish() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

Progress::Progress(std::string what, std::string unit, double total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() = default;

void Progress::add(double amount, const std::string& extra) {
  done_ += amount;
  const double seconds = seconds_since(start_);
  if (seconds < kPatienceSeconds) return;
  const double rate = done_ / seconds;
  std::string text = concat(what_, ": ", format_count(done_));
  if (total_ > 0)
    text += concat("/", format_count(total_), " ", unit_, " (", print("%.0f", 100 * done_ / total_), " %)");
  else
    text += " " + unit_;
  text += concat(", ", format_count(rate), " ", unit_, "/s");
  const bool rate_is_known = done_ > kEtaShare * total_ || seconds > kEtaSeconds;
  if (total_ > done_ && rate > 0 && rate_is_known)
    text += ", ETA " + format_duration((total_ - done_) / rate);
  if (!extra.empty()) text += ", " + extra;
  line_.show(text);
}

}  // namespace loongforge
