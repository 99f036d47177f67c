// Progress of work that takes longer than two seconds: one line rewritten on a terminal, a plain line every
// few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace loongforge {

// "1.2k", "3.4M", "135M": three significant digits.
std::string format_count(double value);
// "512 B", "3.4 GiB".
std::string format_bytes(double bytes);
// "4 s", "2 min 05 s", "1 h 03 min".
std::string format_duration(double seconds);

// True when standard error is a terminal.
bool stderr_is_terminal();

// Rewrites (terminal) or prints at most every `plain_seconds` (elsewhere) one status line.
class StatusLine {
 public:
  explicit StatusLine(double plain_seconds = 10.0);
  ~StatusLine();
  void show(const std::string& text, bool force = false);
  // Ends the line, so that other output starts on a fresh one.
  void finish();

 private:
  double plain_seconds_;
  std::chrono::steady_clock::time_point last_{};
  bool open_ = false;
};

// Counted progress: "prepare: 34 % 120/350 files, 12.3 MB/s, ETA 4 s". Shown only after two seconds.
class Progress {
 public:
  Progress(std::string what, std::string unit, double total);
  ~Progress();
  void add(double amount, const std::string& extra = "");

 private:
  std::string what_, unit_;
  double total_, done_ = 0;
  std::chrono::steady_clock::time_point start_;
  StatusLine line_;
};

}  // namespace loongforge
