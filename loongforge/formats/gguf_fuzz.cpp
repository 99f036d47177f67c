#include "loongforge/formats/fuzz.h"
#include "loongforge/formats/gguf.h"

namespace loongforge {
namespace {

template <typename T>
std::string raw(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string text(std::string_view content) {
  return raw(std::uint64_t{content.size()}).append(content);
}

std::string key(std::string_view name, std::uint32_t type, const std::string& value) {
  return text(name).append(raw(type)).append(value);
}

// A one-dimensional tensor.
std::string tensor(std::string_view name, std::uint64_t size, GgmlType type, std::uint64_t offset) {
  return text(name).append(raw(std::uint32_t{1})).append(raw(size)).append(raw(type)).append(raw(offset));
}

std::string file_of(std::uint64_t tensors, std::uint64_t keys, const std::string& head, std::size_t data) {
  std::string file =
      std::string("GGUF").append(raw(std::uint32_t{3})).append(raw(tensors)).append(raw(keys)) + head;
  file.resize((file.size() + 31) / 32 * 32);
  return file.append(data, 'q');
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  const std::string list =
      raw(std::uint32_t{8}).append(raw(std::uint64_t{2})).append(text("a")).append(text("bc"));
  const std::string nested = raw(std::uint32_t{9}).append(raw(std::uint64_t{1})).append(list);
  return {file_of(0, 0, "", 0),
          file_of(0, 3,
                  key("general.alignment", 4, raw(std::uint32_t{64})) + key("n", 9, nested) +
                      key("f", 6, raw(1.f)),
                  64),
          file_of(2, 1,
                  key("s", 8, text("llama")) + tensor("w", 256, GgmlType::kQ6_K, 0) +
                      tensor("b", 32, GgmlType::kQ4_1, 224),
                  244),
          file_of(2, 0, tensor("w", 256, GgmlType::kQ3_K, 0) + tensor("f", 8, GgmlType::kF32, 128), 160)};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  static const FuzzFile target(".gguf");
  const fs::path& path = target.put({reinterpret_cast<const char*>(data), size});
  expect_read_or<CheckpointError>([&] {
    const GgufFile file(path);
    dump_json(file.metadata());
    std::vector<float> out;
    for (const GgufTensor& info : file.tensors()) {
      touch(file.bytes(info.name));
      out.resize(static_cast<std::size_t>(info.numel));
      file.dequantize(info.name, out);
    }
  });
  return 0;
}
