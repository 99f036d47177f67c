// Which data set gives the next row: fixed shares, without random draws and without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loongforge {

// After any number g of rows, the parts of each split of the (binary) tree of sets have got their shares of
// g to within half a row; so the choice of row g is a pure function of g that costs O(log sets).
class Blend {
 public:
  // Shares are the weights by their sum. Throws ConfigError naming data.train_weights unless all are positive
  // and finite.
  explicit Blend(std::vector<double> weights);

  struct Place {
    std::size_t set = 0;
    std::int64_t index = 0;  // rows of this set before
    bool operator==(const Place&) const = default;
  };
  // Set and place in it of row g of the blend.
  Place locate(std::int64_t g) const;
  // Rows of each set among the first g.
  std::vector<std::int64_t> counts(std::int64_t g) const;
  const std::vector<double>& weights() const { return weights_; }

 private:
  struct Node {
    std::size_t begin = 0, middle = 0, end = 0;
    std::uint64_t left_share = 0;  // in 2^-62
  };
  Node node(std::size_t begin, std::size_t end) const;
  static std::int64_t left_count(const Node& node, std::int64_t g);

  std::vector<double> weights_, sums_;
};

}  // namespace loongforge
