#include "loongforge/formats/fuzz.h"
#include "loongforge/formats/safetensors.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  const auto file_of = [](const std::string& header, std::size_t data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length)
        .append(header)
        .append(data, 'x');
  };
  return {file_of("{}", 0), file_of(R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8),
          file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[3],"data_offsets":[4,10]},)"
                  R"("b":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]},"c":{"dtype":"I64","shape":[0],)"
                  R"("data_offsets":[10,10]}}   )",
                  10)};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  static const FuzzFile target(".safetensors");
  const fs::path& path = target.put({reinterpret_cast<const char*>(data), size});
  expect_read_or<CheckpointError>([&] {
    const SafetensorsFile file(path);
    for (const TensorInfo& info : file.tensors()) touch(file.bytes(info.name));
  });
  return 0;
}
