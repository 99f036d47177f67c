#include "loongforge/ops/cpu_level.h"

#include <atomic>
#include <cstdlib>
#ifdef LOONGFORGE_X86_LEVELS
#include <cpuid.h>
#endif

#include "loongforge/base/error.h"
#include "loongforge/ops/cpu/levels.h"

namespace loongforge::ops {
namespace {

constexpr const char* kVariable = "LOONGFORGE_CPU_LEVEL";
constexpr CpuLevel kLevels[] = {CpuLevel::kBaseline, CpuLevel::kAvx2, CpuLevel::kAvx512,
                                CpuLevel::kAvx512Bf16, CpuLevel::kAmx};

#ifdef LOONGFORGE_X86_LEVELS
// The compiler's own test does not know the matrix units.
bool has_bf16_matrix_units() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  return (d & kAmxBf16) != 0 && (d & kAmxTile) != 0;
}

CpuLevel detect() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return CpuLevel::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!avx512) return CpuLevel::kAvx2;
  if (!__builtin_cpu_supports("avx512bf16")) return CpuLevel::kAvx512;
  return has_bf16_matrix_units() ? CpuLevel::kAmx : CpuLevel::kAvx512Bf16;
}
#else
CpuLevel detect() {
  return CpuLevel::kBaseline;
}
#endif

CpuLevel chosen_at_start() {
  const CpuLevel highest = highest_cpu_level();
  const char* wanted = std::getenv(kVariable);
  if (wanted == nullptr || *wanted == '\0') return highest;
  const CpuLevel level = parse_cpu_level(wanted);
  return level < highest ? level : highest;
}

std::atomic<CpuLevel>& level_in_use() {
  static std::atomic<CpuLevel> level{chosen_at_start()};
  return level;
}

}  // namespace

const char* cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      return "avx512";
    case CpuLevel::kAvx512Bf16:
      return "avx512_bf16";
    case CpuLevel::kAmx:
      return "amx";
    default:
      return "baseline";
  }
}

CpuLevel parse_cpu_level(const std::string& name) {
  for (CpuLevel level : kLevels)
    if (name == cpu_level_name(level)) return level;
  throw ConfigError(concat(kVariable, ": expected one of baseline, avx2, avx512, avx512_bf16, amx, got '",
                           name, "'; unset it to use the best level of this CPU"));
}

CpuLevel highest_cpu_level() {
  static const CpuLevel level = detect();
  return level;
}

CpuLevel cpu_level() {
  return level_in_use().load(std::memory_order_relaxed);
}

std::vector<CpuLevel> available_cpu_levels() {
  std::vector<CpuLevel> levels;
  for (CpuLevel level : kLevels)
    if (level <= highest_cpu_level()) levels.push_back(level);
  return levels;
}

CpuLevelGuard::CpuLevelGuard(CpuLevel level) : before_(cpu_level()) {
  check(level <= highest_cpu_level(), "CPU level: ", cpu_level_name(level),
        " is above what this machine has (", cpu_level_name(highest_cpu_level()), ")");
  level_in_use() = level;
}

CpuLevelGuard::~CpuLevelGuard() {
  level_in_use() = before_;
}

namespace cpu {
namespace {

#ifdef LOONGFORGE_X86_LEVELS
const Kernels& with_bf16_products() {
  static const Kernels table = avx512_bf16::with_bf16_pairs(avx512::table());
  return table;
}
#endif

}  // namespace

const Kernels& kernels() {
#ifdef LOONGFORGE_X86_LEVELS
  switch (cpu_level()) {
    case CpuLevel::kAvx2:
      return avx2::table();
    case CpuLevel::kAvx512:
      return avx512::table();
    case CpuLevel::kAvx512Bf16:
    case CpuLevel::kAmx:
      return with_bf16_products();
    default:
      break;
  }
#endif
  return baseline::table();
}

}  // namespace cpu
}  // namespace loongforge::ops
