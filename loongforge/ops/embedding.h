// Rows of a table by index.
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/ops/weight_gradient.h"

namespace loongforge::ops {

// ids: (N) int64, weight: (V, C) -> (N, C). The weight's gradient (rows of equal id added in the order of N)
// goes to `weight_gradient` in backward, or through autograd where that is empty. Throws DataError naming an
// id outside [0, V).
at::Tensor embedding(const at::Tensor& ids, const at::Tensor& weight,
                     const WeightGradient& weight_gradient = {});

// The same from plain libtorch operators.
at::Tensor embedding_reference(const at::Tensor& ids, const at::Tensor& weight);

}  // namespace loongforge::ops
