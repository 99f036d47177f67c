// TensorBoard event files: TFRecord framing around the Event protocol buffer
// (tensorflow/core/util/event.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loongforge/base/files.h"

namespace loongforge {

// Writes FOLDER/events.out.tfevents.SECONDS.HOST.PID.N, a new file for each object, so that a resumed run
// adds to the curves of the earlier one. Records are kept until `flush`, 64 KiB or the end, and reach the
// file whole. Throws ResourceError. Not thread-safe.
class EventWriter {
 public:
  explicit EventWriter(const fs::path& folder);
  // Flushes; an error is logged.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Readers forget what earlier files of the folder say of `step` and later ones: call it first, when a run
  // goes on from a checkpoint and makes those steps once more.
  void restart(std::int64_t step);
  // One point of the curve `tag`; wall_seconds since 1970, 0: now.
  void scalar(std::string_view tag, double value, std::int64_t step, double wall_seconds = 0);
  // Text (shown as Markdown) under the "Text" tab.
  void text(std::string_view tag, std::string_view text, std::int64_t step, double wall_seconds = 0);
  void flush();
  const fs::path& path() const { return path_; }

 private:
  void record(std::string_view event);

  fs::path path_;
  AppendFile file_;
  std::string pending_;
};

}  // namespace loongforge
