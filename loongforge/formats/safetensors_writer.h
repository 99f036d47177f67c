// Writing safetensors: shapes are declared first, bytes are streamed, and the file appears under its name
// only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/formats/tensor_info.h"

namespace loongforge {

// One file. Inside it tensors are ordered by falling element size (then as declared), so that every one is
// aligned; `write` may come in any order, that order is the cheapest. Disk errors throw ResourceError; wrong
// sizes, unknown or repeated names, and `commit` before every tensor is there throw InternalError. Not
// thread-safe. Without `commit` nothing stays on the disk.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const fs::path& path, std::vector<TensorInfo> infos,
                    std::map<std::string, std::string> metadata = {{"format", "pt"}});

  void write(std::string_view name, std::span<const std::byte> bytes);
  // Throws InternalError naming a tensor that was never written.
  void check_complete() const;
  void commit();
  const fs::path& path() const { return path_; }

 private:
  struct Slot {
    std::uint64_t begin = 0, size = 0;
    bool written = false;
  };
  void put(std::uint64_t offset, std::span<const std::byte> bytes);

  fs::path path_;
  std::unordered_map<std::string, Slot> slots_;
  std::uint64_t total_ = 0;
  AtomicFile file_;
};

// Shards DIR/STEM-00001-of-0000N.safetensors of at most `max_shard_bytes` of tensors (a larger tensor gets a
// shard of its own) and DIR/STEM.safetensors.index.json; when one shard suffices, only DIR/STEM.safetensors,
// as Hugging Face does. Tensors are dealt to shards in the order of `infos`. `commit` moves all shards into
// place, the index last, and removes files of an earlier set of that stem. Errors as SafetensorsWriter.
class ShardedSafetensorsWriter {
 public:
  ShardedSafetensorsWriter(const fs::path& dir, const std::string& stem, std::uint64_t max_shard_bytes,
                           std::vector<TensorInfo> infos,
                           std::map<std::string, std::string> metadata = {{"format", "pt"}});

  void write(std::string_view name, std::span<const std::byte> bytes);
  void commit();
  // Bytes of all tensors.
  std::uint64_t total_size() const { return total_size_; }
  std::size_t shard_count() const { return shards_.size(); }

 private:
  std::string index_text() const;
  void remove_stale() const;

  fs::path dir_;
  std::string stem_;
  std::vector<std::unique_ptr<SafetensorsWriter>> shards_;
  std::vector<std::string> names_;                     // in the order of infos
  std::unordered_map<std::string, std::size_t> home_;  // name -> shard
  std::uint64_t total_size_ = 0;
};

}  // namespace loongforge
