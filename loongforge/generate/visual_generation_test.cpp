// Decoding and scoring of prompts with pictures, against a forward over the whole sequence.
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/generate/generator.h"
#include "loongforge/generate/likelihood.h"
#include "loongforge/generate/test_support.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/nn/test_support.h"

namespace loongforge {
namespace {

constexpr std::int32_t kImage = 256, kVideo = 257;

std::unique_ptr<Model> tiny_vlm() {
  const Json config = {
      {"model_type", "qwen2_5_vl"},
      {"image_token_id", kImage},
      {"video_token_id", kVideo},
      {"vision_config",
       {{"depth", 2},
        {"hidden_size", 16},
        {"num_heads", 2},
        {"intermediate_size", 24},
        {"patch_size", 2},
        {"temporal_patch_size", 1},
        {"window_size", 8},
        {"fullatt_block_indexes", Json::array({1})},
        {"initializer_range", 0.3},
        {"out_hidden_size", 32}}},
      {"text_config",
       {{"vocab_size", test::kTinyVocabulary},
        {"hidden_size", 32},
        {"intermediate_size", 48},
        {"num_hidden_layers", 2},
        {"num_attention_heads", 4},
        {"num_key_value_heads", 2},
        {"initializer_range", 0.3},
        {"rope_parameters", {{"rope_type", "default"}, {"mrope_section", Json::array({2, 1, 1})}}}}}};
  ParamPlan plan;
  plan.compute = at::kDouble;
  plan.train = false;
  auto model = build_model(config, plan, "tiny vlm");
  initialize(model->params(), 4);
  return model;
}

at::Tensor grids(const std::vector<std::int64_t>& numbers) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong)).view({-1, 3});
}

// A picture of 3 x 2 tokens; a clip of 2 x 1 x 1 and a picture of one token; text alone.
std::vector<Prompt> prompts() {
  std::vector<Prompt> out(3);
  out[0].ids = {5, kImage, kImage, kImage, kImage, kImage, kImage, 9, 10};
  out[0].visual = {test::random_tensor({24, 12}, "a"), grids({1, 6, 4}), {}};
  out[1].ids = {kVideo, kVideo, 70, kImage, 71};
  out[1].visual = {test::random_tensor({12, 12}, "b"), grids({2, 2, 2, 1, 2, 2}), {0.5, 1.0}};
  out[2].ids = {1, 2, 3, 4};
  return out;
}

// Final hidden states of the whole sequence, whose answer stands from that position on (-1: where it stands
// in training).
at::Tensor whole(const Model& model, const Prompt& prompt, const std::vector<std::int32_t>& more,
                 std::int64_t answer_from = -1) {
  std::vector<std::int64_t> ids(prompt.ids.begin(), prompt.ids.end());
  ids.insert(ids.end(), more.begin(), more.end());
  const at::Tensor all = at::tensor(at::ArrayRef<std::int64_t>(ids), at::TensorOptions().dtype(at::kLong));
  Context context = single_document(all.size(0));
  if (!prompt.visual.empty())
    context.position_ids = visual_positions(all, context.cu_seqlens, prompt.visual.grid_thw,
                                            prompt.visual.seconds, *model.info().visual);
  if (answer_from >= 0) {
    const auto n = static_cast<std::int64_t>(more.size());
    context.position_ids.narrow(1, all.size(0) - n, n)
        .copy_(at::arange(answer_from, answer_from + n, at::kLong));
  }
  Flow flow{{"input_ids", all}};
  put_visual(flow, prompt.visual);
  return model.run(context, std::move(flow)).at("hidden");
}

TEST(VisualGeneration, EqualsForwardsOverTheWholeSequence) {
  const auto model = tiny_vlm();
  const Tokenizer tokenizer = test::tiny_tokenizer();
  GenerateOptions options;
  options.max_new_tokens = 8;
  for (const std::int64_t together : {1, 3}) {
    options.max_sequences = together;
    const auto answers = Generator(*model, tokenizer, options).generate_prompts(prompts());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      std::vector<std::int32_t> slow;
      for (int k = 0; k < 8; ++k) {
        const at::Tensor hidden = whole(*model, prompts()[i], slow);
        // Places of pictures, the last two ids, are no answer.
        const at::Tensor logits = model->logits(hidden.narrow(0, hidden.size(0) - 1, 1)).narrow(1, 0, kImage);
        slow.push_back(static_cast<std::int32_t>(at::argmax(logits, 1).item<std::int64_t>()));
      }
      EXPECT_EQ(answers[i].ids, slow) << i;
    }
  }
}

// As transformers 5 does: behind the largest position of the prompt, which a long clip carries far beyond the
// text that follows it.
TEST(VisualGeneration, AnswersStandBehindTheLastPositionOfTheirPrompt) {
  const auto model = tiny_vlm();
  Prompt prompt;
  prompt.ids = {5, kVideo, kVideo, kVideo, 70};
  prompt.visual = {test::random_tensor({12, 12}, "c"), grids({3, 2, 2}), {20.0}};
  GenerateOptions options;
  options.max_new_tokens = 6;
  const auto answer =
      Generator(*model, test::tiny_tokenizer(), options).generate_prompts({prompt}).front().ids;
  const auto last = static_cast<std::int64_t>(2 * 20.0 * model->info().visual->tokens_per_second) + 1;
  const auto greedy = [&](std::int64_t from) {
    std::vector<std::int32_t> ids;
    for (int k = 0; k < 6; ++k) {
      const at::Tensor hidden = whole(*model, prompt, ids, from);
      const at::Tensor logits = model->logits(hidden.narrow(0, hidden.size(0) - 1, 1)).narrow(1, 0, kImage);
      ids.push_back(static_cast<std::int32_t>(at::argmax(logits, 1).item<std::int64_t>()));
    }
    return ids;
  };
  EXPECT_EQ(answer, greedy(last + 1));
  EXPECT_NE(answer, greedy(-1));
}

TEST(VisualGeneration, ScoresEqualWholeLogits) {
  const auto model = tiny_vlm();
  std::vector<ScoredSequence> sequences;
  for (const Prompt& prompt : prompts())
    sequences.push_back({prompt.ids, static_cast<std::int64_t>(prompt.ids.size()) - 1, prompt.visual});
  const auto scores = score_sequences(*model, sequences, 4096);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const at::Tensor logp = at::log_softmax(model->logits(whole(*model, prompts()[i], {})), 1);
    const auto last = static_cast<std::int64_t>(sequences[i].ids.size()) - 1;
    EXPECT_NEAR(scores[i].log_likelihood, logp[last - 1][sequences[i].ids.back()].item<double>(), 1e-9) << i;
  }
}

TEST(VisualGeneration, RefusesPicturesThatDoNotFit) {
  const auto model = tiny_vlm();
  const Tokenizer tokenizer = test::tiny_tokenizer();
  std::vector<Prompt> wrong = {prompts()[0]};
  wrong[0].ids.pop_back();
  wrong[0].ids.erase(wrong[0].ids.begin() + 1);
  EXPECT_THROW(Generator(*model, tokenizer, {}).generate_prompts(wrong), DataError);
  EXPECT_THROW(Generator(*test::tiny_model(), tokenizer, {}).generate_prompts({prompts()[0]}), DataError);
}

}  // namespace
}  // namespace loongforge
