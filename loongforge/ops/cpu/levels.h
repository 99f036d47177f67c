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
// Only products: the rest is that of avx512.
namespace avx512_bf16 {
std::int64_t gemm_scratch_bytes(const GemmArgs&, const GemmTile&);
void gemm_tile(const GemmArgs&, const GemmTile&, void* scratch);
}  // namespace avx512_bf16
#endif

}  // namespace loongforge::ops::cpu
