#include "loongforge/data/batch_builder.h"

#include <gtest/gtest.h>

#include "loongforge/data/test_support.h"

namespace loongforge {
namespace {

using Ids = std::vector<std::int32_t>;
using Values = std::vector<std::int64_t>;

TEST(BatchBuilder, PositionsRestartInEachDocument) {
  BatchBuilder builder(9);
  builder.add(Ids{1, 2, 3, 4, 5});
  builder.add(Ids{6, 7, 8, 9});
  const Batch batch = builder.finish();
  EXPECT_EQ(values_of(batch, "position_ids"), (Values{0, 1, 2, 3, 4, 0, 1, 2, 3}));
  EXPECT_EQ(values_of(batch, "cu_seqlens"), (Values{0, 5, 9}));
}

TEST(BatchBuilder, LastTokenOfADocumentPredictsNothing) {
  BatchBuilder builder(5);
  builder.add(Ids{1, 2, 3});
  builder.add(Ids{4, 5});
  EXPECT_EQ(values_of(builder.finish(), "labels"), (Values{2, 3, kIgnoredLabel, 5, kIgnoredLabel}));
}

TEST(BatchBuilder, PieceThatGoesOnPredictsTheNextToken) {
  BatchBuilder builder(2);
  builder.add(Ids{1, 2}, 3);
  EXPECT_EQ(values_of(builder.finish(), "labels"), (Values{2, 3}));
}

TEST(BatchBuilder, OnlyTrainedTokensBecomeLabels) {
  BatchBuilder builder(4);
  builder.add(Ids{1, 2, 3, 4}, std::nullopt, std::vector<std::uint8_t>{1, 0, 1, 1});
  const Batch batch = builder.finish();
  EXPECT_EQ(values_of(batch, "labels"), (Values{kIgnoredLabel, 3, 4, kIgnoredLabel}));
  EXPECT_EQ(batch.counts.trained, 2);
}

TEST(BatchBuilder, PaddingIsADocumentOfItsOwnWithoutLabels) {
  BatchBuilder builder(5);
  builder.add(Ids{7, 8});
  builder.pad_to(5);
  builder.end_row();
  const Batch batch = builder.finish();
  EXPECT_EQ(values_of(batch, "cu_seqlens"), (Values{0, 2, 5}));
  EXPECT_EQ(values_of(batch, "labels"),
            (Values{8, kIgnoredLabel, kIgnoredLabel, kIgnoredLabel, kIgnoredLabel}));
  EXPECT_EQ(batch.counts, (BatchCounts{.rows = 1, .tokens = 2, .trained = 1, .padding = 3, .documents = 1}));
}

TEST(BatchBuilder, BatchNamesAMissingTensor) {
  EXPECT_TRUE(contains(message_of<InternalError>([] { Batch().at("labels"); }), "'labels'"));
}

}  // namespace
}  // namespace loongforge
