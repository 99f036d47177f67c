// A build without CUDA says so, whichever kernel is called.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "loongforge/base/error.h"
#include "loongforge/ops/cuda/kernels.h"

namespace loongforge::ops {
namespace {

TEST(NoCuda, EveryKernelNamesItselfAndTheMend) {
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"rms_norm", [] { cuda::rms_norm_forward({}, 1, 0); }},
      {"rms_norm", [] { cuda::rms_norm_backward({}, 1, 0); }},
      {"rope", [] { cuda::rope({}, 1, 0); }},
      {"swiglu", [] { cuda::swiglu_forward({}, 1, 0); }},
      {"swiglu", [] { cuda::swiglu_backward({}, 1, 0); }},
      {"adamw_step", [] { cuda::adamw({}, 1, 0); }},
      {"squared_norm", [] { cuda::squared_norm(cpu::Type::kFloat, nullptr, 1, 1, nullptr, 0); }},
  };
  for (const auto& [name, call] : calls) {
    try {
      call();
      FAIL() << name << " did not throw";
    } catch (const ConfigError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.rfind(name + ": ", 0), 0U) << text;
      EXPECT_NE(text.find("scripts/cuda-build.sh"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(cuda::kernels_built_for(), "");
}

}  // namespace
}  // namespace loongforge::ops
