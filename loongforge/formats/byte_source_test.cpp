#include "loongforge/formats/byte_source.h"

#include <gtest/gtest.h>

#include <string>

#include "loongforge/formats/compress_for_test.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

std::string read_all(const fs::path& path, std::size_t piece = 1000) {
  const auto source = open_decompressed(path);
  std::string all, buffer(piece, '\0');
  while (const std::size_t n = source->read(std::span(buffer.data(), buffer.size())))
    all.append(buffer, 0, n);
  return all;
}

// Longer than any buffer inside, and not too easy to compress.
std::string long_text() {
  std::string text;
  for (std::uint64_t i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text;
}

TEST(ByteSource, ReadsPlainGzipAndZstandardAlike) {
  const TestFolder folder;
  const std::string text = long_text();
  EXPECT_EQ(read_all(folder.put("plain", text)), text);
  EXPECT_EQ(read_all(folder.put("gz", gzipped(text))), text);
  EXPECT_EQ(read_all(folder.put("zst", zstandard(text))), text);
}

TEST(ByteSource, ReadsThroughSeveralMembers) {
  const TestFolder folder;
  const std::string text = long_text();
  EXPECT_EQ(read_all(folder.put("gz", gzipped(text) + gzipped("b") + gzipped("") + gzipped("c"))),
            text + "bc");
  EXPECT_EQ(read_all(folder.put("zst", zstandard(text) + zstandard("b") + zstandard("") + zstandard("c"))),
            text + "bc");
  EXPECT_EQ(read_all(folder.put("pad", gzipped("a") + std::string(600'000, '\0'))), "a");
}

TEST(ByteSource, EmptyFilesAndArchivesAreEmpty) {
  const TestFolder folder;
  EXPECT_EQ(read_all(folder.put("plain", "")), "");
  EXPECT_EQ(read_all(folder.put("gz", gzipped(""))), "");
  EXPECT_EQ(read_all(folder.put("zst", zstandard(""))), "");
  EXPECT_EQ(read_all(folder.put("short", "\x1f")), "\x1f");
}

TEST(ByteSource, OneByteAtATimeIsEnough) {
  const TestFolder folder;
  const std::string text = "some text, some text, some text";
  EXPECT_EQ(read_all(folder.put("gz", gzipped(text) + gzipped(text)), 1), text + text);
  EXPECT_EQ(read_all(folder.put("zst", zstandard(text) + zstandard(text)), 1), text + text);
}

TEST(ByteSource, EveryTruncationOfAnArchiveIsNamed) {
  const TestFolder folder;
  const std::string text = "a line that is long enough to compress, a line that is long enough to compress\n";
  const std::string gz = gzipped(text), zst = zstandard(text);
  for (std::size_t size = 2; size < gz.size(); ++size) {
    const fs::path path = folder.put("cut.gz", gz.substr(0, size));
    EXPECT_TRUE(contains(message_of<DataError>([&] { read_all(path); }), "cut.gz: ends in the middle"))
        << size;
  }
  for (std::size_t size = 4; size < zst.size(); ++size) {
    const fs::path path = folder.put("cut.zst", zst.substr(0, size));
    EXPECT_TRUE(contains(message_of<DataError>([&] { read_all(path); }), "cut.zst: ends in the middle"))
        << size;
  }
}

TEST(ByteSource, GarbledArchivesAreNamed) {
  const TestFolder folder;
  std::string gz = gzipped(long_text()), zst = zstandard(long_text());
  gz[gz.size() / 2] ^= '\x55';
  zst[zst.size() / 2] ^= '\x55';
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { read_all(folder.put("bad.gz", gz)); }), "bad.gz: garbled gzip"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { read_all(folder.put("bad.zst", zst)); }),
                       "bad.zst: garbled Zstandard"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { read_all(folder.put("x.gz", gzipped("a") + "junk")); }),
                       "garbled"));
  EXPECT_TRUE(contains(
      message_of<DataError>([&] { read_all(folder.put("y.gz", gzipped("a") + std::string("\0\0x", 3))); }),
      "padding"));
}

TEST(ByteSource, MissingFilesAndFoldersAreNamed) {
  const TestFolder folder;
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { open_decompressed(folder / "none"); }), "none: no such file"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { open_decompressed(folder.path()); }), "folder"));
}

}  // namespace
}  // namespace loongforge
