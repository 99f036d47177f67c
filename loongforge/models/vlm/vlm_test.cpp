#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loongforge/base/error.h"
#include "loongforge/models/card.h"
#include "loongforge/models/vision/tower.h"
#include "loongforge/models/vlm/inputs.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/nn/head_loss.h"
#include "loongforge/nn/test_support.h"

namespace loongforge {
namespace {

constexpr std::int64_t kImage = 30, kVideo = 31;

at::Tensor longs(const std::vector<std::int64_t>& numbers) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong));
}

Json config() {
  return {{"model_type", "qwen2_5_vl"},
          {"image_token_id", kImage},
          {"video_token_id", kVideo},
          {"vision_config",
           {{"depth", 2},
            {"hidden_size", 8},
            {"num_heads", 2},
            {"intermediate_size", 12},
            {"patch_size", 2},
            {"temporal_patch_size", 1},
            {"spatial_merge_size", 2},
            {"window_size", 8},
            {"fullatt_block_indexes", Json::array({1})},
            {"tokens_per_second", 2},
            {"out_hidden_size", 16}}},
          {"text_config",
           {{"vocab_size", 40},
            {"hidden_size", 16},
            {"intermediate_size", 20},
            {"num_hidden_layers", 1},
            {"num_attention_heads", 2},
            {"num_key_value_heads", 1},
            {"rope_parameters",
             {{"rope_type", "default"}, {"rope_theta", 100.0}, {"mrope_section", Json::array({2, 1, 1})}}}}}};
}

ParamPlan double_plan() {
  ParamPlan plan;
  plan.compute = plan.master = at::kDouble;
  return plan;
}

VisualInfo visual() {
  return {.image_token = kImage,
          .video_token = kVideo,
          .patch_size = 2,
          .temporal_patch_size = 1,
          .merge_size = 2,
          .grid_positions = true,
          .tokens_per_second = 2};
}

// Two documents: one with a picture of 1 x 2 tokens, one with a clip of 2 x 1 x 1.
struct Sample {
  at::Tensor ids = longs({5, kImage, kImage, 6, 7, 3, kVideo, kVideo, 9});
  at::Tensor cu_seqlens = test::cu_seqlens_of({5, 4});
  at::Tensor grid = longs({1, 2, 4, 2, 2, 2}).view({2, 3});
  at::Tensor pixels = test::random_tensor({16, 12}, "pixels");

  Context context(GradSink* sink) const {
    Context out;
    out.cu_seqlens = cu_seqlens;
    out.position_ids = visual_positions(ids, cu_seqlens, grid, {}, visual());
    out.grads = sink;
    return out;
  }
  Flow flow() const {
    return {{"input_ids", ids}, {vision_flow::kPixels, pixels}, {vision_flow::kGrid, grid}};
  }
};

TEST(VisualPositions, StandOnThreeAxesAndRestartInEveryDocument) {
  const Sample s;
  const std::vector<double> seconds = {1, 1.75};
  const at::Tensor p = visual_positions(s.ids, s.cu_seqlens, s.grid, seconds, visual());
  EXPECT_TRUE(p[0].equal(longs({0, 1, 1, 3, 4, 0, 1, 4, 2})));  // 1.75 s * 2 a second, cut to whole steps
  EXPECT_TRUE(p[1].equal(longs({0, 1, 1, 3, 4, 0, 1, 1, 2})));
  EXPECT_TRUE(p[2].equal(longs({0, 1, 2, 3, 4, 0, 1, 1, 2})));
}

TEST(VisualPositions, RefusePlacesThatDoNotFitTheGrids) {
  const Sample s;
  EXPECT_THROW(visual_positions(s.ids, s.cu_seqlens, s.grid.narrow(0, 0, 1), {}, visual()), DataError);
  EXPECT_THROW(visual_positions(s.ids, s.cu_seqlens, s.grid.repeat({2, 1}), {}, visual()), DataError);
  EXPECT_THROW(
      visual_positions(longs({kImage, 4}), test::cu_seqlens_of({2}), s.grid.narrow(0, 0, 1), {}, visual()),
      DataError);
}

