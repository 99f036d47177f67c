#include "loongforge/data/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "loongforge/base/random.h"
#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer one = test_tokenizer();
  return one;
}

PrepareOptions options_for(const TestFolder& folder, const std::vector<std::string>& inputs) {
  PrepareOptions options;
  for (const std::string& input : inputs) options.inputs.push_back((folder / input).string());
  options.tokenizer = &tokenizer();
  options.out = (folder / "out/set").string();
  options.threads = 2;
  return options;
}

std::string document(const std::string& prefix, std::int64_t i) {
  return tokenizer().decode(IndexedDatasetReader(prefix).read(i));
}

// Forty files of several kinds below "in", and their parts small.
PrepareOptions many_files(const TestFolder& folder) {
  make_directories(folder / "in/sub");
  const CounterRandom random(1, "prepare test");
  for (std::uint64_t i = 0; i < 40; ++i) {
    std::string text = concat("file ", i, ":");
    for (std::uint64_t k = 0; k < random.below(60, i, 0); ++k) text += concat(" word", random.below(9, i, k));
    const std::string extension = i % 3 == 0 ? ".html" : i % 3 == 1 ? ".md" : ".txt";
    folder.put(concat("in/", i % 5 == 0 ? "sub/" : "", i, extension), text);
  }
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += dump_json({{"text", concat("record ", i)}, {"id", i}}) + "\n";
  folder.put("in/zz.jsonl", lines);
  PrepareOptions options = options_for(folder, {"in"});
  options.part_bytes = 300;
  options.held_out_fraction = 0.2;
  return options;
}

// The bytes of all six files of a result.
std::string all_bytes(const PrepareOptions& options) {
  std::string bytes;
  for (const char* side : {"", "-heldout"}) {
    for (const char* extension : {".bin", ".idx", ".json"})
      bytes += file_bytes(options.out + side + extension);
  }
  return bytes;
}

TEST(Prepare, EndOfDocumentCountsInTheLengths) {
  const TestFolder folder;
  folder.put("a.jsonl", "{\"text\": \"four\"}\n{\"text\": \"x\"}\n{\"text\": \"\"}\n");
  const PrepareOptions options = options_for(folder, {"a.jsonl"});
  const PrepareResult result = prepare(options);
  EXPECT_EQ(result.train.documents, 2);
  EXPECT_EQ(result.train.tokens, 7);
  EXPECT_EQ(result.train.dropped.at("empty"), 1);
  EXPECT_EQ(fs::file_size(options.out + ".bin"), 7U * 2);
  const IndexedDatasetReader reader(options.out);
  EXPECT_EQ(reader.length(0), 5);
  EXPECT_EQ(reader.read(0).back(), kTestEos);
  EXPECT_EQ(reader.read(1).back(), kTestEos);
}

TEST(Prepare, DirectoryIsReadInOrderOfNames) {
  const TestFolder folder;
  make_directories(folder / "in/b");
  folder.put("in/c.txt", "three");
  folder.put("in/a.md", "one");
  folder.put("in/b/x.html", "<p>two</p>");
  folder.put("in/picture.png", "no text");
  const PrepareOptions options = options_for(folder, {"in"});
  const PrepareResult result = prepare(options);
  EXPECT_EQ(result.files, 3);
  EXPECT_EQ(result.ignored_files.at(".png"), 1);
  EXPECT_EQ(document(options.out, 0), "one<|endoftext|>");
  EXPECT_EQ(document(options.out, 1), "two<|endoftext|>");
  EXPECT_EQ(document(options.out, 2), "three<|endoftext|>");
}

TEST(Prepare, ResultDoesNotDependOnThreads) {
  const TestFolder folder;
  PrepareOptions options = many_files(folder);
  options.threads = 1;
  const PrepareResult one = prepare(options);
  EXPECT_GT(one.parts, 8);
  EXPECT_EQ(one.train.documents + one.held_out->documents, 70);
  const std::string bytes = all_bytes(options);
  options.out = (folder / "out/other").string();
  options.threads = 4;
  prepare(options);
  EXPECT_EQ(all_bytes(options), bytes);
}

TEST(Prepare, GoesOnAfterAnInterruption) {
  const TestFolder folder;
  PrepareOptions options = many_files(folder);
  prepare(options);
  const std::string bytes = all_bytes(options);
  options.out = (folder / "out/cut").string();
  int parts = 0;
  options.on_part = [&](std::int64_t) {
    if (++parts == 4) throw Interrupted("stop");
  };
  message_of<Interrupted>([&] { prepare(options); });
  EXPECT_TRUE(fs::exists(options.out + ".parts"));
  EXPECT_FALSE(fs::exists(options.out + ".bin"));
  options.on_part = nullptr;
  const PrepareResult result = prepare(options);
  EXPECT_GE(result.parts_reused, 4);
  EXPECT_EQ(all_bytes(options), bytes);
  EXPECT_FALSE(fs::exists(options.out + ".parts"));
}

