#include "loongforge/ops/matmul.h"

#include <ATen/ops/empty.h>

#include "loongforge/ops/cpu/bf16_units.h"
#include "loongforge/ops/cpu/tensors.h"
#include "loongforge/ops/cpu_level.h"
#include "loongforge/ops/device.h"
#include "loongforge/ops/plain/blocks.h"

namespace loongforge::ops {
namespace {

using cpu::Factor;
using cpu::GemmArgs;
using cpu::Type;

at::Tensor rows_contiguous(const at::Tensor& x) {
  const bool as_it_is = x.stride(1) == 1 && (x.size(0) <= 1 || x.stride(0) >= x.size(1));
  return as_it_is ? x : x.contiguous();
}

// `inner_rows`: K runs along the rows of x (dimension 0), else along its columns.
Factor factor(const at::Tensor& x, bool inner_rows) {
  const std::int64_t stride = x.size(0) > 1 ? x.stride(0) : x.size(1);
  // A stride of one along K says that K is contiguous, so a single column is given K's true stride.
  Factor f{x.data_ptr(), cpu::type_of(x, "matmul"), stride, 1};
  if (inner_rows) std::swap(f.outer_stride, f.inner_stride);
  return f;
}

void check_factors(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out) {
  check(a.dim() == 2 && b.dim() == 2 && out.dim() == 2, "matmul: expected matrices, got ", a.dim(), ", ",
        b.dim(), " and ", out.dim(), " dimensions");
  const auto wide = [](const at::Tensor& x) { return cpu::type_of(x, "matmul") == Type::kDouble; };
  check(wide(a) == wide(b) && wide(a) == wide(out), "matmul: float64 does not mix with other dtypes, got ",
        at::toString(a.scalar_type()), ", ", at::toString(b.scalar_type()), " -> ",
        at::toString(out.scalar_type()));
  check(out.size(1) <= 1 || out.stride(1) == 1, "matmul: the result's last dimension must be contiguous");
}

// By the library: our own product uses the instructions for pairs, but not yet the matrix units.
bool use_matrix_units(const GemmArgs& args) {
  return args.a.type == Type::kBf16 && args.b.type == Type::kBf16 && cpu_level() == CpuLevel::kAmx &&
         cpu::has_bf16_product();
}

void product_in_float(const GemmArgs& args) {
  if (use_matrix_units(args))
    cpu::run_bf16_product(args);
  else
    cpu::run_gemm(args);
}

// The sum does not fit the kernel's own float tile, or comes from the library: float32 first, then
// rounded.
void product_through_float(const GemmArgs& args, const at::Tensor& out) {
  const at::Tensor wide = at::empty(out.sizes(), out.options().dtype(at::kFloat));
  GemmArgs inner = args;
  inner.c = wide.data_ptr();
  inner.c_type = Type::kFloat;
  inner.ldc = wide.size(1);
  inner.accumulate = false;
  product_in_float(inner);
  const cpu::Kernels& k = cpu::kernels();
  cpu::for_ranges(out.size(0), out.size(1) * 6, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      k.convert(Type::kFloat, wide.const_data_ptr<float>() + i * inner.ldc, Type::kBf16,
                out.data_ptr<at::BFloat16>() + i * args.ldc, args.accumulate, 0, args.n);
  });
}

void product(const at::Tensor& out, const at::Tensor& a_in, bool a_inner_rows, const at::Tensor& b_in,
             bool b_inner_rows, bool accumulate) {
  check_factors(a_in, b_in, out);
  check_device("matmul", {&a_in, &b_in, &out});
  at::Tensor a = rows_contiguous(a_in);
  const at::Tensor b = rows_contiguous(b_in);
  const std::int64_t m = a.size(a_inner_rows ? 1 : 0), k = a.size(a_inner_rows ? 0 : 1);
  const std::int64_t n = b.size(b_inner_rows ? 1 : 0), kb = b.size(b_inner_rows ? 0 : 1);
  check(k == kb && out.size(0) == m && out.size(1) == n, "matmul: shapes do not match, got ", m, " x ", k,
        " by ", kb, " x ", n, " into ", out.size(0), " x ", out.size(1));
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!accumulate) out.zero_();
    return;
  }
  if (out.is_cuda())
    return plain::product(out, a_inner_rows ? a.t() : a, b_inner_rows ? b : b.t(), accumulate);
  constexpr std::int64_t kFewRows = 8;
  if (m <= kFewRows && !a_inner_rows && !b_inner_rows && a.scalar_type() == at::kBFloat16)
    a = a.to(at::kFloat);
  const GemmArgs args{factor(a, a_inner_rows),
                      factor(b, b_inner_rows),
                      m,
                      n,
                      k,
                      out.data_ptr(),
                      cpu::type_of(out, "matmul"),
                      out.size(0) > 1 ? out.stride(0) : n,
                      accumulate};
  const bool bf16_result = args.c_type == Type::kBf16;
  if (bf16_result && (use_matrix_units(args) || k > cpu::kernels().gemm_longest_bf16_sum))
    product_through_float(args, out);
  else
    product_in_float(args);
}

at::Tensor fresh(std::int64_t rows, std::int64_t columns, const at::Tensor& like, at::ScalarType dtype) {
  return at::empty({rows, columns}, like.options().dtype(dtype).requires_grad(false));
}

}  // namespace

bool has_bf16_units() {
  return cpu_level() >= CpuLevel::kAvx512Bf16;
}

void matmul_nt_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  product(out, a, false, b, false, accumulate);
}

void matmul_nn_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  product(out, a, false, b, true, accumulate);
}

void matmul_tn_out(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  product(out, a, true, b, true, accumulate);
}

at::Tensor matmul_nt(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype) {
  check(a.dim() == 2 && b.dim() == 2, "matmul: expected matrices");
  const at::Tensor out = fresh(a.size(0), b.size(0), a, dtype);
  matmul_nt_out(out, a, b, false);
  return out;
}

at::Tensor matmul_nn(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype) {
  check(a.dim() == 2 && b.dim() == 2, "matmul: expected matrices");
  const at::Tensor out = fresh(a.size(0), b.size(1), a, dtype);
  matmul_nn_out(out, a, b, false);
  return out;
}

at::Tensor matmul_tn(const at::Tensor& a, const at::Tensor& b, at::ScalarType dtype) {
  check(a.dim() == 2 && b.dim() == 2, "matmul: expected matrices");
  const at::Tensor out = fresh(a.size(1), b.size(1), a, dtype);
  matmul_tn_out(out, a, b, false);
  return out;
}

}  // namespace loongforge::ops
