#include "loongforge/data/blend.h"

#include <algorithm>
#include <cmath>

#include "loongforge/base/error.h"

namespace loongforge {

namespace {

constexpr int kShareBits = 62;

}  // namespace

Blend::Blend(std::vector<double> weights) : weights_(std::move(weights)), sums_{0} {
  check<ConfigError>(!weights_.empty(),
                     "data.train_weights: expected one weight for each entry of data.train");
  for (const double weight : weights_) {
    check<ConfigError>(std::isfinite(weight) && weight > 0,
                       "data.train_weights: expected numbers above 0, got ", weight,
                       "; leave out data sets that are not to be used");
    sums_.push_back(sums_.back() + weight);
  }
}

Blend::Node Blend::node(std::size_t begin, std::size_t end) const {
  const std::size_t middle = begin + (end - begin) / 2;
  const double share = (sums_[middle] - sums_[begin]) / (sums_[end] - sums_[begin]);
  // Whole numbers, so that counts never jump by two however long the run; neither side gets nothing.
  const auto whole = std::uint64_t{1} << kShareBits;
  const auto left = static_cast<std::uint64_t>(std::llround(std::ldexp(share, kShareBits)));
  return {begin, middle, end, std::clamp<std::uint64_t>(left, 1, whole - 1)};
}

std::int64_t Blend::left_count(const Node& node, std::int64_t g) {
  const auto product = static_cast<unsigned __int128>(g) * node.left_share;
  const auto half = static_cast<unsigned __int128>(1) << (kShareBits - 1);
  return static_cast<std::int64_t>((product + half) >> kShareBits);
}

Blend::Place Blend::locate(std::int64_t g) const {
  std::size_t begin = 0, end = weights_.size();
  while (end - begin > 1) {
    const Node split = node(begin, end);
    const std::int64_t before = left_count(split, g);
    if (left_count(split, g + 1) > before) {
      g = before;
      end = split.middle;
    } else {
      g -= before;
      begin = split.middle;
    }
  }
  return {begin, g};
}

std::vector<std::int64_t> Blend::counts(std::int64_t g) const {
  std::vector<std::int64_t> out(weights_.size());
  const auto fill = [&](auto&& self, std::size_t begin, std::size_t end, std::int64_t n) -> void {
    if (end - begin == 1) {
      out[begin] = n;
      return;
    }
    const Node split = node(begin, end);
    const std::int64_t left = left_count(split, n);
    self(self, begin, split.middle, left);
    self(self, split.middle, end, n - left);
  };
  fill(fill, 0, weights_.size(), g);
  return out;
}

}  // namespace loongforge