TEST(Prepare, RemovesWhatACallLeftThatWasKilledAtItsEnd) {
  const TestFolder folder;
  const PrepareOptions options = many_files(folder);
  prepare(options);
  const std::string bytes = all_bytes(options);
  make_directories(options.out + ".parts");
  write_file_atomic(options.out + ".parts/00000000.part", "x");
  write_file_atomic(options.out + ".bin.tmp-1", "x");
  EXPECT_TRUE(prepare(options).already_done);
  EXPECT_FALSE(fs::exists(options.out + ".parts"));
  EXPECT_FALSE(fs::exists(options.out + ".bin.tmp-1"));
  EXPECT_EQ(all_bytes(options), bytes);
}

TEST(Prepare, DamagedPartsAreMadeAgain) {
  const TestFolder folder;
  PrepareOptions options = many_files(folder);
  prepare(options);
  const std::string bytes = all_bytes(options);
  options.out = (folder / "out/cut").string();
  options.threads = 1;
  options.on_part = [](std::int64_t part) {
    if (part == 2) throw Interrupted("stop");
  };
  message_of<Interrupted>([&] { prepare(options); });
  fs::resize_file(fs::path(options.out + ".parts") / "00000001.part", 40);
  options.on_part = nullptr;
  EXPECT_EQ(prepare(options).parts_reused, 2);
  EXPECT_EQ(all_bytes(options), bytes);
}

TEST(Prepare, PartsOfOtherOptionsAreNotUsed) {
  const TestFolder folder;
  PrepareOptions options = many_files(folder);
  options.on_part = [](std::int64_t) { throw Interrupted("stop"); };
  message_of<Interrupted>([&] { prepare(options); });
  options.on_part = nullptr;
  options.append_eos = false;
  EXPECT_EQ(prepare(options).parts_reused, 0);
}

TEST(Prepare, FinishedWorkIsNotDoneAgain) {
  const TestFolder folder;
  const PrepareOptions options = many_files(folder);
  const PrepareResult first = prepare(options);
  const PrepareResult again = prepare(options);
  EXPECT_FALSE(first.already_done);
  EXPECT_TRUE(again.already_done);
  EXPECT_EQ(again.train.tokens, first.train.tokens);
  EXPECT_EQ(again.held_out->documents, first.held_out->documents);
}

TEST(Prepare, RefusesToReplaceAnotherDataset) {
  const TestFolder folder;
  folder.put("a.txt", "one");
  PrepareOptions options = options_for(folder, {"a.txt"});
  prepare(options);
  options.append_eos = false;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { prepare(options); }), "other options"));
  options.overwrite = true;
  EXPECT_EQ(prepare(options).train.tokens, 3);
  folder.put("a.txt", "longer");
  options.overwrite = false;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { prepare(options); }), "other sources"));
}

TEST(Prepare, HeldOutFilesGoToTheirOwnDataset) {
  const TestFolder folder;
  make_directories(folder / "in");
  for (const char* name : {"a", "b", "c"}) folder.put(concat("in/", name, ".txt"), name);
  PrepareOptions options = options_for(folder, {"in"});
  options.held_out = read_glob_list(folder.put("list", "# which\n\n  b.txt \r\n"));
  const PrepareResult result = prepare(options);
  EXPECT_EQ(result.train.documents, 2);
  EXPECT_EQ(result.held_out->documents, 1);
  EXPECT_EQ(document(options.out + "-heldout", 0), "b<|endoftext|>");
}

TEST(Prepare, GlobsChooseFiles) {
  const TestFolder folder;
  make_directories(folder / "in/old");
  folder.put("in/a.txt", "a");
  folder.put("in/b.log", "b");
  folder.put("in/old/c.txt", "c");
  PrepareOptions options = options_for(folder, {"in"});
  options.include = {"*.txt", "*.log"};
  options.exclude = {"old/*"};
  EXPECT_EQ(prepare(options).train.documents, 2);
}

TEST(Prepare, SpecialTokensInTheTextStayText) {
  const TestFolder folder;
  folder.put("a.txt", "<|im_end|>");
  PrepareOptions options = options_for(folder, {"a.txt"});
  EXPECT_EQ(prepare(options).train.tokens, 11);
  options.special_tokens = true;
  options.overwrite = true;
  prepare(options);
  EXPECT_EQ(IndexedDatasetReader(options.out).read(0), (std::vector<std::int32_t>{kTestEnd, kTestEos}));
}

TEST(Prepare, LimitsOfLengthAreCounted) {
  const TestFolder folder;
  folder.put("a.jsonl", "{\"text\": \"ab\"}\n{\"text\": \"abcdefgh\"}\n{\"text\": \"abcd\"}\n");
  PrepareOptions options = options_for(folder, {"a.jsonl"});
  options.min_tokens = 3;
  options.max_tokens = 5;
  const PreparedSet set = prepare(options).train;
  EXPECT_EQ(set.dropped.at("too_short"), 1);
  EXPECT_EQ(set.cut, 1);
  EXPECT_EQ(set.cut_tokens, 3);
  EXPECT_EQ(document(options.out, 0), "abcde<|endoftext|>");
}

