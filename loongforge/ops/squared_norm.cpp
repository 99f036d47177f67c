#include "loongforge/ops/squared_norm.h"

#include <ATen/ops/empty.h>

#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cuda/kernels.h"
#include "loongforge/ops/device.h"

namespace loongforge::ops {
namespace {

constexpr std::int64_t kBlock = 32768;

struct Piece {
  const at::Tensor* tensor;
  std::int64_t begin, end;
};

// The pieces' sums come to the host in one copy, and are added there in the same order as the CPU's.
double squared_norm_on_gpu(const std::vector<Piece>& pieces) {
  const at::TensorOptions options = pieces.front().tensor->options().requires_grad(false);
  const at::Tensor sums = at::empty({static_cast<std::int64_t>(pieces.size())}, options.dtype(at::kDouble));
  double* to = sums.data_ptr<double>();
  for (const Piece& p : pieces) {
    const at::Tensor& x = *p.tensor;
    if (p.begin == 0)
      cuda::squared_norm(cpu::type_of(x, "squared_norm"), x.const_data_ptr(), x.numel(), kBlock, to,
                         x.get_device());
    ++to;
  }
  const at::Tensor host = sums.cpu();
  double total = 0;
  for (std::int64_t i = 0; i < host.numel(); ++i) total += host.const_data_ptr<double>()[i];
  return total;
}

}  // namespace

double squared_norm(const std::vector<at::Tensor>& tensors) {
  std::vector<Piece> pieces;
  for (const at::Tensor& x : tensors) {
    if (!x.defined()) continue;
    cpu::type_of(x, "squared_norm");
    check(x.is_contiguous(), "squared_norm: expected contiguous tensors");
    check_device("squared_norm", {&x, pieces.empty() ? &x : pieces.front().tensor});
    for (std::int64_t i = 0; i < x.numel(); i += kBlock)
      pieces.push_back({&x, i, std::min(i + kBlock, x.numel())});
  }
  if (!pieces.empty() && pieces.front().tensor->is_cuda()) return squared_norm_on_gpu(pieces);
  std::vector<double> sums(pieces.size());
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(
      static_cast<std::int64_t>(pieces.size()), kBlock * 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const Piece& p = pieces[static_cast<std::size_t>(i)];
          sums[static_cast<std::size_t>(i)] = k.squared_norm(cpu::type_of(*p.tensor, "squared_norm"),
                                                             p.tensor->const_data_ptr(), p.begin, p.end);
        }
      });
  double total = 0;
  for (double s : sums) total += s;
  return total;
}

double squared_norm(const at::Tensor& tensor) {
  return squared_norm(std::vector<at::Tensor>{tensor});
}

}  // namespace loongforge::ops
