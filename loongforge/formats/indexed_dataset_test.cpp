#include "loongforge/formats/indexed_dataset.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loongforge/formats/test_folder.h"

namespace loongforge {
namespace {

using Tokens = std::vector<std::int32_t>;

// An index byte by byte, so that every field can be wrong.
struct Index {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  std::uint64_t version = 1;
  std::uint8_t type = 4;
  std::vector<std::int32_t> lengths{2, 1};
  std::vector<std::int64_t> pointers{0, 8}, documents{0, 1, 2};
  std::uint64_t extra_sequences = 0, extra_documents = 0;

  std::string bytes() const {
    std::string text = magic + raw(version) + raw(type) + raw(lengths.size() + extra_sequences) +
                       raw(documents.size() + extra_documents);
    for (const auto v : lengths) text += raw(v);
    for (const auto v : pointers) text += raw(v);
    for (const auto v : documents) text += raw(v);
    return text;
  }
};

std::string refusal(const Index& index, std::size_t bin_bytes = 12) {
  const TestFolder folder;
  folder.put("d.idx", index.bytes());
  folder.put("d.bin", std::string(bin_bytes, '\0'));
  return message_of<DataError>([&] { IndexedDatasetReader reader(folder / "d"); });
}

void write_sample(const fs::path& prefix, std::int64_t vocab) {
  IndexedDatasetWriter writer(prefix, vocab);
  writer.add(Tokens{1, 2, 3});
  writer.end_document();
  writer.add(Tokens{});
  writer.add(Tokens{4, static_cast<std::int32_t>(vocab - 1)});
  writer.end_document();
  writer.end_document();
  writer.commit();
}

TEST(IndexedDataset, GivesBackWhatWasWritten) {
  for (const std::int64_t vocab : {1000, 65499, 65500, 200000}) {
    const TestFolder folder;
    write_sample(folder / "d", vocab);
    const IndexedDatasetReader reader(folder / "d");
    EXPECT_EQ(reader.token_type(), vocab < 65500 ? TokenType::kU16 : TokenType::kI32);
    ASSERT_EQ(reader.size(), 3);
    EXPECT_EQ(reader.total_tokens(), 5);
    EXPECT_EQ(reader.read(0), (Tokens{1, 2, 3}));
    EXPECT_EQ(reader.read(1), Tokens{});
    EXPECT_EQ(reader.read(2), (Tokens{4, static_cast<std::int32_t>(vocab - 1)}));
    EXPECT_EQ(reader.document_count(), 3);
    const auto bounds = reader.document_bounds();
    EXPECT_EQ(std::vector<std::int64_t>(bounds.begin(), bounds.end()),
              (std::vector<std::int64_t>{0, 1, 3, 3}));
  }
}

TEST(IndexedDataset, ReadsParts) {
  const TestFolder folder;
  write_sample(folder / "d", 10);
  const IndexedDatasetReader reader(folder / "d.bin");
  EXPECT_EQ(reader.read(0, 1), (Tokens{2, 3}));
  EXPECT_EQ(reader.read(0, 1, 1), (Tokens{2}));
  EXPECT_EQ(reader.read(0, 3), Tokens{});
  EXPECT_THROW(reader.read(0, 4), InternalError);
  EXPECT_THROW(reader.read(0, 1, 3), InternalError);
  EXPECT_THROW(reader.read(0, -1, 1), InternalError);
  EXPECT_THROW(reader.read(3), InternalError);
}

TEST(IndexedDataset, ReadsEveryTokenType) {
  const std::vector<std::pair<int, std::string>> types = {
      {1, raw(std::uint8_t{7})}, {2, raw(std::int8_t{7})},  {3, raw(std::int16_t{7})},
      {4, raw(std::int32_t{7})}, {5, raw(std::int64_t{7})}, {8, raw(std::uint16_t{7})}};
  for (const auto& [code, token] : types) {
    const TestFolder folder;
    Index index;
    index.type = static_cast<std::uint8_t>(code);
    index.pointers[1] = static_cast<std::int64_t>(2 * token.size());
    folder.put("d.idx", index.bytes());
    folder.put("d.bin", token + token + token);
    EXPECT_EQ(IndexedDatasetReader(folder / "d").read(0), (Tokens{7, 7})) << code;
  }
}

TEST(IndexedDataset, RefusesIdsThatDoNotFit) {
  const TestFolder folder;
  Index index;
  index.type = 5;
  index.pointers[1] = 16;
  folder.put("d.idx", index.bytes());
  folder.put("d.bin", raw(std::int64_t{1} << 40) + raw(std::int64_t{1}) + raw(std::int64_t{1}));
  const IndexedDatasetReader reader(folder / "d");
  EXPECT_TRUE(contains(message_of<DataError>([&] { reader.read(0); }), "does not fit 32 bits"));
  EXPECT_EQ(reader.read(1), (Tokens{1}));
}

TEST(IndexedDataset, NamesTheFileThatIsMissing) {
  const TestFolder folder;
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { IndexedDatasetReader r(folder / "d"); }), "d.idx: no such file"));
  folder.put("d.idx", Index().bytes());
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { IndexedDatasetReader r(folder / "d"); }), "d.bin: no such file"));
}