TEST(Prepare, InvalidBytesAreCounted) {
  const TestFolder folder;
  folder.put("a.txt", "fine");
  folder.put("b.txt", "bad \xFF");
  folder.put("c.jsonl", "{\"text\": \"bad \xC3\"}\n");
  PrepareOptions options = options_for(folder, {"a.txt", "b.txt", "c.jsonl"});
  EXPECT_EQ(prepare(options).train.dropped.at("invalid_utf8"), 2);
  options.invalid_utf8 = InvalidUtf8::kReplace;
  options.overwrite = true;
  const PreparedSet replaced = prepare(options).train;
  EXPECT_EQ(replaced.replaced, 2);
  EXPECT_EQ(replaced.documents, 3);
}

TEST(Prepare, ManifestTellsSourcesAndCounts) {
  const TestFolder folder;
  folder.put("a.txt", "abc");
  const PrepareOptions options = options_for(folder, {"a.txt"});
  prepare(options);
  const Json manifest = read_json(options.out + ".json");
  EXPECT_EQ(manifest.at("tokenizer").at("vocab_size"), 260);
  EXPECT_EQ(manifest.at("end_of_document_id"), kTestEos);
  EXPECT_EQ(manifest.at("sources").at(0).at("tokens"), 4);
  EXPECT_EQ(manifest.at("text_bytes"), 3);
}

// One row of bad input: how the folder is filled, what is read, and a part of the message.
struct Bad {
  const char* name;
  std::function<void(const TestFolder&, PrepareOptions&)> fill;
  const char* message;
};

TEST(Prepare, BadInputIsNamed) {
  const std::vector<Bad> rows = {
      {"missing", [](const TestFolder&, PrepareOptions&) {}, "in: no such file or directory"},
      {"empty folder", [](const TestFolder& f, PrepareOptions&) { make_directories(f / "in"); },
       "found none"},
      {"only pictures",
       [](const TestFolder& f, PrepareOptions&) {
         make_directories(f / "in");
         f.put("in/x.png", "");
       },
       "found 1 .png"},
      {"empty file", [](const TestFolder& f, PrepareOptions&) { f.put("in", ""); },
       "got none (dropped: 1 empty)"},
      {"garbled archive", [](const TestFolder& f, PrepareOptions&) { f.put("in", "\x1f\x8b\x08garbage"); },
       "in"},
      {"no json",
       [](const TestFolder& f, PrepareOptions& o) {
         f.put("in", "{\"text\": \"a\"}\n{broken\n");
         o.format = "jsonl";
       },
       "in:2: not valid JSON"},
      {"wrong field",
       [](const TestFolder& f, PrepareOptions& o) {
         f.put("in", "{\"content\": \"a\"}\n");
         o.format = "jsonl";
       },
       "in:1: expected a field 'text', got the fields content"},
      {"number",
       [](const TestFolder& f, PrepareOptions& o) {
         f.put("in", "{\"text\": 5}\n");
         o.format = "jsonl";
       },
       "expected text, got number"},
      {"held out nothing",
       [](const TestFolder& f, PrepareOptions& o) {
         f.put("in", "a");
         o.held_out = {"nothing*"};
       },
       "--held-out"},
  };
  for (const Bad& row : rows) {
    const TestFolder folder;
    PrepareOptions options = options_for(folder, {"in"});
    row.fill(folder, options);
    const std::string message = message_of<DataError>([&] { prepare(options); });
    EXPECT_TRUE(contains(message, row.message)) << row.name;
    EXPECT_FALSE(fs::exists(options.out + ".bin")) << row.name;
    EXPECT_FALSE(fs::exists(options.out + ".parts")) << row.name;
  }
}

TEST(Prepare, UnwritableOutIsAResourceError) {
  const TestFolder folder;
  folder.put("a.txt", "text");
  PrepareOptions options = options_for(folder, {"a.txt"});
  options.out = (folder / "a.txt" / "set").string();
  EXPECT_TRUE(contains(message_of<ResourceError>([&] { prepare(options); }), "a.txt"));
}

TEST(Prepare, TokenizerWithoutEndTokenIsNamed) {
  const TestFolder folder;
  folder.put("a.txt", "text");
  PrepareOptions options = options_for(folder, {"a.txt"});
  options.eos_token = "<none>";
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { prepare(options); }), "'<none>'"));
}

TEST(Prepare, BadOptionsAreNamed) {
  const TestFolder folder;
  folder.put("a.txt", "text");
  PrepareOptions options = options_for(folder, {"a.txt"});
  options.format = "pdf";
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { prepare(options); }), "--format"));
  options = options_for(folder, {"a.txt"});
  options.held_out_fraction = 1;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { prepare(options); }), "--held-out-fraction"));
  options = options_for(folder, {"a.txt"});
  options.min_tokens = 9;
  options.max_tokens = 3;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { prepare(options); }), "--max-tokens"));
}

}  // namespace
}  // namespace loongforge
