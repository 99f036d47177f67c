#include "loongforge/data/row_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loongforge/base/random.h"
#include "loongforge/data/document_rows.h"
#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

std::unique_ptr<RowSource> pretrain(const std::vector<std::string>& prefixes, RowSourceOptions options,
                                    std::optional<std::uint64_t> seed = 5) {
  options.seed = seed.value_or(0);
  options.endless = seed.has_value();
  std::vector<std::unique_ptr<RowSet>> sets;
  sets.push_back(std::make_unique<DocumentRows>(DocumentSet(prefixes), options.shape.seq_length, seed));
  return std::make_unique<RowSource>(std::move(sets), options);
}

RowSourceOptions shape(std::int64_t seq_length, std::int64_t micro, std::int64_t global) {
  RowSourceOptions options;
  options.shape = {seq_length, micro, global};
  return options;
}

// Lengths between 0 and `most`.
std::vector<std::int64_t> random_lengths(std::uint64_t round, std::int64_t most) {
  const CounterRandom random(11, "row source test");
  std::vector<std::int64_t> lengths(1 + random.below(40, round, 0));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1, round, i + 1));
  }
  lengths[0] += 1;
  return lengths;
}

// Real tokens of a batch in order: what is not in the padding document.
struct Seen {
  std::multiset<std::int64_t> inputs, labels;
  void add(const Batch& batch) {
    const auto input = values_of(batch, "input_ids"), label = values_of(batch, "labels");
    const auto borders = values_of(batch, "cu_seqlens"), position = values_of(batch, "position_ids");
    for (std::size_t d = 0; d + 1 < borders.size(); ++d) {
      const auto begin = static_cast<std::size_t>(borders[d]), end = static_cast<std::size_t>(borders[d + 1]);
      const bool padding = end - begin > 1 && input[begin] == input[begin + 1];
      for (std::size_t i = begin; i < end; ++i) {
        EXPECT_EQ(position[i], static_cast<std::int64_t>(i - begin));
        if (padding || input[i] == 0) continue;
        inputs.insert(input[i]);
        if (label[i] == kIgnoredLabel) continue;
        labels.insert(label[i]);
        EXPECT_EQ(label[i], input[i] + 1);
      }
    }
  }
};

// Every token but the first of its document, as tokens count up from 1.
std::multiset<std::int64_t> expected_labels(const std::vector<std::int64_t>& lengths) {
  std::multiset<std::int64_t> labels;
  std::int64_t first = 1;
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = 1; i < length; ++i) labels.insert(first + i);
    first += length;
  }
  return labels;
}

TEST(RowSource, EveryPassReadsEachTokenOnce) {
  for (std::uint64_t round = 0; round < 25; ++round) {
    const TestFolder folder;
    const auto lengths = random_lengths(round, 30);
    put_documents(folder / "a", lengths, 1);
    const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    const auto seq_length = static_cast<std::int64_t>(2 + round);
    const auto source = pretrain({(folder / "a").string()}, shape(seq_length, 1, 1));
    const std::int64_t rows = (total + seq_length - 1) / seq_length;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      Seen seen;
      for (std::int64_t row = 0; row < rows; ++row) seen.add(source->batch(epoch * rows + row, 0));
      std::multiset<std::int64_t> all;
      for (std::int64_t id = 1; id <= total; ++id) all.insert(id);
      ASSERT_EQ(seen.inputs, all) << "round " << round << " epoch " << epoch;
      ASSERT_EQ(seen.labels, expected_labels(lengths)) << "round " << round << " epoch " << epoch;
    }
  }
}

TEST(RowSource, EvalReadsEverythingOnceInOrder) {
  const TestFolder folder;
  put_documents(folder / "a", {5, 0, 3, 9}, 1);
  put_documents(folder / "b", {4}, 18);
  const auto source =
      pretrain({(folder / "a").string(), (folder / "b").string()}, shape(4, 2, 100), std::nullopt);
  ASSERT_EQ(source->steps(), 3);
  std::vector<std::int64_t> inputs;
  BatchCounts counts;
  for (std::int64_t step = 0; step < 3; ++step) {
    ASSERT_EQ(source->micro_batches(step), 1);
    const Batch batch = source->batch(step, 0);
    const auto part = values_of(batch, "input_ids");
    inputs.insert(inputs.end(), part.begin(), part.end());
    counts += batch.counts;
  }
  std::vector<std::int64_t> wanted(21);
  std::iota(wanted.begin(), wanted.end(), 1);
  wanted.insert(wanted.end(), 3, 0);
  EXPECT_EQ(inputs, wanted);
  EXPECT_EQ(counts.trained, 21 - 4);
  EXPECT_EQ(counts.padding, 3);
  EXPECT_EQ(counts.rows, 6);
  EXPECT_EQ(source->micro_batches(3), 0);
}

TEST(RowSource, BatchIsAFunctionOfSeedAndStepAlone) {
  const TestFolder folder;
  put_documents(folder / "a", random_lengths(1, 50));
  const std::vector<std::string> prefixes = {(folder / "a").string()};
  const auto one = pretrain(prefixes, shape(8, 2, 4));
  for (std::int64_t step = 0; step < 200; ++step) one->batch(step, 0);
  const auto fresh = pretrain(prefixes, shape(8, 2, 4));
  EXPECT_EQ(values_of(one->batch(77, 1), "input_ids"), values_of(fresh->batch(77, 1), "input_ids"));
  const auto other = pretrain(prefixes, shape(8, 2, 4), 6);
  EXPECT_NE(values_of(one->batch(77, 1), "input_ids"), values_of(other->batch(77, 1), "input_ids"));
}

