#include "loongforge/checkpoint/processor_files.h"

#include <map>
#include <utility>

#include "loongforge/base/files.h"
#include "loongforge/base/log.h"

namespace loongforge {
namespace {

constexpr const char* kImages = "preprocessor_config.json";
constexpr const char* kVideos = "video_preprocessor_config.json";
constexpr const char* kProcessor = "processor_config.json";
constexpr const char* kVideoProcessor = "Qwen2VLVideoProcessor";
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

Json size_settings(std::int64_t least, std::int64_t most) {
  return {{"shortest_edge", least}, {"longest_edge", most}};
}

Json image_settings(const VisualInfo& visual) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["image_processor_type"] = "Qwen2VLImageProcessor";
  out["size"] = size_settings(4 * factor * factor, 1280 * factor * factor);
  return out;
}

Json video_settings(const VisualInfo& visual) {
  Json out = common_settings(visual);
  const std::int64_t factor = visual.patch_size * visual.merge_size;
  out["video_processor_type"] = kVideoProcessor;
  out["size"] = size_settings(128 * factor * factor, 768 * factor * factor);
  out["do_sample_frames"] = false;
  out["fps"] = FrameSampling().fps;
  out["min_frames"] = 4;
  out["max_frames"] = 768;
  return out;
}

// Older files have the edges of `size` under names of their own, too.
void put(Json& file, const Json& settings) {
  for (const auto& [key, value] : settings.items()) file[key] = value;
  for (const auto& [older, edge] :
       {std::pair("min_pixels", "shortest_edge"), std::pair("max_pixels", "longest_edge")}) {
    const auto found = file.find(older);
    const Json& size = settings.at("size");
    if (found != file.end() && found->is_number() && size.contains(edge)) *found = size.at(edge);
  }
}

// Puts settings into a processor that stands within the file.
bool put_within(Json& file, const char* name, const Json& settings) {
  const auto found = file.find(name);
  if (found == file.end() || !found->is_object()) return false;
  put(*found, settings);
  return true;
}

Json clip_file(Json pictures, const Json& settings) {
  if (pictures.erase("image_processor_type") > 0 && settings.at("size").contains("longest_edge"))
    pictures["video_processor_type"] = kVideoProcessor;
  put(pictures, settings);
  return pictures;
}

}  // namespace

ProcessorFiles read_processor_files(const std::filesystem::path& folder) {
  ProcessorFiles files;
  for (const char* name : {kImages, kVideos, kProcessor})
    if (fs::exists(folder / name)) files[name] = read_file<CheckpointError>(folder / name);
  return files;
}

ProcessorFiles make_processor_files(const VisualInfo& visual) {
  if (visual.picture_side > 0) return square_files(visual);
  constexpr const char* kClass = "Qwen2_5_VLProcessor";
  Json images = image_settings(visual), videos = video_settings(visual);
  const Json processor = {
      {"image_processor", images}, {"video_processor", videos}, {"processor_class", kClass}};
  images["processor_class"] = videos["processor_class"] = kClass;
  return {{kImages, dump_json_pretty(images)},
          {kVideos, dump_json_pretty(videos)},
          {kProcessor, dump_json_pretty(processor)}};
}

ProcessorFiles with_settings(const ProcessorFiles& files, const MediaProcessor& used) {
  const Json pictures = picture_settings(used), clips = clip_settings(used);
  std::map<std::string, Json> parsed;
  for (const auto& [name, text] : files) parsed[name] = parse_json<CheckpointError>(text, name);
  bool has_clips = false;
  Json shown = Json::object();  // how pictures are prepared, for a file of clips
  if (const auto whole = parsed.find(kProcessor); whole != parsed.end()) {
    if (put_within(whole->second, "image_processor", pictures)) shown = whole->second["image_processor"];
    has_clips = put_within(whole->second, "video_processor", clips);
  }
  if (const auto images = parsed.find(kImages); images != parsed.end()) {
    put(images->second, pictures);
    shown = images->second;
  }
  if (const auto videos = parsed.find(kVideos); videos != parsed.end())
    put(videos->second, clips);
  else if (!has_clips)
    parsed[kVideos] = clip_file(shown, clips);
  ProcessorFiles out;
  for (const auto& [name, json] : parsed) out[name] = dump_json_pretty(json);
  return out;
}

void warn_without_processor(const std::filesystem::path& folder) {
  log_warning(folder.string(), ": has no ", kImages,
              "; pictures are prepared by the defaults of Qwen2-VL's processor");
}

void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, text] : files) write_file_atomic(folder / name, text);
}

}  // namespace loongforge
