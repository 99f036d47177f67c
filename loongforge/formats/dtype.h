// Element types of tensors in files, under the names that the safetensors format gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace loongforge {

enum class DType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kF64,
  kI64,
  kU64,
  // Carried as bytes only: no floor computes in these.
  kC64,
  kF8E8M0,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kF4,
  kF6E2M3,
  kF6E3M2,
};

// Bits of one element; 4 and 6 occur.
int dtype_bits(DType dtype);
// Bytes of one element. Throws InternalError for the types below one byte.
std::size_t dtype_size(DType dtype);
// "F32", "BF16", "F8_E4M3", "BOOL", ...
std::string_view dtype_name(DType dtype);
// The type of that name; none when the format has no such type.
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace loongforge
