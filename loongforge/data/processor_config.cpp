#include "loongforge/data/processor_config.h"

#include "loongforge/models/config_reader.h"

namespace loongforge {
namespace {

constexpr int kBilinear = 2, kBicubic = 3;  // of PIL.Image.Resampling

// One processor's keys, and the file they stand in.
struct ProcessorFile {
  Json keys = Json::object();
  std::string where = "defaults of the processor";
};

// `nested` of processor_config.json, else the first of the files that is there.
ProcessorFile find_file(const ProcessorFiles& files, const char* nested,
                        std::initializer_list<const char*> names) {
  const auto parsed = [&](const std::string& name) {
    Json json = parse_json<CheckpointError>(files.at(name), name);
    check<CheckpointError>(json.is_object(), name, ": expected an object, got ", json.type_name());
    return json;
  };
  constexpr const char* kWhole = "processor_config.json";
  if (files.contains(kWhole)) {
    const Json json = parsed(kWhole);
    const auto found = json.find(nested);
    if (found != json.end() && found->is_object()) return {*found, concat(kWhole, ": ", nested)};
  }
  for (const char* name : names) {
    if (files.contains(name)) return {parsed(name), name};
  }
  return {};
}

void check_kind(ConfigReader& reader, const char* key) {
  const std::string kind = reader.text(key, "Qwen2VL");
  for (const char* known : {"Qwen2VL", "Qwen2_5_VL", "SiglipImageProcessor"})
    if (kind.starts_with(known)) return;
  reader.refuse(key, "a processor that cuts rows of patches as Qwen2VLImageProcessor does, or SigLIP's");
}

void check_side(ConfigReader& reader, const char* key, std::int64_t side) {
  if (reader.integer(key, 1, side) != side) reader.refuse(key, concat("the model's ", side));
}

std::array<double, 3> channels(const ProcessorFile& file, const char* key, std::array<double, 3> fallback) {
  const auto found = file.keys.find(key);
  if (found == file.keys.end() || found->is_null()) return fallback;
  const bool fits = found->is_array() && found->size() == 3 &&
                    std::ranges::all_of(*found, [](const Json& value) { return value.is_number(); });
  check<CheckpointError>(fits, file.where, ": key '", key, "': expected three numbers, got ", found->dump());
  return found->get<std::array<double, 3>>();
}

// One size of all pictures, of whole tokens but for less than a patch.
ImageSize read_fixed_size(ConfigReader& size, const PatchConfig& config) {
  const auto side = [&](const char* key) {
    const std::int64_t pixels = size.integer(key, config.patch_size);
    if (pixels / config.patch_size % config.merge_size != 0)
      size.refuse(key, concat("as many patches of ", config.patch_size,
                              " pixels as make whole tokens of merge_size = ", config.merge_size));
    return static_cast<int>(pixels);
  };
  return {side("height"), side("width")};
}

// min_pixels and max_pixels stand above the two edges of `size`, the name that newer files use.
void read_limits(ConfigReader& reader, PatchConfig& config) {
  if (const Json* size = reader.object("size")) {
    ConfigReader edges(*size, reader.where() + ": size");
    config.fixed_size.reset();
    if (size->contains("height") || size->contains("width"))
      config.fixed_size = read_fixed_size(edges, config);
    config.min_pixels = edges.integer("shortest_edge", 1, config.min_pixels);
    config.max_pixels = edges.integer("longest_edge", 1, config.max_pixels);
  }
  config.min_pixels = reader.integer("min_pixels", 1, config.min_pixels);
  config.max_pixels = reader.integer("max_pixels", 1, config.max_pixels);
  if (config.min_pixels > config.max_pixels)
    reader.refuse("max_pixels", concat("at least min_pixels = ", config.min_pixels));
}

PatchConfig read_patches(const ProcessorFile& file, const char* kind, PatchConfig config) {
  ConfigReader reader(file.keys, file.where);
  check_kind(reader, kind);
  check_side(reader, "patch_size", config.patch_size);
  check_side(reader, "temporal_patch_size", config.temporal_patch_size);
  check_side(reader, "merge_size", config.merge_size);
  read_limits(reader, config);
  config.do_resize = reader.flag("do_resize", true);
  if (!config.do_resize) config.fixed_size.reset();
  if (config.do_resize && !config.fixed_size && reader.text(kind, "").starts_with("Siglip"))
    reader.refuse("size", "the height and width that SigLIP's processor gives all pictures");
  config.do_rescale = reader.flag("do_rescale", true);
  config.do_normalize = reader.flag("do_normalize", true);
  config.rescale_factor = reader.number("rescale_factor", 0, config.rescale_factor);
  config.image_mean = channels(file, "image_mean", config.image_mean);
  config.image_std = channels(file, "image_std", config.image_std);
  if (!std::ranges::all_of(config.image_std, [](double deviation) { return deviation > 0; }))
    reader.refuse("image_std", "three numbers above 0");
  const std::int64_t filter = reader.integer("resample", 0, kBicubic);
  if (filter != kBicubic && filter != kBilinear) reader.refuse("resample", "2 (bilinear) or 3 (bicubic)");
  config.resize.filter = filter == kBicubic ? Filter::kBicubic : Filter::kBilinear;
  if (reader.text(kind, "").ends_with("Pil")) config.resize.backend = ResizeBackend::kPillow;
  return config;
}

void read_sampling(const ProcessorFile& file, MediaProcessor& out) {
  ConfigReader reader(file.keys, file.where);
  FrameSampling& sampling = out.sampling;
  sampling.temporal_patch_size = out.clip.temporal_patch_size;
  sampling.fps = reader.number("fps", 0, sampling.fps);
  sampling.min_frames = static_cast<int>(reader.integer("min_frames", 1, sampling.min_frames));
  const int least = std::max(sampling.min_frames, sampling.temporal_patch_size);
  sampling.max_frames = static_cast<int>(reader.integer("max_frames", least, sampling.max_frames));
  if (!reader.flag("cap_pixels_per_frame", false)) return;
  constexpr std::int64_t kTokens = 128'000;
  const int side = out.clip.patch_size * out.clip.merge_size;
  // Nine tenths of the tokens are for pixels.
  out.clip_pixels = reader.integer("max_video_tokens", 1, kTokens) * side * side * 9 / 10;
}

Json settings_of(const PatchConfig& config) {
  Json size = {{"shortest_edge", config.min_pixels}, {"longest_edge", config.max_pixels}};
  if (config.fixed_size) size = {{"height", config.fixed_size->height}, {"width", config.fixed_size->width}};
  return {{"do_normalize", config.do_normalize},
          {"do_rescale", config.do_rescale},
          {"do_resize", config.do_resize},
          {"image_mean", config.image_mean},
          {"image_std", config.image_std},
          {"resample", config.resize.filter == Filter::kBicubic ? kBicubic : kBilinear},
          {"rescale_factor", config.rescale_factor},
          {"size", size}};
}

}  // namespace

Json picture_settings(const MediaProcessor& processor) {
  return settings_of(processor.picture);
}

Json clip_settings(const MediaProcessor& processor) {
  Json out = settings_of(processor.clip);
  out["fps"] = processor.sampling.fps;
  out["min_frames"] = processor.sampling.min_frames;
  out["max_frames"] = processor.sampling.max_frames;
  return out;
}

MediaProcessor read_media_processor(const ProcessorFiles& files, const VisualInfo& visual) {
  check<CheckpointError>(visual.channels == 3, "model: expected pictures of 3 channels, got ",
                         visual.channels);
  PatchConfig config;
  config.patch_size = static_cast<int>(visual.patch_size);
  config.temporal_patch_size = static_cast<int>(visual.temporal_patch_size);
  config.merge_size = static_cast<int>(visual.merge_size);
  if (visual.normalisation) {
    config.image_mean = visual.normalisation->mean;
    config.image_std = visual.normalisation->deviation;
  }
  const auto square = static_cast<int>(visual.picture_side);
  if (square > 0) config.fixed_size = ImageSize{square, square};
  // The defaults, which transformers gives for tokens of 28 x 28 pixels.
  const std::int64_t side = visual.patch_size * visual.merge_size, area = side * side;
  config.min_pixels = 4 * area;
  config.max_pixels = 1280 * area;
  MediaProcessor out;
  out.picture = read_patches(find_file(files, "image_processor", {"preprocessor_config.json"}),
                             "image_processor_type", config);
  config.min_pixels = 128 * area;
  config.max_pixels = 768 * area;
  const ProcessorFile clips =
      find_file(files, "video_processor", {"video_preprocessor_config.json", "preprocessor_config.json"});
  out.clip = read_patches(clips, "video_processor_type", config);
  read_sampling(clips, out);
  return out;
}

}  // namespace loongforge
