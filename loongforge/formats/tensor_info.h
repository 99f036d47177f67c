// Name, element type and shape of one tensor in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loongforge/formats/dtype.h"

namespace loongforge {

// Number of elements of a shape; none when a dimension is negative or the product passes 2^63 - 1.
std::optional<std::int64_t> shape_numel(const std::vector<std::int64_t>& shape);

// "(3, 576)"
std::string shape_text(const std::vector<std::int64_t>& shape);

// A tensor of `shape` (row major, last dimension contiguous); an empty shape is a scalar.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;

  // Elements. Throws CheckpointError naming the tensor when the shape is negative or overflows.
  std::int64_t numel() const;
  // Bytes in the file. Throws CheckpointError as numel, and when sub-byte elements do not fill whole bytes.
  std::int64_t nbytes() const;

  bool operator==(const TensorInfo&) const = default;
};

}  // namespace loongforge
