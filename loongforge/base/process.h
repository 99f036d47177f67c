// Facts about this process and machine.
#pragma once

#include <cstdint>
#include <string>

namespace loongforge {

// Resident memory now and at its highest, in bytes.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();
// Memory of the machine (or of the cgroup, where smaller), in bytes.
std::uint64_t machine_memory_bytes();
// "AMD EPYC ... " of /proc/cpuinfo.
std::string cpu_model();
// Seconds of a clock that never goes back.
double monotonic_seconds();
// Seconds since 1970.
double wall_seconds();
// "2026-11-30T12:00:00Z"
std::string utc_timestamp();

}  // namespace loongforge
