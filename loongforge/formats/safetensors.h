// Reading safetensors (github.com/huggingface/safetensors): an 8-byte length, a JSON header, the tensors'
// bytes. Files are mapped, so a tensor costs memory only when it is touched.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/formats/tensor_info.h"

namespace loongforge {

// One mapped file. The constructor checks the whole header: length, types, shapes, and that the tensors'
// ranges tile the data exactly. Throws CheckpointError naming file and tensor. Const calls are thread-safe.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const fs::path& path);

  const fs::path& path() const { return path_; }
  // In the order of their bytes in the file.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  // Null when the file has no such tensor.
  const TensorInfo* find(std::string_view name) const;
  // The tensor's bytes, little endian, valid as long as this object; alignment is not guaranteed.
  // Throws CheckpointError when the file has no such tensor.
  std::span<const std::byte> bytes(std::string_view name) const;
  // The header's "__metadata__", e.g. {"format": "pt"}.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  fs::path path_;
  MappedFile file_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::span<const std::byte>> bytes_;
  std::unordered_map<std::string_view, std::size_t> index_;  // names point into tensors_
  std::map<std::string, std::string> metadata_;
};

// The tensors of one model: a file, an index ("*.index.json") with its shards, or a folder that holds
// STEM.safetensors or STEM.safetensors.index.json. Throws CheckpointError when neither exists, a shard is
// missing, a tensor is in two shards, or the shards do not hold what the index names (all listed).
class SafetensorsSet {
 public:
  explicit SafetensorsSet(const fs::path& path, const std::string& stem = "model");

  // What was given to the constructor.
  const fs::path& path() const { return path_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;
  std::span<const std::byte> bytes(std::string_view name) const;
  // Of the first shard.
  const std::map<std::string, std::string>& metadata() const { return shards_.front().metadata(); }
  const std::vector<SafetensorsFile>& shards() const { return shards_; }

 private:
  void open_index(const fs::path& index);
  void add_shard(const fs::path& path);

  fs::path path_;
  std::vector<SafetensorsFile> shards_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> index_;  // name -> shard, position
};

}  // namespace loongforge
