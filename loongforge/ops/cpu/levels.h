// The kernel tables that this build holds.
#pragma once

#include "loongforge/ops/cpu/kernels.h"

namespace loongforge::ops::cpu {

namespace baseline {
const Kernels& table();
}
#ifdef LOONGFORGE_X86_LEVELS
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
namespace avx512_bf16 {
// `k`, the table of avx512, with the products of bfloat16 pairs in it.
Kernels with_bf16_pairs(Kernels k);
}  // namespace avx512_bf16
#endif

}  // namespace loongforge::ops::cpu
