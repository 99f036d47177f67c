// Dropout by counter-based random numbers: the same mask whenever the same keys are given.
#pragma once

#include <string>

#include "loongforge/nn/context.h"

namespace loongforge {

// x (N, C) with a share p of its elements 0 and the others divided by 1 - p; x itself when not training or
// p = 0. Element (n, c) depends on (seed, purpose, step, token_offset + n, c) alone. p in [0, 1).
at::Tensor dropout(const Context& context, const at::Tensor& x, double p, const std::string& purpose);

}  // namespace loongforge
