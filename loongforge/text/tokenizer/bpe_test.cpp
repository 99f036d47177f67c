#include "loongforge/text/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_alphabet.h"

namespace loongforge {
namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

Vocabulary vocabulary_of(const Merges& merges) {
  Vocabulary vocabulary;
  for (int b = 0; b < 256; ++b) vocabulary.emplace(byte_character(static_cast<unsigned char>(b)), b);
  for (const auto& [left, right] : merges) {
    vocabulary.emplace(left + right, static_cast<std::int32_t>(vocabulary.size()));
  }
  return vocabulary;
}

std::vector<std::int32_t> ids(const Bpe& model, std::string_view word) {
  std::vector<WordToken> tokens;
  model.encode(word, tokens, nullptr);
  std::vector<std::int32_t> out;
  std::size_t length = 0;
  for (const WordToken& token : tokens) {
    out.push_back(token.id);
    length += token.length;
  }
  EXPECT_EQ(length, tokens.empty() ? 0 : word.size());
  return out;
}

TEST(Bpe, EarlierMergesGoFirst) {
  const Merges merges = {{"b", "c"}, {"a", "b"}, {"a", "bc"}};
  const Bpe model(vocabulary_of(merges), merges, {}, "test");
  EXPECT_EQ(ids(model, "abc"), std::vector<std::int32_t>{258});
  EXPECT_EQ(ids(model, "ab"), std::vector<std::int32_t>{257});
}

TEST(Bpe, EqualRanksGoFromLeftToRight) {
  const Merges merges = {{"a", "a"}};
  const Bpe model(vocabulary_of(merges), merges, {}, "test");
  EXPECT_EQ(ids(model, "aaa"), (std::vector<std::int32_t>{256, 'a'}));
}

TEST(Bpe, WholeWordsNeedNoMerges) {
  Vocabulary vocabulary = vocabulary_of({});
  vocabulary.emplace("abc", 256);
  EXPECT_EQ(ids(Bpe(vocabulary, {}, {.ignore_merges = true}, "test"), "abc"), std::vector<std::int32_t>{256});
  EXPECT_EQ(ids(Bpe(vocabulary, {}, {}, "test"), "abc").size(), 3u);
}

TEST(Bpe, RefusedTokensAreNotTakenWhole) {
  Vocabulary vocabulary = vocabulary_of({});
  vocabulary.emplace("abc", 256);
  const Bpe model(vocabulary, {}, {.ignore_merges = true}, "test");
  std::vector<bool> refused(257, false);
  refused[256] = true;
  std::vector<WordToken> tokens;
  model.encode("abc", tokens, &refused);
  EXPECT_EQ(tokens.size(), 3u);
}

TEST(Bpe, BytesOutsideTheVocabulary) {
  const Vocabulary vocabulary = {{"a", 0}, {"?", 1}};
  EXPECT_EQ(ids(Bpe(vocabulary, {}, {}, "test"), "xaxa"), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(ids(Bpe(vocabulary, {}, {.unk = 1}, "test"), "xxa"), (std::vector<std::int32_t>{1, 1, 0}));
  EXPECT_EQ(ids(Bpe(vocabulary, {}, {.unk = 1, .fuse_unk = true}, "test"), "xxa"),
            (std::vector<std::int32_t>{1, 0}));
}

TEST(Bpe, MergeOfAnUnknownTokenIsNamed) {
  try {
    Bpe({{"a", 0}}, {{"a", "b"}}, {}, "file.json");
    FAIL();
  } catch (const CheckpointError& e) {
    EXPECT_NE(std::string(e.what()).find("file.json: merge 0: token 'b'"), std::string::npos) << e.what();
  }
}

TEST(Bpe, AMegabyteWithoutBlanksIsFast) {
  Merges merges;
  std::string token = "a";
  for (int i = 0; i < 12; ++i, token += token) merges.emplace_back(token, token);
  const Bpe model(vocabulary_of(merges), merges, {}, "test");
  const std::string word(1 << 20, 'a');
  const std::clock_t start = std::clock();
  EXPECT_EQ(ids(model, word).size(), (1u << 20) >> 12);
  // Quadratic time would be hours.
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10.0);
}

TEST(Bpe, ThreadsShareTheCache) {
  const Merges merges = {{"a", "b"}, {"ab", "c"}};
  const Bpe model(vocabulary_of(merges), merges, {}, "test");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&model] {
      for (int i = 0; i < 2000; ++i) {
        const std::string word = "abc" + std::to_string(i % 100);
        EXPECT_EQ(ids(model, word).size(), word.size() - 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace loongforge
