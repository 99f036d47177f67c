// The wire format of Protocol Buffers, writing only (protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loongforge {

// Appends fields of one message.
class ProtoWriter {
 public:
  void varint(int field, std::uint64_t value) {
    key(field, 0);
    raw_varint(value);
  }
  void fixed64(int field, std::uint64_t value) {
    key(field, 1);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void fixed32(int field, std::uint32_t value) {
    key(field, 5);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  // Strings, bytes and messages.
  void bytes(int field, std::string_view value) {
    key(field, 2);
    raw_varint(value.size());
    out_ += value;
  }
  const std::string& text() const { return out_; }

 private:
  void key(int field, unsigned wire_type) { raw_varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }
  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

}  // namespace loongforge
