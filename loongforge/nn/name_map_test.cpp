#include "loongforge/nn/name_map.h"

#include <gtest/gtest.h>

#include "loongforge/base/error.h"

namespace loongforge {
namespace {

const NameMap kNames({{"layers.{}.q.weight", "model.layers.{}.q_proj.weight"}, {"head", "lm_head"}});

TEST(NameMap, PutsTheNumberInBothDirections) {
  EXPECT_EQ(kNames.to_file("layers.12.q.weight"), "model.layers.12.q_proj.weight");
  EXPECT_EQ(kNames.from_file("model.layers.12.q_proj.weight"), "layers.12.q.weight");
  EXPECT_EQ(kNames.from_file("lm_head"), "head");
}

TEST(NameMap, KnowsNoNumberThatIsNone) {
  EXPECT_FALSE(kNames.from_file("model.layers.x.q_proj.weight"));
  EXPECT_FALSE(kNames.from_file("model.layers..q_proj.weight"));
  EXPECT_FALSE(kNames.from_file("model.layers.01.q_proj.weight"));
  EXPECT_FALSE(kNames.from_file("model.layers.1.q_proj.weight.more"));
}

TEST(NameMap, NamesTheModuleOfALinear) {
  EXPECT_EQ(kNames.module_to_file("layers.3.q"), "model.layers.3.q_proj");
}

TEST(NameMap, OfAPartGoesIntoThatOfTheWhole) {
  NameMap whole = kNames.under("language.", "text.");
  whole += NameMap({{"language.head", "old_head"}, {"vision.proj", "visual.proj"}});
  EXPECT_EQ(whole.to_file("language.layers.2.q.weight"), "text.model.layers.2.q_proj.weight");
  EXPECT_EQ(whole.to_file("language.head"), "text.lm_head");
  EXPECT_EQ(whole.from_file("old_head"), "language.head");
  EXPECT_EQ(whole.from_file("visual.proj"), "vision.proj");
}

TEST(NameMap, RefusesAParameterWithoutRule) {
  EXPECT_THROW(kNames.to_file("layers.3.k.weight"), InternalError);
}

}  // namespace
}  // namespace loongforge
