#include "loongforge/formats/fuzz.h"
#include "loongforge/text/tokenizer/byte_tokenizer_for_test.h"
#include "loongforge/text/tokenizer/tokenizer.h"

namespace loongforge {

std::vector<std::string> fuzz_seeds() {
  Json small = tiny_tokenizer_json({"a b"});
  small["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"Ġ", 3}};
  small["added_tokens"] = {
      {{"id", 4}, {"content", "<s>"}, {"special", true}, {"lstrip", true}, {"rstrip", true}},
      {{"id", 5}, {"content", "é"}, {"normalized", true}, {"single_word", true}}};
  Json falcon = small;
  falcon["normalizer"] = {{"type", "Sequence"},
                          {"normalizers",
                           {{{"type", "NFC"}},
                            {{"type", "Replace"}, {"pattern", {{"String", "b"}}}, {"content", "ab"}},
                            {{"type", "Lowercase"}}}}};
  falcon["pre_tokenizer"] = {{"type", "Sequence"},
                             {"pretokenizers",
                              {{{"type", "Punctuation"}, {"behavior", "Contiguous"}},
                               {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}},
                               {{"type", "Digits"}, {"individual_digits", false}},
                               {{"type", "Split"},
                                {"pattern", {{"Regex", "[0-9]{3}|\\s+(?!\\S)"}}},
                                {"behavior", "MergedWithNext"}}}}};
  falcon["model"]["unk_token"] = "a";
  falcon["model"]["fuse_unk"] = true;
  falcon["model"]["ignore_merges"] = true;
  return {small.dump(), falcon.dump(), "{}", "[[[["};
}

}  // namespace loongforge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loongforge;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_read_or<Error>([&] {
    const Tokenizer tokenizer = Tokenizer::from_json(text, "fuzz");
    const auto spans = tokenizer.encode_spans("ab <s> 12é e\u0301\n\n漢!? abab   ");
    std::vector<std::int32_t> ids;
    for (const TokenSpan& span : spans) ids.push_back(span.id);
    tokenizer.decode(ids);
    tokenizer.encode("<s>ab", false);
  });
  return 0;
}
