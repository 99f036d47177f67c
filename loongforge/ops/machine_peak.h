// What this machine can do at most, measured: the ceilings that progress lines and benchmarks compare with.
#pragma once

namespace loongforge::ops {

struct MachinePeak {
  double float32_gflops = 0;   // matrix product, 10^9 operations a second
  double bfloat16_gflops = 0;  // the same with bfloat16 operands, by the fastest path there is
  double copy_gigabytes = 0;   // 10^9 bytes a second, read + written
  int threads = 0;             // used in the measurement
};

// Measures with the threads of at::get_num_threads(); under a second.
MachinePeak measure_machine_peak();

// The same, measured at the first call and kept.
const MachinePeak& machine_peak();

}  // namespace loongforge::ops
