#include "loongforge/formats/safetensors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  return raw(static_cast<std::uint64_t>(header.size())) + header + data;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return concat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":", offsets,
                "}");
}

// "{a,b}"
std::string header_of(const std::vector<std::string>& entries) {
  std::string text = "{";
  for (const std::string& item : entries) text.append(text.size() > 1 ? "," : "").append(item);
  return text.append("}");
}

// The message that a file of this header and `data_bytes` bytes of data gets.
std::string refusal(const std::string& header, int data_bytes = 8) {
  const TestFolder folder;
  const fs::path path = folder.put("bad.safetensors", file_of(header, std::string(data_bytes, 'x')));
  const std::string message = message_of<CheckpointError>([&] { SafetensorsFile file(path); });
  EXPECT_TRUE(contains(message, path.string()));
  return message;
}

TEST(Safetensors, ReadsTensorsMetadataAndBytes) {
  const TestFolder folder;
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "U8", "[3]", "[8,11]") +
                             "," + entry("a", "F32", "[2,1]", "[0,8]") + "}   ";
  const SafetensorsFile file(folder.put("m.safetensors", file_of(header, "01234567abc")));
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0], (TensorInfo{"a", DType::kF32, {2, 1}}));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.find("none"), nullptr);
  const auto bytes = file.bytes("b");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "abc");
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { file.bytes("none"); }), "none"));
}

TEST(Safetensors, AcceptsScalarsAndEmptyTensors) {
  const TestFolder folder;
  const std::string header =
      header_of({entry("e", "F32", "[0,3]", "[4,4]"), entry("s", "F32", "[]", "[0,4]")});
  const SafetensorsFile file(folder.put("m.safetensors", file_of(header, "abcd")));
  EXPECT_TRUE(file.bytes("e").empty());
  EXPECT_EQ(file.bytes("s").size(), 4u);
}

TEST(Safetensors, AcceptsAFileWithoutTensors) {
  const TestFolder folder;
  EXPECT_TRUE(SafetensorsFile(folder.put("m.safetensors", file_of("{}", ""))).tensors().empty());
}

TEST(Safetensors, RefusesMissingEmptyAndShortFiles) {
  const TestFolder folder;
  EXPECT_TRUE(
      contains(message_of<CheckpointError>([&] { SafetensorsFile f(folder / "none"); }), "no such file"));
  EXPECT_TRUE(
      contains(message_of<CheckpointError>([&] { SafetensorsFile f(folder.put("e", "")); }), "empty"));
  EXPECT_TRUE(
      contains(message_of<CheckpointError>([&] { SafetensorsFile f(folder.put("s", "1234")); }), "4 bytes"));
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { SafetensorsFile f(folder.path()); }), "folder"));
}

TEST(Safetensors, RefusesAHeaderBeyondTheFile) {
  const TestFolder folder;
  const fs::path cut = folder.put("cut", raw(std::uint64_t{100}) + "{}");
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { SafetensorsFile f(cut); }), "truncated"));
  const fs::path huge = folder.put("huge", raw(~std::uint64_t{0}) + "{}");
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { SafetensorsFile f(huge); }), "at most"));
}

TEST(Safetensors, RefusesHeadersThatAreNoSuchJson) {
  EXPECT_TRUE(contains(refusal("{\"a\":"), "JSON"));
  EXPECT_TRUE(contains(refusal("[]"), "object"));
  EXPECT_TRUE(contains(refusal("{\"a\":1}"), "tensor a"));
  EXPECT_TRUE(contains(refusal("{\"__metadata__\":{\"k\":1}}", 0), "__metadata__.k"));
  EXPECT_TRUE(contains(refusal("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}"), "data_offsets"));
  EXPECT_TRUE(
      contains(refusal("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}"), "'x'"));
}

TEST(Safetensors, RefusesNamesThatStandTwice) {
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  EXPECT_TRUE(contains(refusal(header_of({a, entry("a", "F32", "[1]", "[4,8]")})), "twice"));
}

TEST(Safetensors, RefusesUnknownTypes) {
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F31", "[2]", "[0,8]")})), "\"F31\""));
  EXPECT_TRUE(contains(refusal("{\"a\":{\"dtype\":3,\"shape\":[2],\"data_offsets\":[0,8]}}"), "dtype 3"));
}

TEST(Safetensors, RefusesShapesWithoutASize) {
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[-2]", "[0,8]")})), "-2"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[2.0]", "[0,8]")})), "2.0"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "2", "[0,8]")})), "shape"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[4294967296,4294967296]", "[0,8]")})), "2^63"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[9223372036854775808]", "[0,8]")})), "sizes"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F64", "[2305843009213693953]", "[0,8]")})), "2^60"));
}

