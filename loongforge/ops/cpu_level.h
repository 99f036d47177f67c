// The instruction set that the CPU kernels use: chosen once at start, never by compiler flags of a build.
#pragma once

#include <string>
#include <vector>

namespace loongforge::ops {

// x86-64-v2 (or the plain instruction set of another CPU), AVX2 + FMA, AVX-512 (F, BW, DQ, VL), and AVX-512
// with bf16 matrix units.
enum class CpuLevel { kBaseline = 0, kAvx2 = 1, kAvx512 = 2, kAvx512Bf16 = 3, kAmx = 4 };

// "baseline", "avx2", "avx512", "avx512_bf16", "amx": the names that LOONGFORGE_CPU_LEVEL takes.
const char* cpu_level_name(CpuLevel level);

// Level of that name. Throws ConfigError naming LOONGFORGE_CPU_LEVEL for any other.
CpuLevel parse_cpu_level(const std::string& name);

// The highest level that both this CPU and this build have.
CpuLevel highest_cpu_level();

// The level in use: the highest, or LOONGFORGE_CPU_LEVEL where that is lower. Throws ConfigError (first call)
// when the variable has an unknown value.
CpuLevel cpu_level();

// Every level from the baseline to the highest.
std::vector<CpuLevel> available_cpu_levels();

// Uses a lower level while it lives (tests and benchmarks; not while other threads run operators).
class CpuLevelGuard {
 public:
  explicit CpuLevelGuard(CpuLevel level);
  ~CpuLevelGuard();
  CpuLevelGuard(const CpuLevelGuard&) = delete;
  CpuLevelGuard& operator=(const CpuLevelGuard&) = delete;

 private:
  CpuLevel before_;
};

}  // namespace loongforge::ops