// The text behind a clip goes on at its longer side, not behind its last row of patches.
TEST(VisualPositions, TextBehindALongClipStandsBeforeItsEnd) {
  const at::Tensor ids = longs({5, kVideo, kVideo, kVideo, 9, 9});
  const std::vector<double> seconds = {40};
  const at::Tensor p =
      visual_positions(ids, test::cu_seqlens_of({6}), longs({3, 2, 2}).view({1, 3}), seconds, visual());
  EXPECT_TRUE(p[0].equal(longs({0, 1, 81, 161, 2, 3})));
  EXPECT_TRUE(p[1].equal(longs({0, 1, 1, 1, 2, 3})));
}

TEST(VisualPositions, RefuseTimesOutOfRange) {
  const Sample s;
  const auto message = [&](const std::vector<double>& seconds) -> std::string {
    try {
      visual_positions(s.ids, s.cu_seqlens, s.grid, seconds, visual());
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const double second : {-1.0, 1e300, 1e9, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_TRUE(message({0, second}).starts_with("clip 1: expected 2 rows of patches of 0 seconds or more"))
        << second;
  EXPECT_EQ(message({-1, 0}), "accepted");  // of a picture
  EXPECT_NE(message({1}).find("expected one for each of 2 pictures or clips, got 1"), std::string::npos);
}

TEST(VisualInputs, StandInTheOrderOfTheirPlaces) {
  const Sample s;
  const VisualInputs pictures{s.pixels.narrow(0, 0, 8), s.grid.narrow(0, 0, 1), {}};
  const VisualInputs clips{s.pixels.narrow(0, 8, 8), s.grid.narrow(0, 1, 1), {0.5}};
  const at::Tensor swapped = at::cat({s.ids.narrow(0, 5, 4), s.ids.narrow(0, 0, 5)});
  const VisualInputs inputs = in_order_of_places(swapped, pictures, clips, visual());
  EXPECT_TRUE(inputs.grid_thw.equal(s.grid.flip(0)));
  EXPECT_TRUE(inputs.pixel_values.narrow(0, 0, 8).equal(clips.pixel_values));
  EXPECT_EQ(inputs.seconds, (std::vector<double>{0.5, 1.0}));
  EXPECT_THROW(in_order_of_places(longs({1, 2}), pictures, {}, visual()), DataError);
  EXPECT_THROW(in_order_of_places(longs({kImage, kImage}), {}, {}, visual()), DataError);
  const VisualInputs cut{s.pixels.narrow(0, 0, 7), s.grid.narrow(0, 0, 1), {}};
  EXPECT_THROW(in_order_of_places(s.ids, cut, clips, visual()), DataError);
}

Json qwen_tower() {
  Json vision = config()["vision_config"];
  vision["model_type"] = "qwen2_5_vl_vision";
  return vision;
}

// Its table of positions has 2 x 2 rows: the sample's clip takes them as they stand, the picture resizes
// them.
Json siglip_tower() {
  return {{"model_type", "siglip_vision_model"},
          {"num_hidden_layers", 2},
          {"hidden_size", 8},
          {"num_attention_heads", 2},
          {"intermediate_size", 12},
          {"image_size", 4},
          {"patch_size", 2},
          {"spatial_merge_size", 2}};
}

// A text model with a tower and a projector.
Json composition(const Json& projector, const Json& vision = qwen_tower()) {
  Json text = config()["text_config"];
  text["model_type"] = "llama";
  text["rope_parameters"].erase("mrope_section");
  return {{"model_type", "loongforge_vlm"}, {"vision_config", vision},  {"text_config", text},
          {"projector_config", projector},  {"image_token_id", kImage}, {"video_token_id", kVideo}};
}

at::Tensor loss_of(const Model& model, const Context& context, const Sample& s) {
  const at::Tensor hidden = model.run(context, s.flow()).at("hidden");
  return head_cross_entropy(context, model.head(), hidden, s.ids.roll(-1).remainder(29));
}

void expect_right_gradients(const Model& model, const Sample& s, Context context) {
  test::randomize(model.params());
  AccumulateGrads sink;
  context.grads = &sink;
  loss_of(model, context, s).backward();
  context.grads = nullptr;
  for (const ParamRef& param : model.params()) {
    ASSERT_TRUE(param->has_grad) << param->spec.name;
    test::expect_gradient(
        param->value.detach(), param->grad, [&] { return loss_of(model, context, s).item<double>(); },
        param->spec.name, 5);
  }
}

TEST(VisionLanguageModel, HasRightGradientsOfEveryParameter) {
  const Sample s;
  expect_right_gradients(*build_model(config(), double_plan(), "test"), s, s.context(nullptr));
}

TEST(ComposedModel, HasRightGradientsWithEveryProjector) {
  const Sample s;
  Context line = s.context(nullptr);
  line.position_ids = positions_of(s.cu_seqlens);
  const Json merge = {{"kind", "patch_merge"}, {"hidden_size", 10}}, mlp = {{"kind", "mlp"}};
  // Two tokens a picture, as many as the places of the sample.
  const Json resampler = {{"kind", "resampler"}, {"hidden_size", 8}, {"num_heads", 2}, {"num_tokens", 2}};
  for (const Json& tower : {qwen_tower(), siglip_tower()})
    for (const Json& projector : {merge, mlp, resampler}) {
      SCOPED_TRACE(dump_json(tower["model_type"]) + " " + dump_json(projector["kind"]));
      expect_right_gradients(*build_model(composition(projector, tower), double_plan(), "test"), s, line);
    }
}

TEST(ComposedModel, KeepsPicturesApartInTheResampler) {
  const Json resampler = {{"kind", "resampler"}, {"hidden_size", 8}, {"num_heads", 2}, {"num_tokens", 2}};
  const std::unique_ptr<Model> model = build_model(composition(resampler), double_plan(), "test");
  test::randomize(model->params());
  Sample s;
  Context context = s.context(nullptr);
  context.position_ids = positions_of(s.cu_seqlens);
  const at::Tensor before = model->run(context, s.flow()).at("hidden");
  s.pixels = s.pixels.clone();
  s.pixels.narrow(0, 8, 8).add_(1.0);
  const at::Tensor after = model->run(context, s.flow()).at("hidden");
  EXPECT_TRUE(before.narrow(0, 0, 5).equal(after.narrow(0, 0, 5)));
  EXPECT_FALSE(before.narrow(0, 5, 4).allclose(after.narrow(0, 5, 4)));
}

TEST(VisionLanguageModel, RecomputesToTheSameBits) {
  const std::unique_ptr<Model> model = build_model(config(), double_plan(), "test");
  test::randomize(model->params());
  const Sample s;
  std::vector<at::Tensor> plain;
  for (const auto mode : {RecomputePolicy::Mode::kNone, RecomputePolicy::Mode::kLayer}) {
    AccumulateGrads sink;
    Context context = s.context(&sink);
    context.recompute.mode = mode;
    const at::Tensor hidden = model->run(context, s.flow()).at("hidden");
    head_cross_entropy(context, model->head(), hidden, s.ids.roll(-1).remainder(29)).backward();
    for (std::size_t i = 0; i < model->params().size(); ++i) {
      Param& param = *model->params()[i];
      if (mode == RecomputePolicy::Mode::kNone) {
        plain.push_back(param.grad.clone());
      } else {
        EXPECT_TRUE(plain[i].equal(param.grad)) << param.spec.name;
      }
      param.grad = at::Tensor();
      param.has_grad = false;
    }
  }
}

TEST(VisionLanguageModel, ReadsTextAlone) {
  const std::unique_ptr<Model> model = build_model(config(), double_plan(), "test");
  test::randomize(model->params());
  EXPECT_EQ(model->hidden(single_document(3), longs({1, 2, 3})).sizes(), at::IntArrayRef({3, 16}));
}

TEST(VisionLanguageModel, RefusesPlacesWithoutPictures) {
  const std::unique_ptr<Model> model = build_model(config(), double_plan(), "test");
  test::randomize(model->params());
  EXPECT_THROW(model->hidden(single_document(3), longs({1, kImage, 3})), DataError);
}

// The message of the CheckpointError for a changed configuration.
std::string refusal(const std::function<void(Json&)>& change, Json changed = config()) {
  change(changed);
  try {
    build_model(changed, double_plan(), "config.json");
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(VisionLanguageModel, NamesTheKeyThatItRefuses) {
  EXPECT_EQ(refusal([](Json& c) { c.erase("vision_config"); }),
            "config.json: key 'vision_config': expected an object, got nothing");
  EXPECT_NE(refusal([](Json& c) { c["vision_config"]["num_heads"] = 3; }).find("'hidden_size'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c["vision_config"]["out_hidden_size"] = 9; }).find("'out_hidden_size'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) {
              c["vision_config"]["fullatt_block_indexes"] = Json::array({7});
            }).find("'fullatt_block_indexes'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c["text_config"]["head_dim"] = 4; }).find("'mrope_section'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c["image_token_id"] = 4000; }).find("'image_token_id'"), std::string::npos);
  EXPECT_NE(refusal([](Json& c) {
              c["text_config"]["rope_parameters"].erase("mrope_section");
            }).find("'mrope_section'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) {
              c["text_config"]["rope_parameters"]["mrope_section"] = Json::array({1, 1, 1});
            }).find("'mrope_section'"),
            std::string::npos);
}

TEST(ComposedModel, NamesTheKeyThatItRefuses) {
  const Json good = composition({{"kind", "mlp"}});
  EXPECT_EQ(
      refusal([](Json& c) { c["projector_config"]["kind"] = "conv"; }, good),
      "config.json: projector_config: key 'kind': expected mlp, patch_merge or resampler, got \"conv\"");
  EXPECT_NE(
      refusal([](Json& c) { c["vision_config"]["model_type"] = "llama"; }, good).find("no vision tower"),
      std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c["text_config"]["model_type"] = "qwen2_5_vl_vision"; }, good)
                .find("no language model"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c.erase("text_config"); }, good).find("'text_config'"), std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c.erase("image_token_id"); }, good).find("'image_token_id'"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& c) { c = c["vision_config"]; }, good).find("no model that stands alone"),
            std::string::npos);
}

