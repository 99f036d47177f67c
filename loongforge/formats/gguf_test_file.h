// Builds GGUF files byte by byte for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loongforge/formats/ggml_type.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {

inline std::string gguf_string(std::string_view text) {
  return raw(static_cast<std::uint64_t>(text.size())) + std::string(text);
}

struct GgufTestFile {
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::uint64_t keys = 0, tensor_count = 0;
  std::string metadata, infos, data;

  // `value` holds the bytes behind the type number.
  void key(std::string_view name, std::uint32_t type, const std::string& value) {
    metadata += gguf_string(name) + raw(type) + value;
    ++keys;
  }
  // `dims` in the file's order, innermost first.
  void tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
              const std::string& bytes) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    tensor_at(name, dims, type, data.size());
    data += bytes;
  }
  void tensor_at(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                 std::uint64_t offset) {
    infos += gguf_string(name) + raw(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) infos += raw(dim);
    infos += raw(type) + raw(offset);
    ++tensor_count;
  }
  std::string bytes() const {
    std::string text = "GGUF" + raw(version) + raw(tensor_count) + raw(keys) + metadata + infos;
    if (tensor_count > 0) text.resize((text.size() + alignment - 1) / alignment * alignment);
    return text + data;
  }
};

}  // namespace loongforge
