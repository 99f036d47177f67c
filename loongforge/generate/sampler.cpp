#include "loongforge/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

struct Candidate {
  double logit;
  std::int32_t id;
};

// Likelier first; equal logits by id, so that the order never depends on the sort.
bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

template <typename T>
std::int32_t largest(std::span<const T> logits) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    check<NumericError>(!std::isnan(logits[i]), "logit of token ", i, ": expected a number, got NaN; the ",
                        "weights are damaged or training has diverged");
    if (logits[i] > logits[best]) best = i;
  }
  check<NumericError>(!logits.empty() && std::isfinite(logits[best]),
                      "logits: expected a finite largest value, got ", logits.empty() ? "none" : "infinity",
                      "; the weights are damaged or training has diverged");
  return static_cast<std::int32_t>(best);
}

// Number of leading candidates whose probabilities reach top_p (at least one).
std::size_t nucleus(const std::vector<double>& weights, double total, double top_p) {
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (sum >= top_p * total) return i + 1;
  }
  return weights.size();
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options), random_(options.seed, "sampling") {
  check<ConfigError>(std::isfinite(options.temperature) && options.temperature >= 0.0,
                     "temperature: expected 0 (greedy) or more, got ", options.temperature);
  check<ConfigError>(options.top_k >= 0, "top_k: expected 0 (all tokens) or more, got ", options.top_k);
  check<ConfigError>(options.top_p > 0.0 && options.top_p <= 1.0,
                     "top_p: expected above 0 and at most 1, got ", options.top_p);
}

template <typename T>
std::int32_t Sampler::draw(std::span<const T> logits, std::uint64_t sequence, std::uint64_t position) const {
  const std::int32_t best = largest(logits);
  if (options_.temperature == 0.0 || options_.top_k == 1) return best;

  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) candidates.push_back({logits[i], static_cast<std::int32_t>(i)});
  }
  std::size_t kept = candidates.size();
  if (options_.top_k > 0) kept = std::min(kept, static_cast<std::size_t>(options_.top_k));
  if (kept < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                     candidates.end(), likelier);
    candidates.resize(kept);
  }
  // Only top_p needs the order; without it any fixed order of the ids draws from the same distribution, but
  // nth_element's is not fixed across libraries.
  if (options_.top_p < 1.0 || options_.top_k > 0) std::sort(candidates.begin(), candidates.end(), likelier);

  std::vector<double> weights(kept);
  double total = 0.0;
  const double top = logits[static_cast<std::size_t>(best)];
  for (std::size_t i = 0; i < kept; ++i) {
    weights[i] = std::exp((candidates[i].logit - top) / options_.temperature);
    total += weights[i];
  }
  if (options_.top_p < 1.0) {
    kept = nucleus(weights, total, options_.top_p);
    total = 0.0;
    for (std::size_t i = 0; i < kept; ++i) total += weights[i];
  }
  double left = random_.uniform(sequence, position) * total;
  for (std::size_t i = 0; i < kept; ++i) {
    left -= weights[i];
    if (left < 0.0) return candidates[i].id;
  }
  return best;  // rounding left a crumb of the last weight
}

std::int32_t Sampler::sample(std::span<const float> logits, std::uint64_t sequence,
                             std::uint64_t position) const {
  return draw(logits, sequence, position);
}

std::int32_t Sampler::sample(std::span<const double> logits, std::uint64_t sequence,
                             std::uint64_t position) const {
  return draw(logits, sequence, position);
}

}  // namespace loongforge
