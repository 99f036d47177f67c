// Loops over independent items on several threads, free of any library's pool.
#pragma once

#include <cstdint>
#include <functional>

namespace loongforge {

// Number of CPUs that this process may use.
int cpu_count();

// Calls body(i) for i in [0, n), each once, on up to `threads` threads (0: cpu_count()). The first exception
// stops further items and is thrown here.
void parallel_for(std::int64_t n, const std::function<void(std::int64_t)>& body, int threads = 0);

}  // namespace loongforge
