#include "loongforge/formats/gguf.h"

#include <gtest/gtest.h>

#include <vector>

#include "loongforge/formats/gguf_test_file.h"
#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

std::string array_of(std::uint32_t type, std::uint64_t count, const std::string& values) {
  return raw(type) + raw(count) + values;
}

std::string refusal(const std::string& bytes) {
  const TestFolder folder;
  const fs::path path = folder.put("bad.gguf", bytes);
  const std::string message = message_of<CheckpointError>([&] { GgufFile file(path); });
  EXPECT_TRUE(contains(message, path.string()));
  return message;
}

std::string refused_key(std::uint32_t type, const std::string& value) {
  GgufTestFile file;
  file.key("the.key", type, value);
  return refusal(file.bytes());
}

TEST(Gguf, ReadsEveryKindOfValue) {
  GgufTestFile made;
  made.key("u8", 0, raw(std::uint8_t{200}));
  made.key("i8", 1, raw(std::int8_t{-5}));
  made.key("u16", 2, raw(std::uint16_t{60000}));
  made.key("i16", 3, raw(std::int16_t{-300}));
  made.key("u32", 4, raw(std::uint32_t{4000000000u}));
  made.key("i32", 5, raw(std::int32_t{-7}));
  made.key("f32", 6, raw(1.5f));
  made.key("bool", 7, raw(std::uint8_t{1}));
  made.key("string", 8, gguf_string("Ġhello"));
  made.key("list", 9, array_of(8, 2, gguf_string("a") + gguf_string("")));
  made.key("nested", 9, array_of(9, 2, array_of(5, 1, raw(std::int32_t{4})) + array_of(6, 0, "")));
  made.key("u64", 10, raw(~std::uint64_t{0}));
  made.key("i64", 11, raw(std::int64_t{-1}));
  made.key("f64", 12, raw(0.1));
  const TestFolder folder;
  const GgufFile file(folder.put("m.gguf", made.bytes()));
  EXPECT_EQ(file.metadata(),
            Json::parse(R"({"u8":200,"i8":-5,"u16":60000,"i16":-300,"u32":4000000000,"i32":-7,
    "f32":1.5,"bool":true,"string":"Ġhello","list":["a",""],"nested":[[4],[]],"u64":18446744073709551615,"i64":-1,
    "f64":0.1})"));
}

TEST(Gguf, ReadsTensorsOfBothVersionsAndAlignments) {
  for (const std::uint32_t version : {2u, 3u}) {
    for (const std::uint64_t alignment : {8u, 32u, 64u}) {
      GgufTestFile made;
      made.version = version;
      made.alignment = alignment;
      if (alignment != 32) made.key("general.alignment", 4, raw(static_cast<std::uint32_t>(alignment)));
      made.tensor("a", {2, 3}, 0, raw(1.0f) + raw(2.0f) + raw(3.0f) + raw(4.0f) + raw(5.0f) + raw(6.0f));
      made.tensor("b", {1}, 1, raw(std::uint16_t{0x3c00}));
      const TestFolder folder;
      const GgufFile file(folder.put("m.gguf", made.bytes()));
      EXPECT_EQ(file.version(), static_cast<int>(version));
      ASSERT_EQ(file.tensors().size(), 2u);
      EXPECT_EQ(file.tensors()[0].shape, (std::vector<std::int64_t>{3, 2}));
      std::vector<float> a(6), b(1);
      file.dequantize("a", a);
      file.dequantize("b", b);
      EXPECT_EQ(a, (std::vector<float>{1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(b[0], 1.0f);
      EXPECT_EQ(file.bytes("b").size(), 2u);
      EXPECT_EQ(file.find("c"), nullptr);
    }
  }
}

TEST(Gguf, RefusesToDequantizeWhatItCannot) {
  GgufTestFile made;
  made.tensor("iq", {256}, 16, std::string(66, '\0'));
  made.tensor("f", {2}, 0, std::string(8, '\0'));
  const TestFolder folder;
  const GgufFile file(folder.put("m.gguf", made.bytes()));
  std::vector<float> out(256);
  EXPECT_TRUE(
      contains(message_of<CheckpointError>([&] { file.dequantize("iq", out); }), "IQ2_XXS cannot be read"));
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { file.dequantize("no", out); }), "no tensor no"));
  EXPECT_TRUE(contains(message_of<InternalError>([&] { file.dequantize("f", out); }), "2 values, got 256"));
}

TEST(Gguf, RefusesMissingEmptyAndForeignFiles) {
  const TestFolder folder;
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { GgufFile f(folder / "none"); }), "no such file"));
  EXPECT_TRUE(contains(refusal(""), "empty"));
  EXPECT_TRUE(contains(refusal("GG"), "truncated"));
  EXPECT_TRUE(contains(refusal("PK\x03\x04 and more bytes"), "expected a GGUF file"));
}

