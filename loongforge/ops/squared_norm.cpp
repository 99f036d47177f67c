#include "loongforge/ops/squared_norm.h"

#include "loongforge/ops/cpu/tensors.h"

namespace loongforge::ops {
namespace {

constexpr std::int64_t kBlock = 32768;

struct Piece {
  const at::Tensor* tensor;
  std::int64_t begin, end;
};

}  // namespace

double squared_norm(const std::vector<at::Tensor>& tensors) {
  std::vector<Piece> pieces;
  for (const at::Tensor& x : tensors) {
    if (!x.defined()) continue;
    cpu::type_of(x, "squared_norm");
    check(x.is_contiguous(), "squared_norm: expected contiguous tensors");
    for (std::int64_t i = 0; i < x.numel(); i += kBlock)
      pieces.push_back({&x, i, std::min(i + kBlock, x.numel())});
  }
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