TEST(Safetensors, RefusesASizeThatDiffersFromTheShape) {
  const std::string message = refusal(header_of({entry("a", "F32", "[3]", "[0,8]")}));
  EXPECT_TRUE(contains(message, "takes 12 bytes"));
  EXPECT_TRUE(contains(message, "give 8"));
}

TEST(Safetensors, RefusesOffsetsOutsideTheFileOrReversed) {
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[4]", "[0,16]")})), "truncated"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[2]", "[8,0]")})), "begin <= end"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[2]", "[-8,0]")})), "begin <= end"));
  EXPECT_TRUE(contains(refusal(header_of({entry("a", "F32", "[2]", "[0]")})), "[begin, end]"));
}

TEST(Safetensors, RefusesOverlapsGapsAndLeftOvers) {
  const std::string a = entry("a", "F32", "[1]", "[0,4]");
  EXPECT_TRUE(contains(refusal(header_of({a, entry("b", "F32", "[1]", "[2,6]")}), 6), "overlaps"));
  EXPECT_TRUE(contains(refusal(header_of({a, entry("b", "F32", "[1]", "[5,9]")}), 9), "left out"));
  EXPECT_TRUE(contains(refusal(header_of({a}), 5), "the file holds 5"));
}

TEST(SafetensorsSet, ReadsAllShardsOfAnIndex) {
  const TestFolder folder;
  folder.put("m-1.safetensors", file_of(header_of({entry("a", "U8", "[1]", "[0,1]")}), "A"));
  folder.put("m-2.safetensors", file_of(header_of({entry("b", "U8", "[1]", "[0,1]")}), "B"));
  const fs::path index = folder.put("model.safetensors.index.json",
                                    R"({"weight_map":{"b":"m-2.safetensors","a":"m-1.safetensors"}})");
  for (const fs::path& path : {folder.path(), index}) {
    const SafetensorsSet set(path);
    EXPECT_EQ(set.tensors().size(), 2u);
    EXPECT_EQ(static_cast<char>(set.bytes("b")[0]), 'B');
    EXPECT_EQ(set.find("c"), nullptr);
  }
}

TEST(SafetensorsSet, ReadsASingleFile) {
  const TestFolder folder;
  const fs::path path =
      folder.put("model.safetensors", file_of(header_of({entry("a", "U8", "[1]", "[0,1]")}), "A"));
  EXPECT_NE(SafetensorsSet(folder.path()).find("a"), nullptr);
  EXPECT_NE(SafetensorsSet(path).find("a"), nullptr);
}

TEST(SafetensorsSet, RefusesAFolderWithoutWeights) {
  const TestFolder folder;
  EXPECT_TRUE(
      contains(message_of<CheckpointError>([&] { SafetensorsSet set(folder.path()); }), "found neither"));
}

TEST(SafetensorsSet, RefusesAnIndexThatItsFilesDoNotKeep) {
  const TestFolder folder;
  folder.put("1.safetensors", file_of(header_of({entry("a", "U8", "[1]", "[0,1]")}), "A"));
  folder.put("2.safetensors", file_of(header_of({entry("a", "U8", "[1]", "[0,1]")}), "A"));
  const auto refused = [&](const std::string& index) {
    const fs::path path = folder.put("model.safetensors.index.json", index);
    return message_of<CheckpointError>([&] { SafetensorsSet set(path); });
  };
  EXPECT_TRUE(
      contains(refused(R"({"weight_map":{"a":"1.safetensors","b":"1.safetensors"}})"), "b in 1.safetensors"));
  EXPECT_TRUE(contains(refused(R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})"), "is also in"));
  EXPECT_TRUE(contains(refused(R"({"weight_map":{"a":"3.safetensors"}})"), "no such file"));
  EXPECT_TRUE(contains(refused(R"({"weight_map":{"a":"../x.safetensors"}})"), "without folders"));
  EXPECT_TRUE(contains(refused(R"({"weight_map":{}})"), "empty"));
  EXPECT_TRUE(contains(refused(R"({"weights":{}})"), "weight_map"));
  EXPECT_TRUE(contains(refused(""), "JSON"));
  folder.put("1.safetensors",
             file_of(header_of({entry("a", "U8", "[1]", "[0,1]"), entry("z", "U8", "[1]", "[1,2]")}), "AZ"));
  EXPECT_TRUE(
      contains(refused(R"({"weight_map":{"a":"1.safetensors"}})"), "does not name are in its files: z"));
}

}  // namespace
}  // namespace loongforge
