#include "loongforge/formats/tar.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "loongforge/formats/test_folder.h"
#include "loongforge/formats/webdataset.h"

namespace loongforge {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

fs::path write_tar(const TestFolder& folder, const Members& members, std::string_view name = "a.tar") {
  TarWriter writer(folder / name);
  for (const auto& [member, content] : members) writer.add(member, std::as_bytes(std::span(content)));
  writer.commit();
  return folder / name;
}

Members read_tar(const fs::path& path) {
  const TarFile tar(path);
  Members members;
  for (auto member = tar.member_at(0); member; member = tar.member_at(member->end)) {
    const auto bytes = tar.bytes(member->offset, member->size);
    members.emplace_back(member->name,
                         std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return members;
}

// The first header with another type and the checksum to it.
std::string with_type(std::string file, char type) {
  file[156] = type;
  file.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : file.substr(0, 512)) sum += static_cast<unsigned char>(c);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  return file.replace(148, 7, digits, 7);
}

std::string refusal(const TestFolder& folder, const std::string& file) {
  return message_of<DataError>([&] { read_tar(folder.put("bad.tar", file)); });
}

TEST(Tar, MembersComeBack) {
  const TestFolder folder;
  const Members members = {{"a.txt", "hello"},
                           {"empty", ""},
                           {std::string(100, 'n'), "x"},
                           {"b/" + std::string(300, 'n'), std::string(5000, 'y')},
                           {"unicode-\xc3\xa9", std::string(512, 'z')}};
  EXPECT_EQ(read_tar(write_tar(folder, members)), members);
  EXPECT_EQ(read_tar(write_tar(folder, {})), Members{});
}

TEST(Tar, OffsetsReachMembersAlone) {
  const TestFolder folder;
  const TarFile tar(write_tar(folder, {{"a", "one"}, {std::string(200, 'n'), "two"}, {"c", "three"}}));
  const auto first = tar.member_at(0);
  const auto second = tar.member_at(first->end);
  EXPECT_EQ(second->begin, first->end);
  EXPECT_GT(second->offset, second->begin + 512);  // its name stands in between
  EXPECT_EQ(tar.member_at(second->end)->name, "c");
  EXPECT_TRUE(tar.ends_at(tar.member_at(second->end)->end));
  EXPECT_FALSE(tar.ends_at(0));
}

TEST(Tar, EveryTruncationIsRefused) {
  const TestFolder folder;
  const std::string file = read_file(write_tar(folder, {{"a", "one"}, {std::string(200, 'n'), "two"}}));
  for (std::size_t size = 0; size + 1024 < file.size(); size += 100) {
    EXPECT_TRUE(contains(refusal(folder, file.substr(0, size)), "fetch or write it again")) << size;
  }
}

TEST(Tar, RefusalsNameThePlace) {
  const TestFolder folder;
  const std::string file = read_file(write_tar(folder, {{"a", "one"}}));
  std::string bad = file;
  bad[3] = 'x';
  EXPECT_TRUE(contains(refusal(folder, bad), "bad.tar: header at 0: wrong checksum"));
  EXPECT_TRUE(contains(refusal(folder, file + file), "archive ends at 1024, but more stands there"));
  EXPECT_TRUE(contains(refusal(folder, "\x1f\x8b\x08"), "is compressed"));
  EXPECT_TRUE(contains(refusal(folder, std::string(600, 'x')), "wrong checksum"));
  EXPECT_TRUE(
      contains(refusal(folder, with_type(file, '2')), "'a' is a symbolic link, expected plain files"));
  EXPECT_TRUE(contains(refusal(folder, with_type(file, 'S')), "'a' is a sparse file"));
  EXPECT_TRUE(contains(refusal(folder, with_type(file, 'x')), "garbled pax header"));
}

TEST(Tar, AWriterWithoutCommitLeavesNothing) {
  const TestFolder folder;
  { TarWriter(folder / "a.tar").add("a", {}); }
  EXPECT_EQ(folder.file_count(), 0);
  TarWriter writer(folder / "b.tar");
  EXPECT_TRUE(contains(message_of<DataError>([&] { writer.add("", {}); }), "needs a name"));
}

const Members kSamples = {{"a/1.jpg", "one"},       {"a/1.seg.png", "mask"}, {"README", "x"},
                          {"__meta__/1.json", "y"}, {"a/2.jpg", "two"},      {"b/1.jpg", "three"}};

void expect_samples(const WebdatasetShard& shard) {
  ASSERT_EQ(shard.size(), 3);
  const WebdatasetSample first = shard.sample(0);
  EXPECT_EQ(first.key, "a/1");
  ASSERT_EQ(first.parts.size(), 2u);
  EXPECT_EQ(first.parts[1].extension, "seg.png");
  EXPECT_EQ(shard.bytes(*first.find("seg.png")).size(), 4u);
  EXPECT_EQ(first.find("txt"), nullptr);
  EXPECT_EQ(shard.sample(1).key, "a/2");
  EXPECT_EQ(shard.sample(2).key, "b/1");
}

TEST(Webdataset, NeighboursOfOneNameMakeASample) {
  const TestFolder folder;
  const fs::path path = write_tar(folder, kSamples);
  const WebdatasetShard shard(path);
  EXPECT_FALSE(shard.indexed());
  expect_samples(shard);
  shard.write_index();
  const WebdatasetShard indexed(path);
  EXPECT_TRUE(indexed.indexed());
  expect_samples(indexed);
  EXPECT_EQ(read_file(folder / "a.tar.idx").size(), 4 * sizeof(std::uint64_t));
}

TEST(Webdataset, AnEmptyShardHasNoSamples) {
  const TestFolder folder;
  EXPECT_EQ(WebdatasetShard(write_tar(folder, {})).size(), 0);
}

TEST(Webdataset, ScatteredAndDoubledPartsAreRefused) {
  const TestFolder folder;
  const auto refusal_of = [&](const Members& members) {
    const fs::path path = write_tar(folder, members);
    return message_of<DataError>([&] { WebdatasetShard(path).sample(0); });
  };
  EXPECT_TRUE(
      contains(refusal_of({{"1.jpg", ""}, {"2.jpg", ""}, {"1.txt", ""}}), "sample '1' comes again at 1024"));
  EXPECT_TRUE(contains(refusal_of({{"1.jpg", ""}, {"1.jpg", ""}}), "two members '1.jpg'"));
}

TEST(Webdataset, AnIndexThatDoesNotFitIsRefused) {
  const TestFolder folder;
  const fs::path path = write_tar(folder, {{"1.jpg", ""}, {"2.jpg", ""}});
  const auto with_index = [&](std::initializer_list<std::uint64_t> offsets) {
    std::string bytes;
    for (const std::uint64_t offset : offsets) bytes += raw(offset);
    folder.put("a.tar.idx", bytes);
    return message_of<DataError>([&] { WebdatasetShard(path).sample(0); });
  };
  EXPECT_TRUE(contains(with_index({}), "a.tar.idx: does not fit"));
  EXPECT_TRUE(contains(with_index({0, 512}), "does not fit"));
  EXPECT_TRUE(contains(with_index({512, 512, 1024}), "does not fit"));
  EXPECT_TRUE(contains(with_index({0, 1024}), "holds a part of '2'"));
  EXPECT_TRUE(contains(with_index({3, 1024}), "wrong checksum"));
}

}  // namespace
}  // namespace loongforge
