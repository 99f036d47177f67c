#include "loongforge/formats/dtype.h"

#include <array>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

struct Row {
  std::string_view name;
  int bits;
};

// In the order of DType.
constexpr std::array<Row, 22> kRows = {{
    {"BOOL", 8},        {"U8", 8},   {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"I16", 16},
    {"U16", 16},        {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},    {"F32", 32},
    {"F64", 64},        {"I64", 64}, {"U64", 64},    {"C64", 64},    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
}};
static_assert(kRows.size() == static_cast<std::size_t>(DType::kF6E3M2) + 1);

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

int dtype_bits(DType dtype) {
  return row(dtype).bits;
}

std::size_t dtype_size(DType dtype) {
  check(row(dtype).bits % 8 == 0, "dtype_size: ", row(dtype).name, " takes less than a byte");
  return static_cast<std::size_t>(row(dtype).bits / 8);
}

std::string_view dtype_name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace loongforge
