#include <gtest/gtest.h>

#include "loongforge/base/error.h"
#include "loongforge/base/test_path.h"
#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/hf_save.h"
#include "loongforge/checkpoint/hf_tensor.h"
#include "loongforge/checkpoint/peft_adapter.h"
#include "loongforge/formats/safetensors_writer.h"
#include "loongforge/models/card.h"
#include "loongforge/nn/test_support.h"

namespace loongforge {
namespace {

// A folder of one test, removed with it.
class HfTest : public ::testing::Test {
 protected:
  void TearDown() override { remove_tree(dir_); }
  fs::path dir_ = test_path();
};

Json tiny() {
  Json config = preset_config("llama-tiny");
  config["vocab_size"] = 40;
  config["hidden_size"] = 24;
  config["intermediate_size"] = 32;
  return config;
}

std::unique_ptr<Model> tiny_model(const ParamPlan& plan = {}, const Json& config = tiny()) {
  std::unique_ptr<Model> model = build_model(config, plan, "test");
  test::randomize(model->params());
  return model;
}

// Writes the tensors of `snapshot` after `change` had its way with them.
template <typename Change>
void write_changed(const fs::path& dir, const Change& change) {
  HfSnapshot snapshot = snapshot_hf(*tiny_model(), {});
  change(snapshot.tensors);
  write_hf(snapshot, dir);
}

std::string load_error(const fs::path& dir) {
  try {
    load_hf_model(dir, {});
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "loaded";
}

TEST_F(HfTest, ComesBackBitForBit) {
  const auto model = tiny_model();
  save_hf(*model, dir_);
  const auto again = load_hf_model(dir_, {});
  for (std::size_t i = 0; i < model->params().size(); ++i) {
    EXPECT_TRUE(model->params()[i]->value.equal(again->params()[i]->value)) << model->params()[i]->spec.name;
  }
}

TEST_F(HfTest, ComesBackFromShardsAndRemovesOldOnes) {
  const auto model = tiny_model();
  HfSaveOptions options;
  options.max_shard_bytes = 4000;
  save_hf(*model, dir_, options);
  EXPECT_TRUE(fs::exists(dir_ / "model.safetensors.index.json"));
  EXPECT_TRUE(load_hf_model(dir_, {})->params().back()->value.equal(model->params().back()->value));
  save_hf(*model, dir_);
  EXPECT_FALSE(fs::exists(dir_ / "model.safetensors.index.json"));
  EXPECT_TRUE(load_hf_model(dir_, {})->params().back()->value.equal(model->params().back()->value));
}

TEST_F(HfTest, WritesTheDtypeThatWasAskedForAndSaysSo) {
  HfSaveOptions options;
  options.dtype = at::kBFloat16;
  save_hf(*tiny_model(), dir_, options);
  const SafetensorsSet set(dir_);
  for (const TensorInfo& info : set.tensors()) EXPECT_EQ(info.dtype, DType::kBF16) << info.name;
  EXPECT_EQ(read_hf_config(dir_).at("dtype"), "bfloat16");
  EXPECT_FALSE(read_hf_config(dir_).contains("torch_dtype"));
}

TEST_F(HfTest, SavesTheMasterNotItsRounding) {
  ParamPlan plan;
  plan.compute = at::kBFloat16;
  const auto model = tiny_model(plan);
  save_hf(*model, dir_);
  EXPECT_TRUE(load_hf_model(dir_, {})->params()[0]->value.equal(model->params()[0]->master));
}

TEST_F(HfTest, ListsEverythingThatDoesNotFitAndChangesNothing) {
  write_changed(dir_, [](auto& tensors) {
    std::erase_if(tensors, [](const auto& item) {
      return item.first == "model.norm.weight" || item.first == "model.layers.1.mlp.up_proj.weight";
    });
    tensors[0].second = tensors[0].second.narrow(0, 0, 39).contiguous();
    tensors[1].second = tensors[1].second.to(at::kInt);
    tensors.emplace_back("model.layers.7.extra", tensors[1].second);
  });
  const auto model = tiny_model();
  const at::Tensor before = model->params()[2]->value.detach().clone();
  std::string message;
  try {
    load_hf(dir_, *model);
  } catch (const CheckpointError& error) {
    message = error.what();
  }
  for (const char* part : {"2 missing: model.layers.1.mlp.up_proj.weight (32, 24), model.norm.weight (24)",
                           "1 of wrong shape: model.embed_tokens.weight (expected (40, 24), got (39, 24))",
                           "1 of wrong type: ", "got I32", "1 extra: model.layers.7.extra"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  EXPECT_TRUE(model->params()[2]->value.equal(before));
}

TEST_F(HfTest, AcceptsATiedHeadThatIsTheEmbedding) {
  write_changed(dir_, [](auto& tensors) {
    tensors.emplace_back("lm_head.weight", tensors[0].second.clone());
    tensors.emplace_back("model.layers.0.self_attn.rotary_emb.inv_freq", tensors[1].second.clone());
  });
  EXPECT_EQ(load_error(dir_), "loaded");
  write_changed(dir_,
                [](auto& tensors) { tensors.emplace_back("lm_head.weight", tensors[0].second.add(1.0)); });
  EXPECT_NE(load_error(dir_).find("1 extra: lm_head.weight"), std::string::npos);
}

TEST_F(HfTest, NamesWhatIsMissingInTheDirectory) {
  EXPECT_NE(load_error(dir_).find("expected a Hugging Face model directory, got nothing"), std::string::npos);
  fs::create_directories(dir_);
  EXPECT_NE(load_error(dir_).find("config.json"), std::string::npos);
}

ParamPlan lora_plan() {
  ParamPlan plan;
  plan.lora = LoraOptions{3, 6.0, 0.0, {"q_proj", "down_proj"}};
  return plan;
}

TEST_F(HfTest, BringsAdaptersBackBitForBit) {
  const auto model = tiny_model(lora_plan());
  save_peft(*model, "/base", dir_);
  EXPECT_TRUE(is_peft_dir(dir_));
  EXPECT_EQ(read_peft_base(dir_), "/base");
  ParamPlan plan;
  plan.lora = read_peft_options(dir_);
  EXPECT_EQ(plan.lora->rank, 3);
  EXPECT_EQ(plan.lora->alpha, 6.0);
  const auto again = build_model(tiny(), plan, "test");
  load_peft(dir_, *again);
  int count = 0;
  for (const ParamRef& param : model->params()) {
    if (!param->spec.adapter) continue;
    EXPECT_TRUE(again->find(param->spec.name)->value.equal(param->value)) << param->spec.name;
    ++count;
  }
  EXPECT_EQ(count, 8);
}

TEST_F(HfTest, MergesAdaptersIntoTheirWeights) {
  const auto model = tiny_model(lora_plan());
  HfSaveOptions options;
  options.merge_adapters = true;
  save_hf(*model, dir_, options);
  const auto merged = load_hf_model(dir_, {});
  const at::Tensor ids = at::empty({6}, at::TensorOptions().dtype(at::kLong)).fill_(3);
  const at::NoGradGuard no_grad;
  const Context context = test::documents({6});
  const at::Tensor a = model->hidden(context, ids), b = merged->hidden(context, ids);
  EXPECT_TRUE(a.allclose(b, 1e-4, 1e-5));
  save_hf(*model, dir_);
  EXPECT_FALSE(a.allclose(load_hf_model(dir_, {})->hidden(context, ids), 1e-4, 1e-5));
}

TEST_F(HfTest, RefusesAdaptersOfAnotherKind) {
  save_peft(*tiny_model(lora_plan()), "/base", dir_);
  Json config = read_json(dir_ / "adapter_config.json");
  config["use_dora"] = true;
  write_file_atomic(dir_ / "adapter_config.json", dump_json(config));
  try {
    read_peft_options(dir_);
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("key 'use_dora'"), std::string::npos) << error.what();
  }
}

TEST_F(HfTest, ListsAdapterTensorsThatDoNotFit) {
  save_peft(*tiny_model(lora_plan()), "/base", dir_);
  ParamPlan plan = lora_plan();
  plan.lora->rank = 4;
  const auto model = build_model(tiny(), plan, "test");
  try {
    load_peft(dir_, *model);
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("8 of wrong shape"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace loongforge
