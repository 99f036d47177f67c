// Stands in for libFuzzer: runs a target over its seeds and a fixed number of mutations of them, always the
// same, so that every test run exercises the target. With arguments it runs the target on those files
// instead.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>

#include "loongforge/base/random.h"
#include "loongforge/formats/fuzz.h"

namespace {

using namespace loongforge;

constexpr std::uint64_t kCases = 10000;
constexpr std::size_t kMaxBytes = 1 << 16;
constexpr const char* kCrashFile = "fuzz-crash";

std::string current;

// Keeps the input that the target did not survive.
void save_input(int signal) {
  const int fd = ::open(kCrashFile, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd >= 0 && ::write(fd, current.data(), current.size()) >= 0) ::close(fd);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A stream of draws for one case.
class Draws {
 public:
  explicit Draws(std::uint64_t number) : number_(number) {}
  std::uint64_t below(std::uint64_t n) { return random_.below(n, number_, index_++); }

 private:
  static inline const CounterRandom random_{1, "fuzz"};
  std::uint64_t number_, index_ = 0;
};

// Numbers that sit at the borders of integer types.
constexpr std::array<std::uint64_t, 10> kBorders = {0,
                                                    1,
                                                    0x7f,
                                                    0xff,
                                                    0xffff,
                                                    0x7fffffff,
                                                    0xffffffff,
                                                    0x7fffffffffffffff,
                                                    0xffffffffffffffff,
                                                    0x8000000000000000};

void mutate_once(std::string& bytes, const std::vector<std::string>& seeds, Draws& draws) {
  const std::size_t at = bytes.empty() ? 0 : draws.below(bytes.size());
  const std::size_t rest = bytes.size() - at;
  switch (draws.below(7)) {
    case 0:
      if (rest > 0) bytes[at] = static_cast<char>(bytes[at] ^ (1 << draws.below(8)));
      break;
    case 1:
      if (rest > 0) bytes[at] = static_cast<char>(draws.below(256));
      break;
    case 2: {
      const std::uint64_t number = kBorders[draws.below(kBorders.size())] + draws.below(3) - 1;
      const std::size_t width = std::min<std::size_t>(rest, std::size_t{1} << draws.below(4));
      bytes.replace(at, width, reinterpret_cast<const char*>(&number), width);
      break;
    }
    case 3:
      bytes.erase(at, draws.below(17));
      break;
    case 4:
      bytes.insert(at, bytes.substr(draws.below(bytes.size() + 1), draws.below(33)));
      break;
    case 5:
      bytes.resize(at);
      break;
    default: {
      const std::string& other = seeds[draws.below(seeds.size())];
      const std::size_t from = draws.below(other.size() + 1);
      bytes.replace(at, std::string::npos, other, from, std::string::npos);
    }
  }
}

void run_current() {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, save_input);
  for (int i = 1; i < argc; ++i) {
    current = read_file(argv[i]);
    run_current();
  }
  if (argc > 1) return 0;

  const std::vector<std::string> seeds = fuzz_seeds();
  for (std::uint64_t i = 0; i < kCases; ++i) {
    Draws draws(i);
    current = seeds[i % seeds.size()];
    const std::uint64_t steps = i < seeds.size() ? 0 : 1 + draws.below(4);
    for (std::uint64_t step = 0; step < steps; ++step) mutate_once(current, seeds, draws);
    if (current.size() > kMaxBytes) current.resize(kMaxBytes);
    run_current();
  }
  std::printf("%llu cases\n", static_cast<unsigned long long>(kCases));
  return 0;
}
