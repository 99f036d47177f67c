#include "loongforge/formats/safetensors_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "loongforge/base/json.h"
#include "loongforge/formats/safetensors.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

std::span<const std::byte> as_span(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST(SafetensorsWriter, EveryTypeComesBack) {
  const TestFolder folder;
  std::vector<TensorInfo> infos;
  for (int i = 0; i <= static_cast<int>(DType::kF6E3M2); ++i) {
    infos.push_back({concat("t.", i), static_cast<DType>(i), {2, 4}});
  }
  SafetensorsWriter writer(folder / "m.safetensors", infos, {{"format", "pt"}, {"note", "\"quoted\" ü"}});
  for (std::size_t i = 0; i < infos.size(); ++i) {
    writer.write(infos[i].name, as_span(std::string(static_cast<std::size_t>(infos[i].nbytes()),
                                                    static_cast<char>('A' + i))));
  }
  writer.commit();

  const SafetensorsFile file(folder / "m.safetensors");
  ASSERT_EQ(file.tensors().size(), infos.size());
  EXPECT_EQ(file.metadata().at("note"), "\"quoted\" ü");
  for (std::size_t i = 0; i < infos.size(); ++i) {
    ASSERT_NE(file.find(infos[i].name), nullptr);
    EXPECT_EQ(*file.find(infos[i].name), infos[i]);
    EXPECT_EQ(text_of(file.bytes(infos[i].name)),
              std::string(static_cast<std::size_t>(infos[i].nbytes()), static_cast<char>('A' + i)));
  }
}

TEST(SafetensorsWriter, EveryTensorIsAligned) {
  const TestFolder folder;
  SafetensorsWriter writer(folder / "m.safetensors", {{"odd", DType::kU8, {3}}, {"wide", DType::kI64, {1}}});
  writer.write("odd", as_span("abc"));
  writer.write("wide", as_span("01234567"));
  writer.commit();
  const SafetensorsFile file(folder / "m.safetensors");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.bytes("wide").data()) % 8, 0u);
  EXPECT_EQ(text_of(file.bytes("wide")), "01234567");
  EXPECT_EQ(text_of(file.bytes("odd")), "abc");
}

TEST(SafetensorsWriter, AnyOrderOfWritingGivesTheSameFile) {
  const TestFolder folder;
  const std::vector<TensorInfo> infos = {
      {"a", DType::kU8, {70000}}, {"b", DType::kU8, {5}}, {"c", DType::kU8, {3}}};
  const auto write = [&](const char* name, const std::vector<std::size_t>& order) {
    SafetensorsWriter writer(folder / name, infos);
    for (const std::size_t i : order)
      writer.write(infos[i].name, as_span(std::string(static_cast<std::size_t>(infos[i].nbytes()),
                                                      static_cast<char>('a' + i))));
    writer.commit();
    return read_file(folder / name);
  };
  const std::string expected = write("0", {0, 1, 2});
  EXPECT_EQ(write("1", {2, 1, 0}), expected);
  EXPECT_EQ(write("2", {1, 2, 0}), expected);
}

TEST(SafetensorsWriter, LeavesNothingWithoutCommit) {
  const TestFolder folder;
  {
    SafetensorsWriter writer(folder / "m.safetensors", {{"a", DType::kU8, {1}}});
    writer.write("a", as_span("x"));
  }
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(SafetensorsWriter, RefusesWhatWasNotDeclared) {
  const TestFolder folder;
  SafetensorsWriter writer(folder / "m.safetensors", {{"a", DType::kU8, {1}}, {"b", DType::kU8, {1}}});
  EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.write("c", as_span("x")); }),
                       "tensor c was not declared"));
  EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.write("a", as_span("xy")); }),
                       "expected 1 bytes, got 2"));
  writer.write("a", as_span("x"));
  EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.write("a", as_span("x")); }), "twice"));
  EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.commit(); }), "tensor b was never written"));
  EXPECT_THROW(SafetensorsWriter(folder / "n", {{"a", DType::kU8, {1}}, {"a", DType::kU8, {1}}}),
               InternalError);
}

