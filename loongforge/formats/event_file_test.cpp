// The framing and the bytes; the real reader is in tests/formats/event_file_test.py.
#include "loongforge/formats/event_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "loongforge/formats/crc32c.h"
#include "loongforge/formats/proto_writer.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

// Records of a TFRecord file; fails on a checksum that does not fit.
std::vector<std::string> records_of(const fs::path& path) {
  const std::string bytes = read_file(path);
  std::vector<std::string> records;
  std::size_t at = 0;
  while (at + 12 <= bytes.size()) {
    std::uint64_t length;
    std::uint32_t length_crc, data_crc;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&length_crc, bytes.data() + at + 8, 4);
    EXPECT_EQ(length_crc, masked_crc32c(bytes.substr(at, 8)));
    records.push_back(bytes.substr(at + 12, length));
    std::memcpy(&data_crc, bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(data_crc, masked_crc32c(records.back()));
    at += 16 + length;
  }
  EXPECT_EQ(at, bytes.size());
  return records;
}

TEST(Crc32c, MatchesTheVectorsOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(ProtoWriter, WritesVarintsAndFields) {
  ProtoWriter writer;
  writer.varint(1, 150);
  writer.bytes(2, "testing");
  EXPECT_EQ(writer.text(), std::string("\x08\x96\x01\x12\x07testing"));
  ProtoWriter negative;
  negative.varint(2, static_cast<std::uint64_t>(std::int64_t{-1}));
  EXPECT_EQ(negative.text().size(), 11u);
}

TEST(EventWriter, BeginsWithTheVersion) {
  const TestFolder folder;
  const EventWriter writer(folder / "tb");
  const auto records = records_of(writer.path());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(contains(records[0], "brain.Event:2"));
}

TEST(EventWriter, WritesRecordsAtFlushAndAtItsEnd) {
  const TestFolder folder;
  fs::path path;
  {
    EventWriter writer(folder.path());
    path = writer.path();
    writer.scalar("loss", 2.5, 1);
    EXPECT_EQ(records_of(path).size(), 1u);
    writer.flush();
    EXPECT_EQ(records_of(path).size(), 2u);
    writer.text("sample", "Guten Tag", 2);
  }
  const auto records = records_of(path);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_TRUE(contains(records[1], "loss"));
  EXPECT_TRUE(contains(records[2], "Guten Tag"));
}

TEST(EventWriter, KeepsTheGivenTimeAndStep) {
  const TestFolder folder;
  EventWriter writer(folder.path());
  writer.scalar("x", 1, 300, 0.5);
  writer.flush();
  ProtoWriter expected;
  expected.fixed64(1, 0x3fe0000000000000u);
  expected.varint(2, 300);
  EXPECT_TRUE(records_of(writer.path())[1].starts_with(expected.text()));
}

TEST(EventWriter, EachWriterHasAFileOfItsOwn) {
  const TestFolder folder;
  const EventWriter a(folder.path()), b(folder.path());
  EXPECT_NE(a.path(), b.path());
  EXPECT_EQ(folder.file_count(), 2);
}

TEST(EventWriter, NamesAFolderThatCannotBeMade) {
  const TestFolder folder;
  folder.put("file", "x");
  EXPECT_TRUE(contains(message_of<ResourceError>([&] { EventWriter writer(folder / "file"); }), "file"));
}

}  // namespace
}  // namespace loongforge
