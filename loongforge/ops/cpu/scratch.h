// Working memory of a thread, kept between calls.
#pragma once

#include <cstdint>

namespace loongforge::ops::cpu {

// At least `bytes` bytes at a multiple of 64, uninitialised, valid until this thread's next call. Throws
// ResourceError when there is no memory.
void* thread_scratch(std::int64_t bytes);

}  // namespace loongforge::ops::cpu
