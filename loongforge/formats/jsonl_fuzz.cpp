#include "loongforge/formats/compress_for_test.h"
#include "loongforge/formats/fuzz.h"
#include "loongforge/formats/jsonl.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  std::string text =
      "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi "
      "\\u2603\"}],\"n\":1.5e3}\n\n[true,null,-7]\r\n\"x\"";
  for (int i = 0; i < 20; ++i) text.append("\n{\"i\":").append(std::to_string(i * i)).append("}");
  return {text, gzipped(text), zstandard(text), gzipped("1\n").append(gzipped("2\n")), "\xef\xbb\xbf[]\n"};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  static const FuzzFile target(".jsonl");
  const fs::path& path = target.put({reinterpret_cast<const char*>(data), size});
  expect_read_or<DataError>([&] {
    JsonlReader reader(path);
    Json value;
    while (reader.next(value)) {
    }
  });
  return 0;
}