TEST(RowSource, StepHoldsTheSameRowsWhateverTheMicroBatch) {
  const TestFolder folder;
  put_documents(folder / "a", random_lengths(2, 50));
  const std::vector<std::string> prefixes = {(folder / "a").string()};
  const auto rows_of = [&](std::int64_t micro) {
    std::vector<std::int64_t> all;
    for (const Batch& batch : read_step(*pretrain(prefixes, shape(8, micro, 4)), 3).micro_batches) {
      const auto part = values_of(batch, "input_ids");
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
  EXPECT_EQ(rows_of(1), rows_of(4));
}

TEST(RowSource, EpochsHaveDifferentOrders) {
  const TestFolder folder;
  put_documents(folder / "a", std::vector<std::int64_t>(50, 8));
  const auto source = pretrain({(folder / "a").string()}, shape(8, 50, 50));
  EXPECT_NE(values_of(source->batch(0, 0), "input_ids"), values_of(source->batch(1, 0), "input_ids"));
  EXPECT_DOUBLE_EQ(source->epochs(1), 1.0);
  EXPECT_DOUBLE_EQ(source->epochs(2), 2.0);
}

TEST(RowSource, BlendTakesRowsByWeight) {
  const TestFolder folder;
  put_documents(folder / "a", std::vector<std::int64_t>(10, 8), 0);
  put_documents(folder / "b", std::vector<std::int64_t>(20, 8), 1000);
  std::vector<std::unique_ptr<RowSet>> sets;
  for (const char* name : {"a", "b"}) {
    sets.push_back(std::make_unique<DocumentRows>(DocumentSet({(folder / name).string()}), 8, 1));
  }
  RowSourceOptions options = shape(8, 30, 30);
  options.weights = {10, 20};
  const RowSource source(std::move(sets), options);
  const auto ids = values_of(source.batch(0, 0), "input_ids");
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), 240U);
}

TEST(RowSource, IdBeyondTheEmbeddingIsAnError) {
  const TestFolder folder;
  put_documents(folder / "a", {513});
  RowSourceOptions options = shape(600, 1, 1);
  options.embedding_rows = 512;
  const auto source = pretrain({(folder / "a").string()}, options);
  const std::string message = message_of<DataError>([&] { source->batch(0, 0); });
  EXPECT_TRUE(contains(message, "below 512"));
  EXPECT_TRUE(contains(message, "got 512"));
}

TEST(RowSource, SavedStateFitsOnlyTheSameData) {
  const TestFolder folder;
  put_documents(folder / "a", {5, 6});
  put_documents(folder / "b", {6, 5});
  const auto a = pretrain({(folder / "a").string()}, shape(4, 1, 2));
  const Json saved = parse_json(dump_json(a->state(9)), "state");
  EXPECT_EQ(saved.at("rows"), 18);
  a->check_state(saved);
  const auto b = pretrain({(folder / "b").string()}, shape(4, 1, 2));
  EXPECT_TRUE(contains(message_of<DataError>([&] { b->check_state(saved); }), "fingerprint"));
  const auto reseeded = pretrain({(folder / "a").string()}, shape(4, 1, 2), 6);
  EXPECT_TRUE(contains(message_of<DataError>([&] { reseeded->check_state(saved); }), "seed"));
}

TEST(RowSource, RefusesAGlobalBatchThatDoesNotDivide) {
  const TestFolder folder;
  put_documents(folder / "a", {5});
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { pretrain({(folder / "a").string()}, shape(4, 2, 3)); }),
                       "train.global_batch_size"));
}

TEST(DocumentSet, SplitSidesAreDisjointAndComplete) {
  const TestFolder folder;
  put_documents(folder / "a", std::vector<std::int64_t>(300, 1));
  const std::vector<std::string> prefixes = {(folder / "a").string()};
  std::multiset<std::int32_t> all;
  const auto collect = [&](const DocumentSet& set) {
    for (std::int64_t i = 0; i < set.size(); ++i) {
      std::int32_t id = 0;
      set.read_into(i, 0, std::span(&id, 1));
      all.insert(id);
    }
    return set.size();
  };
  collect(DocumentSet(prefixes, {0.2, false}));
  const std::int64_t held_out = collect(DocumentSet(prefixes, {0.2, true}));
  EXPECT_NEAR(static_cast<double>(held_out), 60, 30);
  EXPECT_EQ(all.size(), 300U);
  EXPECT_EQ(std::set<std::int32_t>(all.begin(), all.end()).size(), 300U);
}

TEST(DocumentSet, MissingAndRawDataNameTheCommand) {
  const TestFolder folder;
  const auto message = [&](const fs::path& path) {
    return message_of<DataError>([&] { DocumentSet({path.string()}); });
  };
  EXPECT_TRUE(contains(message(folder / "nothing"), "there is no"));
  EXPECT_TRUE(contains(message(folder.put("book.txt", "text")), "got a file; first run 'loongforge prepare"));
  EXPECT_TRUE(contains(message(folder.path()), "got a folder"));
  make_directories(folder / "half.parts");
  EXPECT_TRUE(contains(message(folder / "half"), "interrupted"));
}

TEST(DocumentSet, WithoutTokensIsAnError) {
  const TestFolder folder;
  put_documents(folder / "a", {0, 0});
  EXPECT_TRUE(
      contains(message_of<DataError>([&] { DocumentSet({(folder / "a").string()}); }), "at least one token"));
}

}  // namespace
}  // namespace loongforge