TEST(SiglipTower, NamesTheKeyThatItRefuses) {
  const Json good = composition({{"kind", "mlp"}}, siglip_tower());
  const auto refused = [&](const char* key, const Json& value) {
    return refusal([&](Json& c) { c["vision_config"][key] = value; }, good);
  };
  EXPECT_NE(refused("hidden_act", "gelu").find("vision_config: key 'hidden_act'"), std::string::npos);
  EXPECT_NE(refused("attention_dropout", 0.1).find("'attention_dropout'"), std::string::npos);
  EXPECT_NE(refused("num_attention_heads", 3).find("'hidden_size'"), std::string::npos);
  EXPECT_NE(refused("image_size", 1).find("'image_size': expected a whole number of at least 2"),
            std::string::npos);
  EXPECT_NE(refused("model_type", "siglip").find("'model_type'"), std::string::npos);
  EXPECT_EQ(refused("attention_dropout", 0), "accepted");
}

TEST(VisionLanguageModel, ReadsTheFlatFormOfOlderFiles) {
  Json flat = config();
  const Json text = flat["text_config"];
  flat.erase("text_config");
  flat.update(text);
  flat.erase("rope_parameters");
  flat["rope_theta"] = 100.0;
  flat["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", Json::array({2, 1, 1})}};
  EXPECT_EQ(build_model(flat, double_plan(), "test")->parameter_count(),
            build_model(config(), double_plan(), "test")->parameter_count());
}

}  // namespace
}  // namespace loongforge
