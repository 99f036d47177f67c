#include "loongforge/models/vlm/inputs.h"

#include <ATen/ops/cat.h>

#include "loongforge/base/error.h"
#include "loongforge/models/vision/tower.h"

namespace loongforge {
namespace {

// Hands out one picture or clip after the other.
class Stream {
 public:
  Stream(const char* what, const VisualInputs& inputs, const VisualInfo& visual)
      : what_(what), inputs_(inputs), visual_(visual) {
    if (inputs.empty()) return;
    const std::int64_t row =
        visual.channels * visual.temporal_patch_size * visual.patch_size * visual.patch_size;
    const at::Tensor grids = inputs.grid_thw.contiguous();
    grids_.assign(grids.const_data_ptr<std::int64_t>(), grids.const_data_ptr<std::int64_t>() + grids.numel());
    std::int64_t patches = 0;
    for (std::size_t i = 0; i < grids_.size(); i += 3) patches += grids_[i] * grids_[i + 1] * grids_[i + 2];
    check<DataError>(inputs.pixel_values.defined() && inputs.pixel_values.dim() == 2 &&
                         inputs.pixel_values.size(0) == patches && inputs.pixel_values.size(1) == row,
                     "pixels of ", what, ": expected (", patches, ", ", row, ") as the grids say, got ",
                     inputs.pixel_values.defined() ? concat(inputs.pixel_values.sizes()) : "nothing");
  }

  std::size_t count() const { return grids_.size() / 3; }
  std::size_t taken() const { return next_; }
  const char* what() const { return what_; }

  // Appends the next one to `out`; returns its tokens.
  std::int64_t take(std::vector<at::Tensor>& pixels, std::vector<at::Tensor>& grids,
                    std::vector<double>& seconds) {
    check<DataError>(next_ < count(), "input_ids hold places for more than ", count(), " ", what_);
    const std::int64_t* grid = &grids_[3 * next_];
    const std::int64_t patches = grid[0] * grid[1] * grid[2];
    pixels.push_back(inputs_.pixel_values.narrow(0, first_patch_, patches));
    grids.push_back(inputs_.grid_thw.narrow(0, static_cast<std::int64_t>(next_), 1));
    seconds.push_back(next_ < inputs_.seconds.size() ? inputs_.seconds[next_] : 1.0);
    first_patch_ += patches;
    ++next_;
    return visual_.tokens_of(grid[0], grid[1], grid[2]);
  }

 private:
  const char* what_;
  const VisualInputs& inputs_;
  const VisualInfo& visual_;
  std::int64_t first_patch_ = 0;
  std::vector<std::int64_t> grids_;
  std::size_t next_ = 0;
};

}  // namespace

VisualInputs in_order_of_places(const at::Tensor& ids, const VisualInputs& pictures,
                                const VisualInputs& clips, const VisualInfo& visual) {
  Stream images("pictures", pictures, visual), videos("clips", clips, visual);
  VisualInputs out;
  std::vector<at::Tensor> pixels, grids;
  const at::Tensor flat = ids.contiguous();
  const std::int64_t* id = flat.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < flat.numel();) {
    const bool clip = id[i] == visual.video_token;
    if (!clip && id[i] != visual.image_token) {
      ++i;
    } else {
      i += (clip ? videos : images).take(pixels, grids, out.seconds);
    }
  }
  for (const Stream* stream : {&images, &videos})
    check<DataError>(stream->taken() == stream->count(), "input_ids hold places for ", stream->taken(), " ",
                     stream->what(), ", but there are ", stream->count());
  if (grids.empty()) return {};
  out.pixel_values = at::cat(pixels);
  out.grid_thw = at::cat(grids);
  return out;
}

VisualInputs joined(std::span<const VisualInputs* const> parts) {
  std::vector<at::Tensor> pixels, grids;
  VisualInputs out;
  for (const VisualInputs* part : parts) {
    if (part->empty()) continue;
    pixels.push_back(part->pixel_values);
    grids.push_back(part->grid_thw);
    const auto count = static_cast<std::size_t>(part->grid_thw.size(0));
    for (std::size_t i = 0; i < count; ++i)
      out.seconds.push_back(i < part->seconds.size() ? part->seconds[i] : 1.0);
  }
  if (grids.empty()) return {};
  out.pixel_values = at::cat(pixels);
  out.grid_thw = at::cat(grids);
  return out;
}

void put_visual(Flow& flow, const VisualInputs& inputs) {
  if (inputs.empty()) return;
  flow[vision_flow::kPixels] = inputs.pixel_values;
  flow[vision_flow::kGrid] = inputs.grid_thw;
}

}  // namespace loongforge
