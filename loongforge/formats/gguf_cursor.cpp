#include "loongforge/formats/gguf_cursor.h"

#include "loongforge/formats/printable.h"

namespace loongforge {
namespace {

constexpr std::uint32_t kArray = 9;
constexpr std::uint32_t kLastType = 12;
constexpr int kMaxDepth = 4;
// A value takes 16 times its bytes in memory; the largest vocabularies have about a million entries.
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 24;

// Least bytes that one value of the type takes: u8 i8 u16 i16 u32 i32 f32 bool string array u64 i64 f64.
constexpr std::uint64_t kLeastBytes[kLastType + 1] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

}  // namespace

std::span<const std::byte> GgufCursor::take(std::uint64_t count, const char* what) {
  check<CheckpointError>(count <= left(), file_, ": expected ", what, " of ", count, " bytes at byte ",
                         offset_, ", but the file ends at ", bytes_.size(),
                         "; it is truncated or garbled, fetch it again");
  const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(count));
  offset_ += part.size();
  return part;
}

std::string_view GgufCursor::string() {
  const auto length = scalar<std::uint64_t>();
  const auto bytes = take(length, "a string");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Json GgufCursor::array(const std::string& key, int depth) {
  const auto type = scalar<std::uint32_t>();
  const auto count = scalar<std::uint64_t>();
  check<CheckpointError>(type <= kLastType, file_, ": key ", printable(key), ": unknown array type ", type);
  check<CheckpointError>(depth < kMaxDepth, file_, ": key ", printable(key), ": arrays nested deeper than ",
                         kMaxDepth);
  check<CheckpointError>(count <= left() / kLeastBytes[type], file_, ": key ", printable(key), ": array of ",
                         count,
                         " values passes the end of the file; it is truncated or garbled, fetch it again");
  values_ += count;
  check<CheckpointError>(values_ <= kMaxValues, file_, ": key ", printable(key), ": more than ", kMaxValues,
                         " values in the metadata");
  Json list = Json::array();
  list.get_ref<Json::array_t&>().reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(value(type, key, depth + 1));
  return list;
}

Json GgufCursor::value(std::uint32_t type, const std::string& key, int depth) {
  switch (type) {
    case 0:
      return scalar<std::uint8_t>();
    case 1:
      return scalar<std::int8_t>();
    case 2:
      return scalar<std::uint16_t>();
    case 3:
      return scalar<std::int16_t>();
    case 4:
      return scalar<std::uint32_t>();
    case 5:
      return scalar<std::int32_t>();
    case 6:
      return scalar<float>();
    case 7: {
      const auto flag = scalar<std::uint8_t>();
      check<CheckpointError>(flag <= 1, file_, ": key ", printable(key), ": expected a bool of 0 or 1, got ",
                             int{flag});
      return flag == 1;
    }
    case 8:
      return std::string(string());
    case kArray:
      return array(key, depth);
    case 10:
      return scalar<std::uint64_t>();
    case 11:
      return scalar<std::int64_t>();
    case 12:
      return scalar<double>();
    default:
      break;
  }
  throw CheckpointError(
      concat(file_, ": key ", printable(key), ": unknown value type ", type, "; the file is garbled"));
}

}  // namespace loongforge
