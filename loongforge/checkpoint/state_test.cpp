#include "loongforge/checkpoint/state.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"

namespace loongforge {
namespace {

class StateTest : public ::testing::Test {
 protected:
  StateTest() : folder_(test_path()) {}
  ~StateTest() override { remove_tree(folder_); }

  std::string refusal(const std::vector<StateTensor>& tensors) {
    try {
      load_state_tensors(folder_, tensors);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(StateTest, NumbersComeBack) {
  TrainingProgress progress;
  progress.step = 7;
  progress.updates = 6;
  progress.tokens = 123456789012;
  progress.seconds = 0.1;
  progress.data = {{"rows", 3}};
  progress.counters = {{"steps_not_finite", 1}};
  save_state(folder_, progress, {{"w", at::zeros({2})}});
  EXPECT_EQ(to_json(load_progress(folder_)), to_json(progress));
}

TEST_F(StateTest, TensorsComeBackBitwise) {
  const at::Tensor floats = at::arange(6).to(at::kFloat).div(7).reshape({2, 3});
  floats[0][0] = -0.0F;
  floats[0][1] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor doubles = at::arange(3).to(at::kDouble).div(7);
  save_state(folder_, {}, {{"f", floats}, {"d", doubles}, {"e", at::zeros({0})}});
  const at::Tensor f = at::zeros({2, 3}), d = at::zeros({3}, at::kDouble);
  load_state_tensors(folder_, {{"d", d}, {"f", f}, {"e", at::zeros({0})}});
  EXPECT_EQ(std::memcmp(f.data_ptr(), floats.data_ptr(), f.nbytes()), 0);
  EXPECT_TRUE(d.equal(doubles));
}

TEST_F(StateTest, ListsEveryDifferenceAndChangesNothing) {
  save_state(folder_, {}, {{"a", at::full({2}, 1.0)}, {"b", at::full({2}, 1.0)}, {"c", at::full({2}, 1.0)}});
  const at::Tensor a = at::zeros({2});
  const std::string text = refusal({{"a", a}, {"b", at::zeros({3})}, {"x", at::zeros({1})}});
  EXPECT_NE(text.find("b is F32 (2), expected F32 (3)"), std::string::npos) << text;
  EXPECT_NE(text.find("missing x"), std::string::npos) << text;
  EXPECT_NE(text.find("left over c"), std::string::npos) << text;
  EXPECT_TRUE(a.equal(at::zeros({2})));
}

TEST_F(StateTest, RefusesDamagedNumbers) {
  save_state(folder_, {}, {{"w", at::zeros({2})}});
  write_file_atomic(folder_ / "state.json", R"({"version": 1, "step": "x"})");
  EXPECT_THROW(load_progress(folder_), CheckpointError);
  write_file_atomic(folder_ / "state.json", R"({"version": 99})");
  EXPECT_THROW(load_progress(folder_), CheckpointError);
}

TEST_F(StateTest, RefusesATruncatedFile) {
  save_state(folder_, {}, {{"w", at::zeros({200})}});
  fs::resize_file(folder_ / "state.safetensors", 500);
  EXPECT_NE(refusal({{"w", at::zeros({200})}}), "");
}

}  // namespace
}  // namespace loongforge
