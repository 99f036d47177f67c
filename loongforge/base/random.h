// Counter-based random numbers (Philox4x32-10, Salmon et al. 2011): every draw is a pure function of
// (seed, purpose, step, index), so there is no generator state that could be lost.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace loongforge {

// One block of four 32-bit words.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// A named stream of draws. `purpose` keeps streams of one seed apart ("weights", "dropout", "order", ...).
class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::string_view purpose);

  std::uint64_t bits(std::uint64_t step, std::uint64_t index) const;
  // Uniform in [0, 1) with 53 bits.
  double uniform(std::uint64_t step, std::uint64_t index) const;
  // Standard normal (Box-Muller), |x| < 8.6.
  double normal(std::uint64_t step, std::uint64_t index) const;
  // Uniform in [0, n), n >= 1.
  std::uint64_t below(std::uint64_t n, std::uint64_t step, std::uint64_t index) const;

 private:
  std::array<std::uint32_t, 2> key_;
};

// Image of `index` under a pseudo-random permutation of [0, n) chosen by (seed, purpose, epoch): O(1) memory
// and expected O(1) time (cycle walking over a Feistel network).
std::uint64_t permute_index(std::uint64_t index, std::uint64_t n, std::uint64_t seed,
                            std::string_view purpose, std::uint64_t epoch);

// FNV-1a of the bytes.
std::uint64_t hash_bytes(std::string_view bytes);

}  // namespace loongforge
