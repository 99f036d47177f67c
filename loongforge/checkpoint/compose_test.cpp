#include "loongforge/checkpoint/compose.h"

#include <gtest/gtest.h>

#include <map>
#include <span>

#include "loongforge/base/error.h"
#include "loongforge/base/files.h"
#include "loongforge/base/test_path.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/checkpoint/processor_files.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/models/card.h"

namespace loongforge {
namespace {

Composition parts() {
  Composition out;
  out.vision = preset_config("vit-tiny");
  out.projector = {{"kind", "patch_merge"}};
  out.language = preset_config("llama-tiny");
  out.vocab_size = 516;
  out.start_token = 512;
  out.end_token = 513;
  out.image_token = 514;
  out.video_token = 515;
  out.sections = {2, 3, 3};
  return out;
}

std::unique_ptr<Model> made(const Json& config, std::uint64_t seed) {
  std::unique_ptr<Model> model = build_model(config, {}, "test");
  initialize(model->params(), seed);
  return model;
}

class Compose : public testing::Test {
 protected:
  void SetUp() override {
    remove_tree(folder_);
    language_ = made(preset_config("llama-tiny"), 7);
    save_hf(*language_, folder_);
  }
  void TearDown() override { remove_tree(folder_); }
  fs::path folder_ = test_path();
  std::unique_ptr<Model> language_;
};

TEST_F(Compose, TakesTheWeightsOfAPartAndLeavesTheOthers) {
  for (const Json& config : {composed_config(parts()), qwen2_5_vl_config(parts())}) {
    const auto model = made(config, 3), untouched = made(config, 3);
    load_part(folder_, *model, "language.");
    for (const ParamRef& param : language_->params()) {
      const Param* own = model->find("language." + param->spec.name);
      ASSERT_NE(own, nullptr) << param->spec.name;
      const std::int64_t rows = param->value.size(0);
      EXPECT_TRUE(own->value.narrow(0, 0, rows).equal(param->value)) << param->spec.name;
    }
    const at::Tensor table = model->find("language.embedding.weight")->value.detach();
    EXPECT_TRUE(table.narrow(0, 512, 4).equal(
        untouched->find("language.embedding.weight")->value.detach().narrow(0, 512, 4)));
    for (const ParamRef& param : untouched->params()) {
      if (param->spec.name.starts_with("language.")) continue;
      EXPECT_TRUE(model->find(param->spec.name)->value.equal(param->value)) << param->spec.name;
    }
  }
}

TEST_F(Compose, KeepsBiasesThatTheFileLacksAtZero) {
  const auto model = made(qwen2_5_vl_config(parts()), 3);
  load_part(folder_, *model, "language.");
  const Param* bias = model->find("language.layers.0.attention.q.bias");
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(bias->value.abs().max().item<double>(), 0.0);
}

TEST_F(Compose, RefusesAFileThatLacksBiasesOfItsOwn) {
  Json config = read_json(folder_ / "config.json");
  config["attention_bias"] = true;
  write_file_atomic(folder_ / "config.json", dump_json(config));
  const auto model = made(qwen2_5_vl_config(parts()), 3);
  EXPECT_THROW(load_part(folder_, *model, "language."), CheckpointError);
}

TEST_F(Compose, ListsWhatDoesNotFit) {
  Composition wide = parts();
  wide.language["intermediate_size"] = 300;
  const auto model = made(composed_config(wide), 3);
  try {
    load_part(folder_, *model, "language.");
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("of wrong shape"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("model.layers.0.mlp.gate_proj.weight"), std::string::npos)
        << error.what();
  }
}

// Files of a tower under the names of older transformers, with what a whole siglip holds beside it.
void write_tower(const Model& composed, const fs::path& folder) {
  constexpr std::string_view kOurs = "vision.", kWhole = "vision_tower.";
  std::vector<TensorInfo> infos{{"vision_model.head.probe", DType::kF32, {1}},
                                {"logit_scale", DType::kF32, {1}}};
  std::map<std::string, at::Tensor> tensors;
  for (const ParamRef& param : composed.params()) {
    if (!param->spec.name.starts_with(kOurs)) continue;
    infos.push_back({composed.names().to_file(param->spec.name).substr(kWhole.size()), DType::kF32,
                     param->spec.shape_in_files()});
    tensors[infos.back().name] = param->value.detach();
  }
  SafetensorsWriter writer(folder / "model.safetensors", infos);
  const float unused = 0;
  for (const TensorInfo& info : infos)
    writer.write(info.name, tensors.contains(info.name) ? bytes_of(tensors.at(info.name))
                                                        : std::as_bytes(std::span(&unused, 1)));
  writer.commit();
  Json whole = {{"model_type", "siglip"}, {"vision_config", preset_config("siglip-tiny")}};
  write_file_atomic(folder / "config.json", dump_json(whole));
}

TEST_F(Compose, TakesTheTowerOfAWholeSiglipAndSavesIt) {
  Composition seen = parts();
  seen.vision = preset_config("siglip-tiny");
  const auto source = made(composed_config(seen), 5);
  write_tower(*source, folder_);
  const Json folder_config = read_hf_config(folder_);
  EXPECT_EQ(tower_config(folder_config, "test"), seen.vision);
  EXPECT_EQ(tower_config(seen.vision, "test"), seen.vision);

  const auto model = made(composed_config(seen), 3);
  load_part(folder_, *model, "vision.");
  const fs::path saved = folder_ / "saved";
  save_hf(*model, saved);
  const auto again = load_hf_model(saved, {});
  for (const ParamRef& param : model->params()) {
    const Param& expected =
        *(param->spec.name.starts_with("vision.") ? source : model)->find(param->spec.name);
    EXPECT_TRUE(param->value.equal(expected.value)) << param->spec.name;
    EXPECT_TRUE(again->find(param->spec.name)->value.equal(param->value)) << param->spec.name;
  }
}

TEST(ProcessorFiles, SayHowPicturesOfOneSizeArePrepared) {
  Composition seen = parts();
  seen.vision = preset_config("siglip-tiny");
  const auto model = build_model(composed_config(seen), {}, "test");
  const ProcessorFiles files = make_processor_files(*model->info().visual);
  ASSERT_EQ(files.size(), 1U);
  const Json images = parse_json<CheckpointError>(files.at("preprocessor_config.json"), "test");
  EXPECT_EQ(images.at("image_processor_type"), "SiglipImageProcessor");
  EXPECT_EQ(images.at("size"), (Json{{"height", 136}, {"width", 136}}));
  EXPECT_EQ(images.at("image_mean"), (Json{0.5, 0.5, 0.5}));
  EXPECT_EQ(images.at("image_std"), (Json{0.5, 0.5, 0.5}));
  EXPECT_EQ(images.at("merge_size"), 4);
}

TEST(Qwen25VlForm, NamesWhatDoesNotFit) {
  const auto refusal = [](const std::function<void(Composition&)>& change) {
    Composition changed = parts();
    change(changed);
    try {
      qwen2_5_vl_config(changed);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(refusal([](Composition& c) { c.projector["kind"] = "mlp"; }).find("patch_merge"),
            std::string::npos);
  EXPECT_NE(refusal([](Composition& c) { c.sections.clear(); }).find("three axes"), std::string::npos);
  EXPECT_NE(refusal([](Composition& c) { c.language["mlp_bias"] = true; }).find("mlp_bias"),
            std::string::npos);
  EXPECT_NE(refusal([](Composition& c) { c.vision["model_type"] = "other"; }).find("vision tower"),
            std::string::npos);
  EXPECT_NE(refusal([](Composition& c) {
              c.language["rope_parameters"] = {{"rope_type", "llama3"}, {"factor", 8.0}};
            }).find("unscaled"),
            std::string::npos);
  EXPECT_NE(refusal([](Composition& c) {
              c.language["rope_scaling"] = {{"type", "linear"}};
            }).find("unscaled"),
            std::string::npos);
  EXPECT_EQ(refusal([](Composition&) {}), "accepted");
}

TEST(ComposedForm, KeepsTheScalingOfRotaryPositions) {
  Composition scaled = parts();
  scaled.language["rope_scaling"] = {{"rope_type", "llama3"}, {"factor", 8.0}};
  const Json rope = composed_config(scaled).at("text_config").at("rope_parameters");
  EXPECT_EQ(rope.at("rope_type"), "llama3");
  EXPECT_EQ(rope.at("factor"), 8.0);
  EXPECT_EQ(rope.at("mrope_section"), scaled.sections);
}

}  // namespace
}  // namespace loongforge