TEST(SafetensorsWriter, NamesTheFolderThatIsMissing) {
  const TestFolder folder;
  EXPECT_TRUE(contains(
      message_of<ResourceError>([&] { SafetensorsWriter writer(folder / "none/m.safetensors", {}); }),
      "none/m.safetensors"));
}

TEST(SafetensorsWriter, RefusesMoreThanTheDiskHolds) {
  const TestFolder folder;
  const std::vector<TensorInfo> infos = {{"a", DType::kF64, {std::int64_t{1} << 56}}};
  EXPECT_TRUE(contains(
      message_of<ResourceError>([&] { SafetensorsWriter writer(folder / "m.safetensors", infos); }), "free"));
  EXPECT_EQ(folder.file_count(), 0);
}

void write_all(ShardedSafetensorsWriter& writer, const std::vector<TensorInfo>& infos) {
  for (const TensorInfo& info : infos)
    writer.write(info.name, as_span(std::string(static_cast<std::size_t>(info.nbytes()), info.name[0])));
  writer.commit();
}

const std::vector<TensorInfo> kThree = {
    {"a", DType::kU8, {60}}, {"b", DType::kF32, {10}}, {"c", DType::kU8, {300}}};

TEST(ShardedSafetensorsWriter, DealsTensorsToShardsWithAnIndex) {
  const TestFolder folder;
  ShardedSafetensorsWriter writer(folder.path(), "model", 100, kThree);
  EXPECT_EQ(writer.shard_count(), 2u);
  write_all(writer, kThree);
  const Json index = read_json(folder / "model.safetensors.index.json");
  EXPECT_EQ(index["metadata"]["total_size"], 400);
  EXPECT_EQ(index["weight_map"]["b"], "model-00001-of-00002.safetensors");
  EXPECT_EQ(index["weight_map"]["c"], "model-00002-of-00002.safetensors");
  const SafetensorsSet set(folder.path());
  for (const TensorInfo& info : kThree) {
    EXPECT_EQ(*set.find(info.name), info);
    EXPECT_EQ(text_of(set.bytes(info.name)),
              std::string(static_cast<std::size_t>(info.nbytes()), info.name[0]));
  }
  EXPECT_EQ(set.metadata().at("format"), "pt");
}

TEST(ShardedSafetensorsWriter, OneShardIsAPlainFile) {
  const TestFolder folder;
  ShardedSafetensorsWriter writer(folder.path(), "model", 400, kThree);
  write_all(writer, kThree);
  EXPECT_EQ(folder.file_count(), 1);
  EXPECT_EQ(SafetensorsFile(folder / "model.safetensors").tensors().size(), 3u);
}

TEST(ShardedSafetensorsWriter, RemovesTheSetThatItReplaces) {
  const TestFolder folder;
  folder.put("model-other.safetensors", "kept");
  ShardedSafetensorsWriter three(folder.path(), "model", 50, kThree);
  write_all(three, kThree);
  EXPECT_EQ(folder.file_count(), 5);
  ShardedSafetensorsWriter two(folder.path(), "model", 100, kThree);
  write_all(two, kThree);
  EXPECT_EQ(folder.file_count(), 4);
  ShardedSafetensorsWriter one(folder.path(), "model", 400, kThree);
  write_all(one, kThree);
  EXPECT_EQ(folder.file_count(), 2);
  ShardedSafetensorsWriter again(folder.path(), "model", 100, kThree);
  write_all(again, kThree);
  EXPECT_EQ(folder.file_count(), 4);
  EXPECT_EQ(SafetensorsSet(folder.path()).tensors().size(), 3u);
}

TEST(ShardedSafetensorsWriter, LeavesNothingWithoutCommit) {
  const TestFolder folder;
  {
    ShardedSafetensorsWriter writer(folder.path(), "model", 100, kThree);
    writer.write("a", as_span(std::string(60, 'a')));
    writer.write("b", as_span(std::string(40, 'b')));
    EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.commit(); }), "tensor c was never written"));
  }
  EXPECT_EQ(folder.file_count(), 0);
}

}  // namespace
}  // namespace loongforge
