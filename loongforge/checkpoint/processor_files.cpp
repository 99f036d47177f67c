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

// How a tower cuts pictures, and what is done to them before.
Json with_patches(const VisualInfo& visual, const Json& settings) {
  Json out = {{"do_convert_rgb", true},
              {"merge_size", visual.merge_size},
              {"patch_size", visual.patch_size},
              {"temporal_patch_size", visual.temporal_patch_size}};
  out.update(settings);
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
  const MediaProcessor defaults = read_media_processor({}, visual);
  Json images = with_patches(visual, picture_settings(defaults));
  if (visual.picture_side > 0) {  // frames of clips are prepared by the same file
    images["image_processor_type"] = "SiglipImageProcessor";
    return {{kImages, dump_json_pretty(images)}};
  }
  Json videos = with_patches(visual, clip_settings(defaults));
  images["image_processor_type"] = "Qwen2VLImageProcessor";
  videos["video_processor_type"] = kVideoProcessor;
  videos["do_sample_frames"] = false;
  constexpr const char* kClass = "Qwen2_5_VLProcessor";
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
              "; pictures are prepared as models of its kind do by default");
}

void write_processor_files(const ProcessorFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, text] : files) write_file_atomic(folder / name, text);
}

}  // namespace loongforge
