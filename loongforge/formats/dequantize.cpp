// One function a block layout. Bit layouts and the order of the float operations follow ggml-quants.c, so
// that results are bitwise those of ggml and of the gguf package.
#include <array>
#include <bit>
#include <cstring>

#include "loongforge/base/error.h"
#include "loongforge/formats/ggml_type.h"
#include "loongforge/formats/half.h"

namespace loongforge {
namespace {

using Bytes = const std::uint8_t*;

std::uint16_t load_u16(Bytes p) {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

float load_half(Bytes p) {
  return half_to_float(load_u16(p));
}

void f32_block(Bytes in, float* out) {
  std::memcpy(out, in, 4);
}
void f16_block(Bytes in, float* out) {
  *out = load_half(in);
}
void bf16_block(Bytes in, float* out) {
  *out = bfloat16_to_float(load_u16(in));
}

// half scale, 16 bytes of nibbles: low nibbles are the first 16 values, high ones the last 16.
void q4_0_block(Bytes in, float* out) {
  const float d = load_half(in);
  const Bytes q = in + 2;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((q[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((q[i] >> 4) - 8);
  }
}

// half scale, half minimum, nibbles as q4_0.
void q4_1_block(Bytes in, float* out) {
  const float d = load_half(in);
  const float m = load_half(in + 2);
  const Bytes q = in + 4;
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(q[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(q[i] >> 4) + m;
  }
}

// Nibbles with a fifth bit each from a little-endian 32-bit word.
std::array<int, 32> five_bits(Bytes high, Bytes q) {
  std::uint32_t bits;
  std::memcpy(&bits, high, sizeof bits);
  std::array<int, 32> values;
  for (unsigned i = 0; i < 16; ++i) {
    values[i] = (q[i] & 15) | static_cast<int>((bits >> i & 1u) << 4);
    values[i + 16] = (q[i] >> 4) | static_cast<int>((bits >> (i + 16) & 1u) << 4);
  }
  return values;
}

void q5_0_block(Bytes in, float* out) {
  const float d = load_half(in);
  const auto q = five_bits(in + 2, in + 6);
  for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i] - 16);
}

void q5_1_block(Bytes in, float* out) {
  const float d = load_half(in);
  const float m = load_half(in + 2);
  const auto q = five_bits(in + 4, in + 8);
  for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(q[i]) + m;
}

void q8_0_block(Bytes in, float* out) {
  const float d = load_half(in);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<std::int8_t>(in[2 + i]));
}

// 16 bytes (4-bit scale, 4-bit minimum) for groups of 16, 64 bytes of 2-bit values, half d, half dmin.
void q2_k_block(Bytes in, float* out) {
  const Bytes scales = in;
  const Bytes q = in + 16;
  const float d = load_half(in + 80);
  const float dmin = load_half(in + 82);
  for (int i = 0; i < 256; ++i) {
    const int group = i / 16;
    const int byte = i / 128 * 32 + i % 32;
    const int shift = i % 128 / 32 * 2;
    const float dl = d * static_cast<float>(scales[group] & 15);
    const float ml = dmin * static_cast<float>(scales[group] >> 4);
    out[i] = dl * static_cast<float>(q[byte] >> shift & 3) - ml;
  }
}

// 6-bit scales of the 16 groups of a Q3_K block: 8 bytes of low nibbles, 4 bytes of upper bit pairs.
int q3_k_scale(Bytes scales, int group) {
  const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
  const int high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

// 32 bytes of third bits, 64 bytes of 2-bit values, 12 bytes of scales, half d. A clear third bit means -4.
void q3_k_block(Bytes in, float* out) {
  const Bytes high = in;
  const Bytes q = in + 32;
  const Bytes scales = in + 96;
  const float d = load_half(in + 108);
  for (int i = 0; i < 256; ++i) {
    const int byte = i / 128 * 32 + i % 32;
    const int shift = i % 128 / 32 * 2;
    const int third = high[i % 32] >> (i / 32) & 1;
    const float dl = d * static_cast<float>(q3_k_scale(scales, i / 16));
    out[i] = dl * static_cast<float>((q[byte] >> shift & 3) - (third != 0 ? 0 : 4));
  }
}

struct ScaleMin {
  float scale, min;
};

// 6-bit scale and minimum of group 0..7 of a Q4_K or Q5_K block, packed into 12 bytes.
ScaleMin k_scale_min(Bytes s, int group) {
  int scale, min;
  if (group < 4) {
    scale = s[group] & 63;
    min = s[group + 4] & 63;
  } else {
    scale = (s[group + 4] & 15) | (s[group - 4] >> 6) << 4;
    min = (s[group + 4] >> 4) | (s[group] >> 6) << 4;
  }
  return {static_cast<float>(scale), static_cast<float>(min)};
}

// half d, half dmin, 12 bytes of scales, 128 bytes of nibbles: 32 bytes carry two groups of 32.
void q4_k_block(Bytes in, float* out) {
  const float d = load_half(in);
  const float dmin = load_half(in + 2);
  const Bytes q = in + 16;
  for (int group = 0; group < 8; ++group) {
    const ScaleMin sm = k_scale_min(in + 4, group);
    const float dl = d * sm.scale;
    const float ml = dmin * sm.min;
    for (int i = 0; i < 32; ++i) {
      const int value = q[group / 2 * 32 + i] >> (group % 2 * 4) & 15;
      out[group * 32 + i] = dl * static_cast<float>(value) - ml;
    }
  }
}

// As q4_k with 32 bytes of fifth bits before the nibbles: bit `group` of byte i.
void q5_k_block(Bytes in, float* out) {
  const float d = load_half(in);
  const float dmin = load_half(in + 2);
  const Bytes high = in + 16;
  const Bytes q = in + 48;
  for (int group = 0; group < 8; ++group) {
    const ScaleMin sm = k_scale_min(in + 4, group);
    const float dl = d * sm.scale;
    const float ml = dmin * sm.min;
    for (int i = 0; i < 32; ++i) {
      const int value = (q[group / 2 * 32 + i] >> (group % 2 * 4) & 15) | (high[i] >> group & 1) << 4;
      out[group * 32 + i] = dl * static_cast<float>(value) - ml;
    }
  }
}

// 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales, half d.
void q6_k_block(Bytes in, float* out) {
  const Bytes low = in;
  const Bytes high = in + 128;
  const Bytes scales = in + 192;
  const float d = load_half(in + 208);
  for (int i = 0; i < 256; ++i) {
    const int part = i / 128;
    const int at = i % 128;
    const int nibble = low[part * 64 + at % 64] >> (at / 64 * 4) & 15;
    const int pair = high[part * 32 + at % 32] >> (at / 32 * 2) & 3;
    const float dl = d * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
    out[i] = dl * static_cast<float>((nibble | pair << 4) - 32);
  }
}

using Block = void (*)(Bytes, float*);

template <Block block>
void each_block(Bytes in, std::size_t count, std::size_t bytes, std::size_t elements, float* out) {
  for (std::size_t i = 0; i < count; ++i) block(in + i * bytes, out + i * elements);
}

using Loop = void (*)(Bytes, std::size_t, std::size_t, std::size_t, float*);

Loop loop_of(GgmlType type) {
  switch (type) {
    case GgmlType::kF32:
      return each_block<f32_block>;
    case GgmlType::kF16:
      return each_block<f16_block>;
    case GgmlType::kBF16:
      return each_block<bf16_block>;
    case GgmlType::kQ4_0:
      return each_block<q4_0_block>;
    case GgmlType::kQ4_1:
      return each_block<q4_1_block>;
    case GgmlType::kQ5_0:
      return each_block<q5_0_block>;
    case GgmlType::kQ5_1:
      return each_block<q5_1_block>;
    case GgmlType::kQ8_0:
      return each_block<q8_0_block>;
    case GgmlType::kQ2_K:
      return each_block<q2_k_block>;
    case GgmlType::kQ3_K:
      return each_block<q3_k_block>;
    case GgmlType::kQ4_K:
      return each_block<q4_k_block>;
    case GgmlType::kQ5_K:
      return each_block<q5_k_block>;
    case GgmlType::kQ6_K:
      return each_block<q6_k_block>;
  }
  throw InternalError(concat("dequantize_blocks: ", ggml_type_name(type), " has no conversion"));
}

}  // namespace

void dequantize_blocks(GgmlType type, std::span<const std::byte> blocks, std::span<float> out) {
  const Loop loop = loop_of(type);
  const GgmlTypeInfo& info = *ggml_type_info(static_cast<std::uint32_t>(type));
  const auto elements = static_cast<std::size_t>(info.block_elements);
  const auto bytes = static_cast<std::size_t>(info.block_bytes);
  const std::size_t count = out.size() / elements;
  check(count * elements == out.size() && count * bytes == blocks.size(),
        "dequantize_blocks: ", blocks.size(), " bytes of ", info.name, " do not hold ", out.size(),
        " values");
  loop(reinterpret_cast<Bytes>(blocks.data()), count, bytes, elements, out.data());
}

}  // namespace loongforge