TEST(IndexedDataset, RefusesEveryTruncationOfTheIndex) {
  const TestFolder folder;
  folder.put("d.bin", std::string(12, '\0'));
  const std::string whole = Index().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.put("d.idx", whole.substr(0, size));
    EXPECT_TRUE(contains(message_of<DataError>([&] { IndexedDatasetReader r(folder / "d"); }), "d.idx"))
        << size;
  }
}

TEST(IndexedDataset, RefusesForeignHeaders) {
  Index index;
  index.magic[0] = 'X';
  EXPECT_TRUE(contains(refusal(index), "MMIDIDX"));
  index = {};
  index.version = 2;
  EXPECT_TRUE(contains(refusal(index), "version 1, got 2"));
  for (const std::uint8_t type : {0, 6, 7, 9}) {
    index = {};
    index.type = type;
    EXPECT_TRUE(contains(refusal(index), "token type"));
  }
}

TEST(IndexedDataset, RefusesCountsBeyondTheFile) {
  for (const std::uint64_t extra : {std::uint64_t{1}, std::uint64_t{1} << 61, ~std::uint64_t{0} - 5}) {
    Index index;
    index.extra_sequences = extra;
    EXPECT_TRUE(contains(refusal(index), "d.idx"));
    index = {};
    index.extra_documents = extra;
    EXPECT_TRUE(contains(refusal(index), "pass the end"));
  }
}

TEST(IndexedDataset, RefusesLengthsAndOffsetsOutsideTheBin) {
  Index index;
  index.lengths[0] = -1;
  EXPECT_TRUE(contains(refusal(index), "negative"));
  index = {};
  index.pointers[1] = -4;
  EXPECT_TRUE(contains(refusal(index), "offset -4"));
  index = {};
  index.pointers[1] = 6;
  EXPECT_TRUE(contains(refusal(index), "multiple of 4"));
  index = {};
  index.pointers[1] = std::int64_t{1} << 62;
  EXPECT_TRUE(contains(refusal(index), "d.bin"));
  EXPECT_TRUE(contains(refusal({}, 11), "truncated"));
  EXPECT_TRUE(contains(refusal({}, 16), "do not belong together"));
}

TEST(IndexedDataset, RefusesDocumentBordersOutOfOrder) {
  for (const std::vector<std::int64_t>& borders :
       {std::vector<std::int64_t>{}, {0}, {0, 1}, {1, 2}, {0, 2, 1, 2}, {0, 3}, {0, -1, 2}}) {
    Index index;
    index.documents = borders;
    EXPECT_TRUE(contains(refusal(index), "document border"));
  }
}

TEST(IndexedDataset, RefusesMultimodalIndices) {
  const TestFolder folder;
  folder.put("d.idx", Index().bytes() + std::string(2, '\0'));
  folder.put("d.bin", std::string(12, '\0'));
  EXPECT_TRUE(contains(message_of<DataError>([&] { IndexedDatasetReader r(folder / "d"); }), "multimodal"));
}

TEST(IndexedDatasetWriter, RefusesIdsOutsideTheVocabulary) {
  const TestFolder folder;
  IndexedDatasetWriter writer(folder / "d", 100);
  EXPECT_TRUE(contains(message_of<DataError>([&] { writer.add(Tokens{1, 100}); }), "token id 100"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { writer.add(Tokens{-1}); }), "token id -1"));
  EXPECT_EQ(writer.total_tokens(), 0);
}

TEST(IndexedDatasetWriter, LeavesNothingWithoutCommit) {
  const TestFolder folder;
  {
    IndexedDatasetWriter writer(folder / "d", 100);
    writer.add(Tokens{1});
    EXPECT_TRUE(contains(message_of<InternalError>([&] { writer.commit(); }), "outside a document"));
  }
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(IndexedDatasetWriter, AppendsOtherPairs) {
  const TestFolder folder;
  write_sample(folder / "a", 100);
  write_sample(folder / "wide", 100000);
  IndexedDatasetWriter writer(folder / "d", 100);
  writer.append(IndexedDatasetReader(folder / "a"));
  writer.append(IndexedDatasetReader(folder / "a"));
  EXPECT_TRUE(contains(message_of<DataError>([&] { writer.append(IndexedDatasetReader(folder / "wide")); }),
                       "token type"));
  writer.commit();
  const IndexedDatasetReader reader(folder / "d");
  EXPECT_EQ(reader.document_count(), 6);
  EXPECT_EQ(reader.total_tokens(), 10);
  EXPECT_EQ(reader.read(5), (Tokens{4, 99}));
}

TEST(IndexedDatasetWriter, AnEmptyPairIsReadable) {
  const TestFolder folder;
  IndexedDatasetWriter(folder / "d", 100).commit();
  const IndexedDatasetReader reader(folder / "d");
  EXPECT_EQ(reader.size(), 0);
  EXPECT_EQ(reader.document_count(), 0);
}

}  // namespace
}  // namespace loongforge
