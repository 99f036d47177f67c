// The configuration block `model`: one model from a folder or a preset, or a vision-language model put
// together from parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loongforge {

class Fields;

// Where one part comes from.
struct PartConfig {
  std::string path;
  std::string preset;

  bool given() const { return !path.empty() || !preset.empty(); }
};

struct ProjectorConfig {
  std::string kind = "patch_merge";
  std::int64_t hidden_size = 0;
  std::int64_t merge_size = 0;
  std::int64_t depth = 2;
  std::int64_t heads = 8;
  std::int64_t tokens = 64;
};

struct ModelConfig {
  std::string path;
  std::string preset;
  std::string init = "auto";
  std::string tokenizer;
  PartConfig vision, language;
  ProjectorConfig projector;
  std::string form = "composed";
  bool grid_positions = false;
  std::string image_token = "<|image_pad|>";
  std::string video_token = "<|video_pad|>";
  std::string start_token = "<|vision_start|>";
  std::string end_token = "<|vision_end|>";

  void fields(Fields& f);
  bool composed() const { return vision.given() || language.given(); }
  // Where the tokenizer is found; empty: nowhere.
  const std::string& tokenizer_path() const;
  // Keys that contradict each other or have no effect, one sentence each.
  std::vector<std::string> violations() const;
};

// What is trained, and how, of one part of a vision-language model: the blocks `vision`, `projector`,
// `language`.
struct ComponentConfig {
  bool train = true;
  double lr_scale = 1.0;
  std::string compute = "auto";
  std::int64_t lora_rank = 0;
  double lora_alpha = 16;
  std::vector<std::string> lora_targets = {"all-linear"};

  void fields(Fields& f, const std::string& name);
  bool operator==(const ComponentConfig&) const = default;
};

}  // namespace loongforge
