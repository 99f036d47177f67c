#include "loongforge/media/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace loongforge {
namespace {

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double triangle(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

// Which rows a row of the result is made of, with weights in units of 2^-precision.
struct Taps {
  int precision = 0;
  std::vector<int> first, count;  // one a row of the result
  std::size_t stride = 0;         // weights a row, beyond `count` unused
  std::vector<std::int32_t> weights;
};

constexpr int kMostPrecision = 22;  // eight bits of a level, one of sign, one to spare in 32

// The most bits behind the point with which the weights fit into int16.
int int16_precision(double largest) {
  int precision = 0;
  while (precision < kMostPrecision && 0.5 + largest * (1 << (precision + 1)) < (1 << 15)) ++precision;
  return precision;
}

Taps make_taps(int in, int out, const ResizeOptions& options) {
  const bool bicubic = options.filter == Filter::kBicubic;
  const double scale = static_cast<double>(in) / out, stretch = std::max(scale, 1.0);
  const double support = (bicubic ? 2.0 : 1.0) * stretch, shrink = 1.0 / stretch;
  Taps taps;
  taps.stride = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
  std::vector<double> weights(taps.stride * static_cast<std::size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double center = scale * (i + 0.5);
    const int first = std::max(static_cast<int>(center - support + 0.5), 0);
    const int count = std::min(static_cast<int>(center + support + 0.5), in) - first;
    double* w = weights.data() + taps.stride * static_cast<std::size_t>(i);
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      const double x = (k + first - center + 0.5) * shrink;
      sum += w[k] = bicubic ? cubic(x) : triangle(x);
    }
    for (int k = 0; k < count; ++k) w[k] /= sum;
    taps.first.push_back(first);
    taps.count.push_back(count);
  }
  taps.precision = options.backend == ResizeBackend::kPillow
                       ? kMostPrecision
                       : int16_precision(*std::ranges::max_element(weights));
  for (const double w : weights) {
    taps.weights.push_back(static_cast<std::int32_t>(w * (1 << taps.precision) + (w < 0 ? -0.5 : 0.5)));
  }
  return taps;
}

// One pass: out (taps.first.size(), row_bytes), each row a weighted sum of rows of `in`. Whole numbers, so
// that wider vectors give the same result.
template <typename Weight>
[[gnu::target_clones("avx2", "default")]] void weigh_rows(const std::uint8_t* in, std::size_t row_bytes,
                                                          const Taps& taps, std::uint8_t* out) {
  constexpr std::size_t kBlock = 1024;
  std::int32_t sums[kBlock];
  for (std::size_t i = 0; i < taps.first.size(); ++i, out += row_bytes) {
    const std::int32_t* weights = taps.weights.data() + taps.stride * i;
    for (std::size_t begin = 0; begin < row_bytes; begin += kBlock) {
      const std::size_t size = std::min(kBlock, row_bytes - begin);
      const std::uint8_t* row = in + row_bytes * static_cast<std::size_t>(taps.first[i]) + begin;
      std::fill_n(sums, size, 1 << (taps.precision - 1));
      for (int k = 0; k < taps.count[i]; ++k, row += row_bytes) {
        const auto weight = static_cast<Weight>(weights[k]);
        for (std::size_t c = 0; c < size; ++c) sums[c] += weight * static_cast<Weight>(row[c]);
      }
      for (std::size_t c = 0; c < size; ++c) {
        out[begin + c] = static_cast<std::uint8_t>(std::clamp(sums[c] >> taps.precision, 0, 255));
      }
    }
  }
}

Image resize_height(const Image& image, int height, const ResizeOptions& options) {
  Image out(height, image.width);
  const Taps taps = make_taps(image.height, height, options);
  const bool narrow = options.backend == ResizeBackend::kTorchvision;
  (narrow ? weigh_rows<std::int16_t> : weigh_rows<std::int32_t>)(image.rgb.data(), image.row_bytes(), taps,
                                                                 out.rgb.data());
  return out;
}

// In squares, for the sake of the cache.
Image transposed(const Image& image) {
  constexpr int kSide = 16;
  Image out(image.width, image.height);
  for (int top = 0; top < image.height; top += kSide) {
    const int bottom = std::min(top + kSide, image.height);
    for (int left = 0; left < image.width; left += kSide) {
      const int right = std::min(left + kSide, image.width);
      for (int x = left; x < right; ++x) {
        for (int y = top; y < bottom; ++y) std::memcpy(out.row(x) + 3 * y, image.row(y) + 3 * x, 3);
      }
    }
  }
  return out;
}

// Transposed twice, so that both passes run over rows, which the compiler turns into vector instructions.
Image resize_width(const Image& image, int width, const ResizeOptions& options) {
  return transposed(resize_height(transposed(image), width, options));
}

}  // namespace

Image resize(const Image& image, ImageSize size, const ResizeOptions& options) {
  check(image.height > 0 && image.width > 0 && size.height > 0 && size.width > 0,
        "resize: expected sides of 1 or more, got ", image.height, " x ", image.width, " to ", size.height,
        " x ", size.width);
  const bool tall = image.height != size.height, wide = image.width != size.width;
  if (!tall && !wide) return image;
  if (!wide) return resize_height(image, size.height, options);
  if (!tall) return resize_width(image, size.width, options);
  const bool height_first = options.backend == ResizeBackend::kPillow && size.height < image.height &&
                            2 * (image.width - size.width) < image.height - size.height;
  if (height_first) return resize_width(resize_height(image, size.height, options), size.width, options);
  return resize_height(resize_width(image, size.width, options), size.height, options);
}

}  // namespace loongforge
