// Storage types of GGUF tensors: their numbers, block sizes, and conversion to float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace loongforge {

// Numbers as in ggml.h.
enum class GgmlType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kBF16 = 30,
};

struct GgmlTypeInfo {
  std::uint32_t number = 0;
  std::string_view name;
  int block_elements = 1;  // values stored together
  int block_bytes = 0;     // bytes they take
};

// Layout of a type number, also of those without dequantisation (IQ, TQ, MXFP4, ...); null when unknown.
const GgmlTypeInfo* ggml_type_info(std::uint32_t number);
// "Q4_1"; "type 77" when unknown.
std::string ggml_type_name(GgmlType type);
// The type of that name ("Q4_K"), among those that can be dequantised.
std::optional<GgmlType> ggml_type_from_name(std::string_view name);
// F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K.
bool can_dequantize(GgmlType type);

// Converts whole blocks. `blocks` holds out.size() values (a multiple of the block's elements). Throws
// InternalError when sizes do not match or the type is none of the above.
void dequantize_blocks(GgmlType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace loongforge
