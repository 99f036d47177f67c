// Products of two bfloat16 factors on CPUs with bf16 matrix units, by the library inside libtorch.
#pragma once

#include "loongforge/ops/cpu/kernels.h"

namespace loongforge::ops::cpu {

// True when this build's libtorch has the product (any CPU can run it; slowly without the units).
bool has_bf16_product();

// args.a and args.b bfloat16, args.c float32.
void run_bf16_product(const GemmArgs& args);

}  // namespace loongforge::ops::cpu
