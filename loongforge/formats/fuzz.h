// What the fuzz targets of this floor share. A target is one x_fuzz.cpp with LLVMFuzzerTestOneInput and
// fuzz_seeds; it is linked with libFuzzer (LOONGFORGE_FUZZ, Clang) or with mutation_driver_fuzz.cpp.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace loongforge {

// Well-formed inputs to start from.
std::vector<std::string> fuzz_seeds();

// A file in memory where the system has one, removed at the end of the process.
class FuzzFile {
 public:
  explicit FuzzFile(const char* ending) {
    const fs::path folder = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    path_ = folder / concat("loongforge-fuzz-", ::getpid(), ending);
  }
  ~FuzzFile() { ::unlink(path_.c_str()); }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  const fs::path& put(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_;
  }

 private:
  fs::path path_;
};

// Runs the reader: it may succeed or throw E with a one-line message; anything else is a finding.
template <typename E, typename Reader>
void expect_read_or(const Reader& reader) {
  try {
    reader();
  } catch (const E& error) {
    if (std::string_view(error.what()).find('\n') == std::string_view::npos) return;
    std::fprintf(stderr, "message of several lines: %s\n", error.what());
    std::abort();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unexpected error: %s\n", error.what());
    std::abort();
  }
}

// Reads every byte, so that a range outside the map is found.
inline void touch(std::span<const std::byte> bytes) {
  volatile unsigned sum = 0;
  for (const std::byte b : bytes) sum = sum + static_cast<unsigned>(b);
}

}  // namespace loongforge
