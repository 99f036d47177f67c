#include "loongforge/checkpoint/processor_files.h"

#include "loongforge/base/files.h"

namespace loongforge {
namespace {

constexpr const char* kImages = "preprocessor_config.json";
constexpr const char* kVideos = "video_preprocessor_config.json";
constexpr const char* kProcessor = "processor_config.json";

// Upstream's defaults: CLIP's statistics, bicubic resizing.
Json common_settings(const VisualInfo& visual) {
  return {{"do_convert_rgb", true},
          {"do_normalize", true},
          {"do_rescale", true},
          {"do_resize", true},
          {"image_mean", Json::array({0.48145466, 0.4578275, 0.40821073})},
          {"image_std", Json::array({0.26862954, 0.26130258, 0.27577711})},
          {"merge_size", visual.merge_size},
          {"patch_size", visual.patch_size},
          {"resample", 3},
          {"rescale_factor", 1.0 / 255},
          {"temporal_patch_size", visual.temporal_patch_size}};
}

Json image_settings(const VisualInfo& visual) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["image_processor_type"] = "Qwen2VLImageProcessor";
  out["size"] = {{"shortest_edge", 4 * factor * factor}, {"longest_edge", 1280 * factor * factor}};
  return out;
}

Json video_settings(const VisualInfo& visual) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["video_processor_type"] = "Qwen2VLVideoProcessor";
  out["size"] = {{"shortest_edge", 128 * factor * factor}, {"longest_edge", 768 * factor * factor}};
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

ProcessorFiles make_processor_files(const VisualInfo& visual) {
  constexpr const char* kClass = "Qwen2_5_VLProcessor";
  Json images = image_settings(visual), videos = video_settings(visual);
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
