#include "loongforge/formats/tensor_info.h"

#include "loongforge/base/error.h"
#include "loongforge/formats/printable.h"

namespace loongforge {

std::optional<std::int64_t> shape_numel(const std::vector<std::int64_t>& shape) {
  std::int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else {
      overflow |= __builtin_mul_overflow(numel, size, &numel);
    }
  }
  // (2^40, 2^40, 0) is refused too: a product in another order would overflow.
  if (overflow) return std::nullopt;
  return empty ? 0 : numel;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + ")";
}

std::int64_t TensorInfo::numel() const {
  const std::optional<std::int64_t> count = shape_numel(shape);
  check<CheckpointError>(count.has_value(), "tensor ", printable(name), ": shape ", shape_text(shape),
                         " is negative or has more than 2^63 - 1 elements");
  return *count;
}

std::int64_t TensorInfo::nbytes() const {
  std::int64_t bits = 0;
  const bool overflow = __builtin_mul_overflow(numel(), std::int64_t{dtype_bits(dtype)}, &bits);
  check<CheckpointError>(!overflow, "tensor ", printable(name), ": shape ", shape_text(shape), " of ",
                         dtype_name(dtype), " has more than 2^60 bytes");
  check<CheckpointError>(bits % 8 == 0, "tensor ", printable(name), ": shape ", shape_text(shape), " of ",
                         dtype_name(dtype), " does not fill whole bytes");
  return bits / 8;
}

}  // namespace loongforge
