#include <algorithm>

#include "loongforge/formats/fuzz.h"
#include "loongforge/formats/indexed_dataset.h"

namespace loongforge {
namespace {

// An input is the length of the .idx file as 16 bits, the .idx file, the .bin file.
std::string input_of(std::uint8_t type, const std::vector<std::int32_t>& lengths, std::int64_t item_bytes) {
  const auto put = [](std::string& out, auto number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  std::string index("MMIDIDX\0\0", 9);
  put(index, std::uint64_t{1});
  put(index, type);
  put(index, std::uint64_t{lengths.size()});
  put(index, std::uint64_t{2});
  for (const std::int32_t length : lengths) put(index, length);
  std::int64_t end = 0;
  for (const std::int32_t length : lengths) {
    put(index, end);
    end += length * item_bytes;
  }
  put(index, std::int64_t{0});
  put(index, static_cast<std::int64_t>(lengths.size()));
  std::string input;
  put(input, static_cast<std::uint16_t>(index.size()));
  return input.append(index).append(static_cast<std::size_t>(end), '\1');
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {input_of(8, {3, 1, 0, 5}, 2), input_of(4, {1, 2}, 4), input_of(5, {2}, 8), input_of(1, {}, 1)};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  if (size < 2) return 0;
  static const FuzzFile idx(".idx"), bin(".bin");
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = std::min<std::size_t>(rest.size(), data[0] + 256u * data[1]);
  bin.put(rest.substr(split));
  const fs::path& path = idx.put(rest.substr(0, split));
  expect_read_or<DataError>([&] {
    const IndexedDatasetReader reader(path);
    for (std::int64_t i = 0; i < reader.size(); ++i) reader.read(i);
    if (reader.document_bounds().back() != reader.size()) std::abort();
  });
  return 0;
}
