// Reading GGUF version 2 and 3 (github.com/ggml-org/ggml, docs/gguf.md): metadata, tensors, dequantisation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loongforge/base/files.h"
#include "loongforge/base/json.h"
#include "loongforge/formats/ggml_type.h"

namespace loongforge {

struct GgufTensor {
  std::string name;
  GgmlType type = GgmlType::kF32;
  // Row major, last dimension contiguous: the reverse of the file's order, e.g. (vocabulary, hidden).
  std::vector<std::int64_t> shape;
  std::int64_t numel = 0;
  // Bytes as stored, and their offset in the file.
  std::int64_t nbytes = 0;
  std::uint64_t offset = 0;
};

// One mapped file. The constructor checks every count, size and offset against the file's length before it
// allocates. Throws CheckpointError naming file and key or tensor. Const calls are thread-safe.
class GgufFile {
 public:
  explicit GgufFile(const fs::path& path);

  const fs::path& path() const { return path_; }
  int version() const { return version_; }
  // Object by key in file order, e.g. metadata()["llama.block_count"]; arrays are JSON arrays.
  const Json& metadata() const { return metadata_; }
  // In file order.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  // Null when the file has no such tensor.
  const GgufTensor* find(std::string_view name) const;
  // The stored bytes of a tensor. Throws CheckpointError when there is none.
  std::span<const std::byte> bytes(std::string_view name) const;
  // Writes the tensor's numel values (row major) as float32. Throws CheckpointError when there is no such
  // tensor or its type is not among those `can_dequantize` names, InternalError when `out` has another size.
  void dequantize(std::string_view name, std::span<float> out) const;

 private:
  fs::path path_;
  MappedFile file_;
  int version_ = 0;
  Json metadata_ = Json::object();
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, std::size_t> index_;  // names point into tensors_
};

}  // namespace loongforge
