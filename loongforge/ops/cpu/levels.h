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
#endif

}  // namespace loongforge::ops::cpu
