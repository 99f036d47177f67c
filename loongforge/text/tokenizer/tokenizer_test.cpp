#include "loongforge/text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "loongforge/base/error.h"
#include "loongforge/text/tokenizer/byte_tokenizer_for_test.h"

namespace loongforge {
namespace {

using Ids = std::vector<std::int32_t>;

Tokenizer from(const Json& spec) {
  return Tokenizer::from_json(spec.dump(), "tiny.json");
}

// Message of the error that reading `spec` gives.
std::string refusal(const Json& spec) {
  try {
    from(spec);
  } catch (const CheckpointError& e) {
    return e.what();
  }
  return "read without an error";
}

class TokenizerFolder : public ::testing::Test {
 protected:
  void SetUp() override { make_directories(folder_); }
  void TearDown() override { remove_tree(folder_); }
  void write(const char* name, const std::string& text) const { write_file_atomic(folder_ / name, text); }
  const fs::path folder_ = fs::temp_directory_path() / concat("loongforge-tokenizer-", ::getpid());
};

TEST(Tokenizer, EncodesWordsByMerges) {
  EXPECT_EQ(from(tiny_tokenizer_json()).encode("hello a"), (Ids{259, 'o', 256}));
}

TEST(Tokenizer, SpecialNamesInText) {
  const Tokenizer t = from(tiny_tokenizer_json());
  EXPECT_EQ(t.encode("a<s>b"), (Ids{'a', 260, 'b'}));
  for (const std::int32_t id : t.encode("a<s>b", false)) EXPECT_LT(id, 256);
}

TEST(Tokenizer, SpansCoverTheText) {
  const Tokenizer t = from(tiny_tokenizer_json());
  const std::string text = "hello é</s> a";
  std::size_t at = 0;
  for (const TokenSpan& span : t.encode_spans(text)) {
    EXPECT_EQ(span.begin, at);
    at = span.end;
  }
  EXPECT_EQ(at, text.size());
}

TEST(Tokenizer, SpansOfNormalizedTextPointIntoTheSource) {
  auto spec = tiny_tokenizer_json();
  spec["normalizer"] = {{"type", "NFC"}};
  const auto spans =
      from(spec).encode_spans("xe\u0301y");  // e and an accent become one character of two bytes
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[1].id, 0xC3);
  EXPECT_EQ(spans[1].begin, 1u);
  EXPECT_EQ(spans[2].end, 4u);
  EXPECT_EQ(spans[3].begin, 4u);
}

TEST(Tokenizer, PrefixSpaceHasAnEmptySpan) {
  auto spec = tiny_tokenizer_json();
  spec["pre_tokenizer"]["add_prefix_space"] = true;
  const auto spans = from(spec).encode_spans("a");
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].id, 256);
  EXPECT_EQ(spans[0].end, 1u);
}

TEST(Tokenizer, DecodesCutCharactersWithReplacement) {
  const Tokenizer t = from(tiny_tokenizer_json());
  const Ids cut = {'a', 0xE2, 0x82};
  EXPECT_EQ(t.decode(cut), "a\uFFFD");
  const Ids special = {260, 'a', 261};
  EXPECT_EQ(t.decode(special), "<s>a</s>");
  EXPECT_EQ(t.decode(special, true), "a");
  EXPECT_THROW(t.decode(Ids{262}), DataError);
  EXPECT_THROW(t.decode(Ids{-1}), DataError);
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  EXPECT_THROW(from(tiny_tokenizer_json()).encode("a\xFF"), DataError);
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer t = from(tiny_tokenizer_json());
  EXPECT_EQ(t.vocab_size(), 262);
  EXPECT_EQ(t.id("</s>"), 261);
  EXPECT_EQ(t.id("nothing"), std::nullopt);
  EXPECT_EQ(t.token(256), "Ġa");
  EXPECT_EQ(t.token(9999), "");
  EXPECT_TRUE(t.is_special(260) && !t.is_special(0) && !t.is_special(-1));
  EXPECT_FALSE(t.bos_id() || t.eos_id() || t.chat_template());
}

TEST(Tokenizer, MergesInBothSpellings) {
  auto spec = tiny_tokenizer_json();
  Json texts = Json::array();  // of older files
  for (const Json& merge : spec["model"]["merges"])
    texts.push_back(merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>());
  spec["model"]["merges"] = texts;
  EXPECT_EQ(from(spec).encode("hello a"), (Ids{259, 'o', 256}));
}

TEST(Tokenizer, StepsBehindByteLevelSeeItsAlphabet) {
  auto spec = tiny_tokenizer_json({"1 2"});
  spec["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}},
                             {{"type", "Digits"}, {"individual_digits", true}}}}};
  EXPECT_EQ(from(spec).encode("12é"), (Ids{'1', '2', 0xC3, 0xA9}));
}

