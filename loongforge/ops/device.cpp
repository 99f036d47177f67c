#include "loongforge/ops/device.h"

#include "loongforge/base/error.h"

namespace loongforge::ops {

void check_device(const char* op, std::initializer_list<const at::Tensor*> tensors) {
  const at::Tensor* first = nullptr;
  for (const at::Tensor* x : tensors) {
    if (!x->defined()) continue;
    if (first == nullptr) first = x;
    check(x->is_cpu() || x->is_cuda(), op, ": expected tensors on the CPU or a GPU, got one on ",
          x->device().str());
    check(x->device() == first->device(), op, ": expected all tensors on one device, got ",
          first->device().str(), " and ", x->device().str());
  }
}

}  // namespace loongforge::ops
