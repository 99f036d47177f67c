#include "loongforge/ops/cpu/scratch.h"

#include <cstdlib>
#include <memory>

#include "loongforge/base/error.h"

namespace loongforge::ops::cpu {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

void* thread_scratch(std::int64_t bytes) {
  thread_local std::unique_ptr<void, Free> memory;
  thread_local std::int64_t size = 0;
  if (bytes > size) {
    memory.reset();
    size = (bytes + 4095) / 4096 * 4096;
    memory.reset(std::aligned_alloc(64, static_cast<std::size_t>(size)));
    if (!memory) {
      const std::int64_t wanted = size;
      size = 0;
      throw ResourceError(
          concat("memory: ", wanted, " bytes of working memory are not to be had; free some memory"));
    }
  }
  return memory.get();
}

}  // namespace loongforge::ops::cpu