TEST(Tokenizer, KindsThatAreNotSupportedAreNamed) {
  auto spec = tiny_tokenizer_json();
  spec["model"]["type"] = "Unigram";
  EXPECT_NE(refusal(spec).find("tiny.json: tokenizer kind 'Unigram' is not supported yet"),
            std::string::npos);
  spec["model"]["type"] = "WordPiece";
  EXPECT_NE(refusal(spec).find("'WordPiece'"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["model"]["byte_fallback"] = true;
  EXPECT_NE(refusal(spec).find("byte_fallback"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["normalizer"] = {{"type", "BertNormalizer"}};
  EXPECT_NE(refusal(spec).find("normalizer 'BertNormalizer'"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["pre_tokenizer"] = {{"type", "Metaspace"}};
  EXPECT_NE(refusal(spec).find("pre_tokenizer 'Metaspace'"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["decoder"] = nullptr;
  EXPECT_NE(refusal(spec).find("decoder: expected ByteLevel"), std::string::npos);
}

TEST(Tokenizer, DamagedFilesAreRefused) {
  EXPECT_THROW(Tokenizer::from_json("", "f"), CheckpointError);
  EXPECT_THROW(Tokenizer::from_json("{\"model\":", "f"), CheckpointError);
  EXPECT_THROW(Tokenizer::from_json("[]", "f"), CheckpointError);
  EXPECT_THROW(Tokenizer::from_json(std::string(100000, '['), "f"), CheckpointError);
  auto spec = tiny_tokenizer_json();
  spec["model"]["vocab"]["a"] = -1;
  EXPECT_NE(refusal(spec).find("token 'a'"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["model"]["vocab"]["a"] = 1e18;
  EXPECT_NE(refusal(spec).find("token 'a'"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["model"]["merges"].push_back("single");
  EXPECT_NE(refusal(spec).find("model.merges: entry 4"), std::string::npos);
  spec = tiny_tokenizer_json();
  spec["added_tokens"][0]["id"] = 777;
  EXPECT_NE(refusal(spec).find("expected id 260 (the vocabulary's, or the next free one)"),
            std::string::npos);
}

TEST_F(TokenizerFolder, NamesAndTemplateComeFromTheConfiguration) {
  write("tokenizer.json", tiny_tokenizer_json().dump());
  write("tokenizer_config.json",
        R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null, "chat_template": "T"})");
  const Tokenizer t = Tokenizer::load(folder_);
  EXPECT_EQ(t.bos_id(), 260);
  EXPECT_EQ(t.eos_id(), 261);
  EXPECT_EQ(t.pad_id(), std::nullopt);
  EXPECT_EQ(t.chat_template(), "T");
  EXPECT_EQ(t.special_tokens_json(), (Json{{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  write("chat_template.jinja", "J");
  EXPECT_EQ(Tokenizer::load(folder_).chat_template(), "J");
}

TEST_F(TokenizerFolder, TheDefaultOfSeveralTemplatesIsTaken) {
  write("tokenizer.json", tiny_tokenizer_json().dump());
  write(
      "tokenizer_config.json",
      R"({"chat_template": [{"name": "tool_use", "template": "A"}, {"name": "default", "template": "B"}]})");
  EXPECT_EQ(Tokenizer::load(folder_).chat_template(), "B");
}

TEST_F(TokenizerFolder, SavingKeepsFilesAsTheyWere) {
  write("tokenizer.json", tiny_tokenizer_json().dump(1));
  write("tokenizer_config.json", R"({"eos_token":   "</s>", "tokenizer_class": "LlamaTokenizerFast"})");
  const Tokenizer t = Tokenizer::load(folder_);
  t.with_chat_template("{{ messages }}").save(folder_ / "out");
  EXPECT_EQ(read_file(folder_ / "out" / "tokenizer.json"), tiny_tokenizer_json().dump(1));
  EXPECT_EQ(read_file(folder_ / "out" / "tokenizer_config.json"),
            read_file(folder_ / "tokenizer_config.json"));
  EXPECT_EQ(Tokenizer::load(folder_ / "out").chat_template(), "{{ messages }}");
  EXPECT_EQ(Tokenizer::load(folder_ / "out").eos_id(), 261);
}

TEST_F(TokenizerFolder, AddedTokensGetTheNextIdsAndStayWhenSaved) {
  write("tokenizer.json", tiny_tokenizer_json().dump());
  write("tokenizer_config.json", R"({"eos_token": "</s>"})");
  const Tokenizer old = Tokenizer::load(folder_);
  const Tokenizer t = old.with_added_tokens({"<|image|>", "</s>", "<|clip|>"});
  const std::int32_t first = old.vocab_size();
  EXPECT_EQ(t.vocab_size(), first + 2);
  EXPECT_EQ(t.encode("<|clip|><|image|></s>"), (std::vector<std::int32_t>{first + 1, first, 261}));
  EXPECT_EQ(t.eos_id(), 261);
  t.save(folder_ / "out");
  EXPECT_EQ(Tokenizer::load(folder_ / "out").id("<|clip|>"), first + 1);
}

TEST_F(TokenizerFolder, SpecialTokensMustBeInTheVocabulary) {
  write("tokenizer.json", tiny_tokenizer_json().dump());
  write("tokenizer_config.json", R"({"pad_token": "[PAD]"})");
  EXPECT_THROW(Tokenizer::load(folder_), CheckpointError);
}

TEST_F(TokenizerFolder, MissingFilesAreNamed) {
  try {
    Tokenizer::load(folder_);
    FAIL();
  } catch (const CheckpointError& e) {
    EXPECT_NE(std::string(e.what()).find("tokenizer.json is missing"), std::string::npos) << e.what();
  }
  EXPECT_THROW(Tokenizer::load(folder_ / "absent"), CheckpointError);
}

}  // namespace
}  // namespace loongforge
