#include "loongforge/ops/cuda/on_device.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace loongforge::ops::cuda {

OnDevice::OnDevice(int device)
    : before_(c10::cuda::ExchangeDevice(static_cast<c10::DeviceIndex>(device))),
      stream_(c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).stream()) {}

OnDevice::~OnDevice() {
  c10::cuda::MaybeSetDevice(static_cast<c10::DeviceIndex>(before_));
}

}  // namespace loongforge::ops::cuda
