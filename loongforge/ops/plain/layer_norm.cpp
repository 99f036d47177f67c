#include <ATen/core/grad_mode.h>

#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops::plain {

LayerNormOutput layer_norm_forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                   double eps) {
  const at::NoGradGuard no_grad;
  const at::ScalarType wide = cpu::wide_dtype(x.scalar_type());
  const at::Tensor v = x.reshape({-1, weight.numel()}).to(wide), mean = v.mean(-1, true);
  const at::Tensor centred = v.sub(mean), rstd = centred.square().mean(-1, true).add(eps).rsqrt();
  const at::Tensor y = centred.mul(rstd).mul(weight.to(wide)).add(bias.to(wide));
  return {y.to(x.scalar_type()).view(x.sizes()), mean.flatten(), rstd.flatten()};
}

// With u = dy * w and h = (x - mean) * rstd: dx = rstd * (u - mean(u) - h * mean(u * h)).
LayerNormGradients layer_norm_backward(const at::Tensor& x, const at::Tensor& weight,
                                       const LayerNormOutput& forward, const at::Tensor& dy,
                                       const Wanted& wanted) {
  const at::NoGradGuard no_grad;
  const at::ScalarType wide = forward.rstd.scalar_type();
  const at::Tensor rstd = forward.rstd.unsqueeze(1), d = dy.reshape({-1, weight.numel()}).to(wide);
  const at::Tensor h = x.reshape(d.sizes()).to(wide).sub(forward.mean.unsqueeze(1)).mul(rstd);
  LayerNormGradients out;
  if (wanted.weight) out.dweight = d.mul(h).sum(0, true);
  if (wanted.bias) out.dbias = d.sum(0, true);
  if (!wanted.x) return out;
  const at::Tensor u = d.mul(weight.to(wide));
  const at::Tensor dx = u.sub(u.mean(-1, true)).sub(h.mul(u.mul(h).mean(-1, true))).mul(rstd);
  out.dx = dx.to(x.scalar_type()).view(x.sizes());
  return out;
}

}  // namespace loongforge::ops::plain
