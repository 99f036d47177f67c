#include "loongforge/formats/fuzz.h"
#include "loongforge/formats/webdataset.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  const FuzzFile target(".seed.tar");
  const std::string content(700, 'c');
  std::vector<std::string> seeds;
  for (const std::size_t length : {3, 200}) {
    const fs::path& path = target.put("");
    TarWriter writer(path);
    writer.add(std::string(length, 'n') + ".jpg", std::as_bytes(std::span(content)));
    writer.add(std::string(length, 'n') + ".json", std::as_bytes(std::span(content)));
    writer.add("other.txt", {});
    writer.commit();
    seeds.push_back(read_file(path));
  }
  return seeds;
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  static const FuzzFile target(".tar");
  const fs::path& path = target.put({reinterpret_cast<const char*>(data), size});
  expect_read_or<DataError>([&] {
    const WebdatasetShard shard(path);
    for (std::int64_t i = 0; i < shard.size(); ++i) {
      for (const SamplePart& part : shard.sample(i).parts) touch(shard.bytes(part));
    }
  });
  return 0;
}
