#include <cuda_runtime_api.h>

#include "loongforge/base/error.h"
#include "loongforge/ops/cuda/kernels.h"

namespace loongforge::ops::cuda {

std::string kernels_built_for() {
  return concat("CUDA ", CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10,
                " for " LOONGFORGE_CUDA_ARCHITECTURES);
}

}  // namespace loongforge::ops::cuda
