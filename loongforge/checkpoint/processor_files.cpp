#include "loongforge/checkpoint/processor_files.h"

#include <algorithm>

#include "loongforge/base/files.h"

namespace loongforge {
namespace {

constexpr const char* kImages = "preprocessor_config.json";
constexpr const char* kVideos = "video_preprocessor_config.json";
constexpr const char* kProcessor = "processor_config.json";
constexpr int kBicubic = 3;  // Pillow's number

// Upstream's defaults, but for the statistics of a model that has its own.
Json common_settings(const VisualInfo& visual) {
  const PatchConfig defaults;
  const PixelNormalisation pixels =
      visual.normalisation.value_or(PixelNormalisation{defaults.image_mean, defaults.image_std});
  return {{"do_convert_rgb", true},
          {"do_normalize", true},
          {"do_rescale", true},
          {"do_resize", true},
          {"image_mean", pixels.mean},
          {"image_std", pixels.deviation},
          {"merge_size", visual.merge_size},
          {"patch_size", visual.patch_size},
          {"resample", kBicubic},
          {"rescale_factor", defaults.rescale_factor},
          {"temporal_patch_size", visual.temporal_patch_size}};
}

// Of a model whose pictures all have one size; frames of clips are prepared by the same file.
ProcessorFiles square_files(const VisualInfo& visual) {
  Json images = common_settings(visual);
  images["image_processor_type"] = "SiglipImageProcessor";
  images["size"] = {{"height", visual.picture_side}, {"width", visual.picture_side}};
  return {{kImages, dump_json_pretty(images)}};
}

// A limit that is given moves the other one out of its way.
Json size_settings(std::int64_t least, std::int64_t most, std::int64_t min_pixels, std::int64_t max_pixels) {
  if (min_pixels > 0) least = min_pixels;
  if (max_pixels > 0) most = max_pixels;
  if (min_pixels == 0) least = std::min(least, most);
  if (max_pixels == 0) most = std::max(least, most);
  return {{"shortest_edge", least}, {"longest_edge", most}};
}

Json image_settings(const VisualInfo& visual, std::int64_t min_pixels, std::int64_t max_pixels) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["image_processor_type"] = "Qwen2VLImageProcessor";
  out["size"] = size_settings(4 * factor * factor, 1280 * factor * factor, min_pixels, max_pixels);
  return out;
}

Json video_settings(const VisualInfo& visual, std::int64_t min_pixels, std::int64_t max_pixels) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["video_processor_type"] = "Qwen2VLVideoProcessor";
  out["size"] = size_settings(128 * factor * factor, 768 * factor * factor, min_pixels, max_pixels);
  out["do_sample_frames"] = false;
  out["min_frames"] = 4;
  out["max_frames"] = 768;
  return out;
}

}  // namespace

ProcessorFiles read_processor_files(const std::filesystem::path& folder) {
  ProcessorFiles files;
  for (const char* name : {kImages, kVideos, kProcessor})
    if (fs::exists(folder / name)) files[name] = read_file<CheckpointError>(folder / name);
  return files;
}

ProcessorFiles make_processor_files(const VisualInfo& visual, std::int64_t min_pixels,
                                    std::int64_t max_pixels) {
  if (visual.picture_side > 0) return square_files(visual);
  constexpr const char* kClass = "Qwen2_5_VLProcessor";
  Json images = image_settings(visual, min_pixels, max_pixels),
       videos = video_settings(visual, min_pixels, max_pixels);
  const Json processor = {
      {"image_processor", images}, {"video_processor", videos}, {"processor_class", kClass}};
  images["processor_class"] = videos["processor_class"] = kClass;
  return {{kImages, dump_json_pretty(images)},
          {kVideos, dump_json_pretty(videos)},
          {kProcessor, dump_json_pretty(processor)}};
}

void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, text] : files) write_file_atomic(folder / name, text);
}

}  // namespace loongforge