TEST(Gguf, RefusesOtherVersions) {
  GgufTestFile made;
  made.version = 1;
  EXPECT_TRUE(contains(refusal(made.bytes()), "version 2 or 3, got 1"));
  made.version = 0x03000000;
  EXPECT_TRUE(contains(refusal(made.bytes()), "big-endian"));
}

TEST(Gguf, RefusesEveryTruncation) {
  GgufTestFile made;
  made.key("list", 9, array_of(8, 2, gguf_string("a") + gguf_string("b")));
  made.tensor("w", {32}, 2, std::string(18, 'q'));
  const std::string whole = made.bytes();
  const TestFolder folder;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const fs::path path = folder.put("cut.gguf", whole.substr(0, size));
    EXPECT_THROW(GgufFile{path}, CheckpointError) << size;
  }
  EXPECT_NO_THROW(GgufFile{folder.put("cut.gguf", whole)});
}

TEST(Gguf, RefusesCountsBeyondTheFile) {
  GgufTestFile made;
  made.tensor_count = std::uint64_t{1} << 60;
  EXPECT_TRUE(contains(refusal(made.bytes()), "pass the end"));
  made.tensor_count = 0;
  made.keys = ~std::uint64_t{0};
  EXPECT_TRUE(contains(refusal(made.bytes()), "pass the end"));
  EXPECT_TRUE(contains(refused_key(8, raw(~std::uint64_t{0}) + "abc"), "truncated"));
  EXPECT_TRUE(contains(refused_key(9, array_of(0, std::uint64_t{1} << 62, "abc")), "passes the end"));
  EXPECT_TRUE(contains(refused_key(9, array_of(12, 3, std::string(23, 'x'))), "passes the end"));
}

TEST(Gguf, RefusesGarbledMetadata) {
  EXPECT_TRUE(contains(refused_key(13, "abcdefgh"), "unknown value type 13"));
  EXPECT_TRUE(contains(refused_key(9, array_of(77, 0, "")), "unknown array type 77"));
  EXPECT_TRUE(contains(refused_key(7, raw(std::uint8_t{2})), "0 or 1, got 2"));
  std::string deep = array_of(0, 0, "");
  for (int i = 0; i < 10; ++i) deep = array_of(9, 1, deep);
  EXPECT_TRUE(contains(refused_key(9, deep), "nested deeper"));
  GgufTestFile made;
  made.key("k\n", 0, "a");
  made.key("k\n", 0, "b");
  EXPECT_TRUE(contains(refusal(made.bytes()), "key k? stands twice"));
}

TEST(Gguf, RefusesBadAlignments) {
  for (const std::uint32_t alignment : {0u, 3u, 48u, 0x80000000u}) {
    GgufTestFile made;
    made.key("general.alignment", 4, raw(alignment));
    EXPECT_TRUE(contains(refusal(made.bytes()), "power of two"));
  }
  GgufTestFile made;
  made.key("general.alignment", 8, gguf_string("32"));
  EXPECT_TRUE(contains(refusal(made.bytes()), "whole number"));
}

TEST(Gguf, RefusesTensorsThatDoNotFit) {
  const auto refused = [](const std::vector<std::uint64_t>& dims, std::uint32_t type, std::uint64_t offset) {
    GgufTestFile made;
    made.data = std::string(64, 'x');
    made.tensor_at("w", dims, type, offset);
    return refusal(made.bytes());
  };
  EXPECT_TRUE(contains(refused({1, 1, 1, 1, 1}, 0, 0), "at most 4 dimensions"));
  EXPECT_TRUE(contains(refused({std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 0), "2^63 - 1 elements"));
  EXPECT_TRUE(contains(refused({std::uint64_t{1} << 62}, 0, 0), "2^63 - 1 bytes"));
  EXPECT_TRUE(contains(refused({~std::uint64_t{0}}, 0, 0), "too large"));
  EXPECT_TRUE(contains(refused({33}, 2, 0), "no multiple of the 32"));
  EXPECT_TRUE(contains(refused({4}, 99, 0), "unknown storage type 99"));
  EXPECT_TRUE(contains(refused({4}, 0, 8), "alignment 32"));
  EXPECT_TRUE(contains(refused({17}, 0, 0), "pass the end"));
  EXPECT_TRUE(contains(refused({4}, 0, ~std::uint64_t{0} - 31), "pass the end"));
}

TEST(Gguf, RefusesTensorsThatOverlapOrStandTwice) {
  GgufTestFile made;
  made.data = std::string(96, 'x');
  made.tensor_at("a", {16}, 0, 0);
  made.tensor_at("b", {8}, 0, 32);
  EXPECT_TRUE(contains(refusal(made.bytes()), "a and b overlap"));
  GgufTestFile twice;
  twice.tensor("a", {1}, 0, "abcd");
  twice.tensor("a", {1}, 0, "abcd");
  EXPECT_TRUE(contains(refusal(twice.bytes()), "tensor a stands twice"));
}

}  // namespace
}  // namespace loongforge
