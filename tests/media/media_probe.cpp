// Drives the floor media from the Python tests of this folder: raw levels in, raw levels or float32 out.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loongforge/base/json.h"
#include "loongforge/media/frame_sampling.h"
#include "loongforge/media/image.h"
#include "loongforge/media/patches.h"
#include "loongforge/media/resize.h"
#include "loongforge/media/smart_resize.h"
#include "loongforge/media/tiles.h"
#include "loongforge/media/video.h"

namespace loongforge {
namespace {

using Arguments = std::vector<std::string>;

int number(const Arguments& arguments, std::size_t i) {
  return std::stoi(arguments.at(i));
}

template <typename T>
void put(AtomicFile& file, const std::vector<T>& values) {
  file.write(std::as_bytes(std::span(values)));
}

// Images of one size out of a file of raw levels.
std::vector<Image> raw_images(const fs::path& path, ImageSize size) {
  const MappedFile file(path);
  std::vector<Image> images;
  for (std::size_t at = 0; at < file.bytes().size(); at += images.back().rgb.size()) {
    std::ranges::copy(
        file.bytes().subspan(at, Image(size.height, size.width).rgb.size()),
        std::as_writable_bytes(std::span(images.emplace_back(size.height, size.width).rgb)).begin());
  }
  return images;
}

ResizeOptions resize_options(const Json& config) {
  return {config.value("filter", "bicubic") == "bicubic" ? Filter::kBicubic : Filter::kBilinear,
          config.value("backend", "torchvision") == "pillow" ? ResizeBackend::kPillow
                                                             : ResizeBackend::kTorchvision};
}

// IN OUT
void decode(const Arguments& arguments) {
  const Image image = read_image(arguments.at(0));
  std::printf("%d %d\n", image.height, image.width);
  AtomicFile out(arguments.at(1));
  put(out, image.rgb);
  out.commit();
}

// CASES.json OUT: [{"file", "size", "to", "filter", "backend"}], the results one behind the other.
void resize_all(const Arguments& arguments) {
  AtomicFile out(arguments.at(1));
  for (const Json& item : read_json(arguments.at(0))) {
    const auto images = raw_images(item["file"].get<std::string>(), {item["size"][0], item["size"][1]});
    put(out, resize(images.at(0), {item["to"][0], item["to"][1]}, resize_options(item)).rgb);
  }
  out.commit();
}

// IN HEIGHT WIDTH MAX_TILES OUT
void tiles(const Arguments& arguments) {
  TileOptions options;
  options.max_tiles = number(arguments, 3);
  AtomicFile out(arguments.at(4));
  for (const Image& image : raw_images(arguments.at(0), {number(arguments, 1), number(arguments, 2)})) {
    for (const Image& tile : cut_tiles(image, options)) put(out, tile.rgb);
  }
  out.commit();
}

// SIZES.json: [[height, width, frames, temporal_factor, factor, min, max]], frames 0 for a picture.
void smart_sizes(const Arguments& arguments) {
  for (const Json& item : read_json(arguments.at(0))) {
    const ImageSize size{item[0], item[1]};
    const PixelBudget budget{item[4], item[5], item[6]};
    const ImageSize to =
        item[2] == 0 ? smart_resize(size, budget) : smart_resize_video(size, item[2], item[3], budget);
    std::printf("%d %d\n", to.height, to.width);
  }
}

// CONFIG.json IN HEIGHT WIDTH OUT: the frames of one picture or video.
void patches(const Arguments& arguments) {
  const Json json = read_json(arguments.at(0));
  PatchConfig config;
  config.patch_size = json.value("patch_size", config.patch_size);
  config.temporal_patch_size = json.value("temporal_patch_size", config.temporal_patch_size);
  config.merge_size = json.value("merge_size", config.merge_size);
  config.min_pixels = json.value("min_pixels", config.min_pixels);
  config.max_pixels = json.value("max_pixels", config.max_pixels);
  config.count_all_frames = json.value("count_all_frames", false);
  config.do_rescale = json.value("do_rescale", true);
  config.do_normalize = json.value("do_normalize", true);
  config.image_mean = json.value("image_mean", config.image_mean);
  config.image_std = json.value("image_std", config.image_std);
  config.resize = resize_options(json);
  if (json.contains("size")) config.fixed_size = ImageSize{json["size"]["height"], json["size"]["width"]};
  const auto frames = raw_images(arguments.at(1), {number(arguments, 2), number(arguments, 3)});
  const PatchRows rows = make_patches(frames, config);
  std::printf("%ld %ld %ld %ld\n", rows.grid_t, rows.grid_h, rows.grid_w, rows.row_size);
  AtomicFile out(arguments.at(4));
  put(out, rows.values);
  out.commit();
}

// CASES.json: [[frames, fps, wanted fps, min, max, whether to the last]]
void sample(const Arguments& arguments) {
  for (const Json& item : read_json(arguments.at(0))) {
    const FrameSampling sampling{item[2], item[3], item[4]};
    const auto rule = item[5].get<bool>() ? sample_frames_to_last : sample_frames;
    std::puts(dump_json(Json(rule(item[0], item[1], sampling, "case"))).c_str());
  }
}

// IN OUT INDEX...: what is known of a video, and some of its frames (without indices all).
void video(const Arguments& arguments) {
  const VideoReader reader(arguments.at(0));
  const VideoInfo& info = reader.info();
  std::printf("%ld %.17g %d %d\n", info.frames, info.fps, info.size.height, info.size.width);
  std::vector<std::int64_t> indices;
  for (std::size_t i = 2; i < arguments.size(); ++i) indices.push_back(number(arguments, i));
  for (std::int64_t i = 0; arguments.size() == 2 && i < info.frames; ++i) indices.push_back(i);
  AtomicFile out(arguments.at(1));
  reader.read(indices, [&](std::int64_t, const Image& image) { put(out, image.rgb); });
  out.commit();
}

int run(const std::string& command, const Arguments& arguments) {
  const std::map<std::string, std::function<void(const Arguments&)>> commands = {
      {"decode", decode},   {"resize", resize_all}, {"tiles", tiles}, {"smart-sizes", smart_sizes},
      {"patches", patches}, {"sample", sample},     {"video", video},
  };
  const auto found = commands.find(command);
  check<ConfigError>(found != commands.end(), "unknown command ", command);
  found->second(arguments);
  return 0;
}

}  // namespace
}  // namespace loongforge

int main(int argc, char** argv) {
  try {
    loongforge::check<loongforge::ConfigError>(argc >= 2, "usage: media_probe COMMAND ARGUMENTS...");
    return loongforge::run(argv[1], {argv + 2, argv + argc});
  } catch (const loongforge::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exit_code();
  }
}
