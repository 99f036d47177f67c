#include "loongforge/formats/event_file.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>

#include "loongforge/base/log.h"
#include "loongforge/base/process.h"
#include "loongforge/formats/crc32c.h"
#include "loongforge/formats/proto_writer.h"

namespace loongforge {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

// Field numbers of tensorflow/core/util/event.proto and framework/{summary,tensor,tensor_shape}.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log {
constexpr int kStatus = 1, kStatusStart = 1;
}
namespace summary {
constexpr int kValue = 1;
}
namespace value {
constexpr int kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
}
namespace metadata {
constexpr int kPluginData = 1, kDataClass = 4, kDataClassTensor = 2;
}
namespace plugin_data {
constexpr int kName = 1;
}
namespace tensor {
constexpr int kDtype = 1, kShape = 2, kStringValue = 8, kDtString = 7;
}
namespace shape {
constexpr int kDim = 2, kSize = 1;
}

fs::path event_path(const fs::path& folder) {
  static std::atomic<int> counter{0};
  make_directories(folder);
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  const auto seconds = static_cast<std::int64_t>(wall_seconds());
  return folder / concat("events.out.tfevents.", seconds, ".", host.data(), ".", ::getpid(), ".", counter++);
}

std::string event_of(std::int64_t step, double wall, std::string_view value_message) {
  ProtoWriter sum;
  sum.bytes(summary::kValue, value_message);
  ProtoWriter out;
  out.fixed64(event::kWallTime, std::bit_cast<std::uint64_t>(wall == 0 ? wall_seconds() : wall));
  out.varint(event::kStep, static_cast<std::uint64_t>(step));
  out.bytes(event::kSummary, sum.text());
  return out.text();
}

template <typename T>
void append_raw(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

EventWriter::EventWriter(const fs::path& folder) : path_(event_path(folder)), file_(path_) {
  ProtoWriter first;
  first.fixed64(event::kWallTime, std::bit_cast<std::uint64_t>(wall_seconds()));
  first.bytes(event::kFileVersion, "brain.Event:2");
  record(first.text());
  flush();
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const Error& error) {
    log_error(error.what());
  }
}

void EventWriter::restart(std::int64_t step) {
  ProtoWriter status, out;
  status.varint(session_log::kStatus, session_log::kStatusStart);
  out.fixed64(event::kWallTime, std::bit_cast<std::uint64_t>(wall_seconds()));
  out.varint(event::kStep, static_cast<std::uint64_t>(step));
  out.bytes(event::kSessionLog, status.text());
  record(out.text());
}

void EventWriter::scalar(std::string_view tag, double value, std::int64_t step, double wall_seconds) {
  ProtoWriter out;
  out.bytes(value::kTag, tag);
  out.fixed32(value::kSimpleValue, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  record(event_of(step, wall_seconds, out.text()));
}

void EventWriter::text(std::string_view tag, std::string_view text, std::int64_t step, double wall_seconds) {
  ProtoWriter dim, tensor_shape, content, plugin, meta, out;
  dim.varint(shape::kSize, 1);
  tensor_shape.bytes(shape::kDim, dim.text());
  content.varint(tensor::kDtype, tensor::kDtString);
  content.bytes(tensor::kShape, tensor_shape.text());
  content.bytes(tensor::kStringValue, text);
  plugin.bytes(plugin_data::kName, "text");
  meta.bytes(metadata::kPluginData, plugin.text());
  meta.varint(metadata::kDataClass, metadata::kDataClassTensor);
  out.bytes(value::kTag, tag);
  out.bytes(value::kTensor, content.text());
  out.bytes(value::kMetadata, meta.text());
  record(event_of(step, wall_seconds, out.text()));
}

// TFRecord: length, its checksum, the bytes, their checksum.
void EventWriter::record(std::string_view event) {
  std::string length;
  append_raw(length, static_cast<std::uint64_t>(event.size()));
  pending_ += length;
  append_raw(pending_, masked_crc32c(length));
  pending_ += event;
  append_raw(pending_, masked_crc32c(event));
  if (pending_.size() >= kFlushBytes) flush();
}

void EventWriter::flush() {
  if (pending_.empty()) return;
  // A failed write is not repeated: it may have written a part, and the same bytes again would garble the
  // file.
  const std::string bytes = std::exchange(pending_, {});
  file_.append(bytes);
}

}  // namespace loongforge
