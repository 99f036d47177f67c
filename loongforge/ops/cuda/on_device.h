// Where a CUDA kernel runs. Free of torch: nvcc would read its headers several times for each file.
#pragma once

#include <cuda_runtime_api.h>

namespace loongforge::ops::cuda {

// Makes a GPU current while it lives, and knows its current stream.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  cudaStream_t stream() const { return stream_; }

 private:
  int before_;
  cudaStream_t stream_;
};

}  // namespace loongforge::ops::cuda
