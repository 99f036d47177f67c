// Where an operator's tensors lie.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>

namespace loongforge::ops {

// Throws InternalError naming `op` unless all tensors lie on one device, the CPU or a GPU; undefined ones do
// not count. Kernels read raw pointers: a stray tensor would end the program.
void check_device(const char* op, std::initializer_list<const at::Tensor*> tensors);

}  // namespace loongforge::ops
