#include "loongforge/base/random.h"

#include <cmath>
#include <numbers>

namespace loongforge {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

CounterRandom::CounterRandom(std::uint64_t seed, std::string_view purpose) {
  // The purpose is mixed by one Philox block, so that close seeds and names share no structure.
  const std::uint64_t name = hash_bytes(purpose);
  const auto mixed =
      philox4x32({static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(name >> 32), 0, 0},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  key_ = {mixed[0], mixed[1]};
}

std::uint64_t CounterRandom::bits(std::uint64_t step, std::uint64_t index) const {
  const auto words = philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                 static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                                key_);
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

double CounterRandom::uniform(std::uint64_t step, std::uint64_t index) const {
  return static_cast<double>(bits(step, index) >> 11) * 0x1.0p-53;
}

double CounterRandom::normal(std::uint64_t step, std::uint64_t index) const {
  const std::uint64_t word = bits(step, index);
  // (0, 1] keeps the logarithm finite.
  const double radius = (static_cast<double>(word >> 32) + 1.0) * 0x1.0p-32;
  const double angle = static_cast<double>(word & 0xffffffffULL) * 0x1.0p-32;
  return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
}

std::uint64_t CounterRandom::below(std::uint64_t n, std::uint64_t step, std::uint64_t index) const {
  // 128-bit multiply: the bias is below n / 2^64.
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits(step, index)) * n >> 64);
}

std::uint64_t permute_index(std::uint64_t index, std::uint64_t n, std::uint64_t seed,
                            std::string_view purpose, std::uint64_t epoch) {
  if (n <= 1) return index;
  int half = 1;
  while (half < 32 && (1ULL << (2 * half)) < n) ++half;
  const std::uint64_t mask = (1ULL << half) - 1;
  const CounterRandom random(seed, purpose);
  do {
    std::uint64_t left = index >> half, right = index & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      const std::uint64_t next = left ^ (random.bits(epoch, right << 3 | round) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= n);
  return index;
}

}  // namespace loongforge
