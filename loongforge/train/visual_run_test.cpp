// Runs of a vision-language model put together from small parts.
#include <gtest/gtest.h>

#include <functional>

#include "loongforge/checkpoint/hf_load.h"
#include "loongforge/checkpoint/run_folder.h"
#include "loongforge/media/pictures_for_test.h"
#include "loongforge/models/card.h"
#include "loongforge/train/open_model.h"
#include "loongforge/train/run.h"
#include "loongforge/train/tiny_run.h"
#include "loongforge/train/tiny_tokenizer.h"

namespace loongforge {
namespace {

constexpr int kSide = 136;  // of a picture, which vit-tiny shows as 2 x 2 tokens

class VisualRun : public ::testing::Test {
 protected:
  VisualRun() {
    write_tiny_tokenizer(tiny_.root() / "tokenizer");
    std::string lines;
    for (const auto& [name, channel] : {std::pair("red", 0), std::pair("green", 1), std::pair("blue", 2)}) {
      Image image(kSide, kSide);
      for (std::size_t i = 0; i < image.rgb.size(); ++i)
        image.rgb[i] = i % 3 == static_cast<std::size_t>(channel) ? 220 : 20;
      const fs::path file = tiny_.root() / concat(name, ".png");
      write_file_atomic(file, png_of(image));
      const Json part = {{"type", "image"}, {"image", file.filename().string()}};
      const Json messages = {{{"role", "user"}, {"content", Json::array({part})}},
                             {{"role", "assistant"}, {"content", name}}};
      lines += dump_json({{"messages", messages}}) + "\n";
    }
    write_file_atomic(tiny_.root() / "pictures.jsonl", lines);
  }

  RunConfig config(const std::string& run) const {
    RunConfig config = tiny_.config(run);
    config.task = "sft";
    config.model.preset.clear();
    config.model.vision.preset = "vit-tiny";
    config.model.language.preset = "llama-tiny";
    config.model.tokenizer = (tiny_.root() / "tokenizer").string();
    config.model.form = "qwen2_5_vl";
    config.model.grid_positions = true;
    config.data.train = {(tiny_.root() / "pictures.jsonl").string()};
    config.data.eval = config.data.train;
    config.train.seq_length = 128;
    config.train.global_batch_size = 1;
    config.train.micro_batch_size = 1;
    config.train.steps = 4;
    return config;
  }
  static RunOutcome train(const RunConfig& config, bool resume = false, std::int64_t stop_after = 0) {
    return run_training(config, {.resume = resume, .quiet = true, .stop_after = stop_after});
  }
  fs::path folder(const std::string& run, std::int64_t step = 4) const {
    return RunFolder(tiny_.run(run)).checkpoint(step);
  }

  // For each part: how many of its tensors differ from those that the run began with, and how many there are.
  std::map<std::string, std::pair<int, int>> changes(const RunConfig& c, const std::string& run) const {
    const OpenedRunModel before = open_run_model(c);
    const std::unique_ptr<Model> after = load_hf_model(folder(run) / "hf", ParamPlan{.train = false});
    std::map<std::string, at::Tensor> values;
    for (const ParamRef& param : after->params()) values[param->spec.name] = param->value;
    std::map<std::string, std::pair<int, int>> out;
    for (const ParamRef& param : before.model->params()) {
      const std::string& name = param->spec.name;
      if (!values.contains(name)) continue;  // an adapter, merged into its weight
      auto& [changed, all] = out[name.substr(0, name.find('.'))];
      changed += !values.at(name).equal(param->value.to(at::kFloat));
      ++all;
    }
    return out;
  }

  TinyRun tiny_;
};

TEST_F(VisualRun, LearnsToNameWhatItSees) {
  RunConfig c = config("run");
  c.train.steps = 60;
  c.train.global_batch_size = 2;
  c.optim.lr = 3e-3;
  c.sample.conversations = c.data.train[0];
  c.sample.max_new_tokens = 8;
  const RunOutcome outcome = train(c);
  EXPECT_EQ(outcome.summary.at("heldout_tokens"), 3 + 1 + 5 + 1 + 4 + 1);
  EXPECT_LT(outcome.summary.at("heldout_loss_after").get<double>(), 0.2);
  const std::vector<Json> samples = JsonLines(tiny_.run("run") / "samples.jsonl", 100).records();
  ASSERT_EQ(samples.size(), 6U);
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(samples[i].at("text"), samples[i].at("expected"));
    EXPECT_EQ(samples[i].at("prompt"), "[picture]");
    EXPECT_TRUE(fs::exists(samples[i].at("picture").get<std::string>()));
  }
}

TEST_F(VisualRun, FrozenPartsStayAsTheyAre) {
  RunConfig c = config("run");
  c.language.train = false;
  train(c);
  const auto changed = changes(c, "run");
  EXPECT_EQ(changed.at("language").first, 0);
  EXPECT_EQ(changed.at("projector").first, changed.at("projector").second);
  EXPECT_GT(changed.at("vision").first, 0);
}

TEST_F(VisualRun, EachPartHasItsRate) {
  RunConfig c = config("run");
  c.vision.lr_scale = 0;
  train(c);
  const auto changed = changes(c, "run");
  EXPECT_EQ(changed.at("vision").first, 0);
  EXPECT_EQ(changed.at("projector").first, changed.at("projector").second);
  EXPECT_GT(changed.at("language").first, 0);
}

TEST_F(VisualRun, AdaptersOfOnePartAreMergedIntoAWholeModel) {
  RunConfig c = config("run");
  c.language.lora_rank = 4;
  c.language.lora_targets = {"q_proj", "down_proj"};
  train(c);
  const auto changed = changes(c, "run");
  EXPECT_EQ(changed.at("language").first, 2 * 2);  // two linears in each of two layers
  EXPECT_GT(changed.at("vision").first, 0);
  EXPECT_FALSE(fs::exists(folder("run") / "hf" / "adapter_config.json"));
}

TEST_F(VisualRun, ResumesBitForBitInBfloat16WithAFrozenPartAndAdapters) {
  RunConfig c = config("whole");
  c.train.threads = 2;
  c.train.steps = 6;
  c.precision.compute = "bfloat16";
  c.vision.compute = "float32";
  c.vision.lr_scale = 0.5;
  c.projector.train = false;
  c.language.lora_rank = 2;
  c.recompute.mode = "full";
  train(c);
  c.train.output_dir = tiny_.run("broken").string();
  train(c, false, 1);
  train(c, true, 3);
  EXPECT_EQ(train(c, true).kind, RunOutcome::Kind::kFinished);
  for (const char* key : {"step", "loss", "grad_norm", "tokens"})
    EXPECT_EQ(metric(tiny_.run("whole"), key), metric(tiny_.run("broken"), key)) << key;
  for (const char* file : {"state/state.safetensors", "hf/model.safetensors"})
    EXPECT_EQ(read_file(folder("whole", 6) / file), read_file(folder("broken", 6) / file)) << file;
}

TEST_F(VisualRun, CheckpointsCarryTheSizesOfTheRun) {
  RunConfig c = config("run");
  c.train.steps = 2;
  c.data.max_pixels = kSide * kSide;
  train(c);
  const fs::path hf = folder("run", 2) / "hf";
  const Json size = read_json(hf / "preprocessor_config.json").at("size");
  EXPECT_EQ(size.at("longest_edge"), kSide * kSide);
  EXPECT_LE(size.at("shortest_edge"), kSide * kSide);
  for (const char* file : {"tokenizer.json", "video_preprocessor_config.json", "processor_config.json"})
    EXPECT_TRUE(fs::exists(hf / file)) << file;
}

TEST_F(VisualRun, SettingsOfALaterRunReachItsFiles) {
  RunConfig first = config("first");
  first.train.steps = 2;
  train(first);
  RunConfig c = config("second");
  c.model = {};
  c.model.path = (folder("first", 2) / "hf").string();
  c.train.steps = 2;
  c.data.max_pixels = kSide * kSide;
  c.data.video_fps = 3;
  c.data.video_max_frames = 16;
  train(c);
  const fs::path hf = folder("second", 2) / "hf";
  const Json whole = read_json(hf / "processor_config.json");
  const Json clips = read_json(hf / "video_preprocessor_config.json");
  for (const Json& one : {read_json(hf / "preprocessor_config.json"), whole.at("image_processor"), clips,
                          whole.at("video_processor")})
    EXPECT_EQ(one.at("size").at("longest_edge"), kSide * kSide);
  for (const Json& one : {clips, whole.at("video_processor")}) {
    EXPECT_EQ(one.at("fps"), 3.0);
    EXPECT_EQ(one.at("max_frames"), 16);
    EXPECT_LE(one.at("min_frames"), 16);
  }
  EXPECT_EQ(clips.at("video_processor_type"), "Qwen2VLVideoProcessor");
}

// A tower's folder that has levels of its own, put into a Qwen2.5-VL.
TEST_F(VisualRun, LevelsOfATowersFolderAreKept) {
  RunConfig c = config("run");
  c.model.vision.preset.clear();
  c.model.vision.path = (tiny_.root() / "tower").string();
  make_directories(c.model.vision.path);
  const Json tower = preset_config("vit-tiny");
  write_file_atomic(fs::path(c.model.vision.path) / "config.json", dump_json(tower));
  const Json levels = {{"image_processor_type", "Qwen2VLImageProcessor"},
                       {"patch_size", 17},
                       {"merge_size", 4},
                       {"image_mean", {0.5, 0.5, 0.5}},
                       {"image_std", {0.25, 0.25, 0.25}}};
  write_file_atomic(fs::path(c.model.vision.path) / "preprocessor_config.json", dump_json(levels));
  VisualInfo visual;
  visual.patch_size = 17;
  visual.merge_size = 4;
  const ProcessorFiles files = processor_files(c, visual);
  for (const char* name : {"preprocessor_config.json", "video_preprocessor_config.json"}) {
    const Json file = parse_json<CheckpointError>(files.at(name), name);
    EXPECT_EQ(file.at("image_mean"), levels.at("image_mean")) << name;
    EXPECT_EQ(file.at("image_std"), levels.at("image_std")) << name;
  }
}

TEST_F(VisualRun, UnfitConfigurationsOfTheLanguageModelAreNamed) {
  RunConfig c = config("run");
  c.model.language.preset.clear();
  c.model.language.path = (tiny_.root() / "language").string();
  for (const auto& [key, value] : {std::pair<const char*, Json>("num_attention_heads", 0),
                                   {"vocab_size", "x"},
                                   {"tie_word_embeddings", 1},
                                   {"head_dim", "wide"}}) {
    Json language = preset_config("llama-tiny");
    language[key] = value;
    make_directories(c.model.language.path);
    write_file_atomic(fs::path(c.model.language.path) / "config.json", dump_json(language));
    try {
      open_run_model(c);
      FAIL() << key;
    } catch (const CheckpointError& error) {
      EXPECT_NE(std::string(error.what()).find(concat("language/config.json: key '", key, "'")),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_F(VisualRun, SettingsThatContradictEachOtherAreNamed) {
  const auto first = [&](const std::function<void(RunConfig&)>& change) {
    RunConfig c = config("run");
    change(c);
    const std::vector<std::string> found = violations(c);
    return found.empty() ? std::string("none") : found.front();
  };
  EXPECT_EQ(first([](RunConfig&) {}), "none");
  EXPECT_TRUE(first([](RunConfig& c) {
                c.language.lora_rank = 2;
                c.language.train = false;
              }).starts_with("language.lora_rank: has no effect with language.train"));
  EXPECT_TRUE(first([](RunConfig& c) {
                c.model.image_token = c.model.video_token;
              }).find("four different tokens") != std::string::npos);
  EXPECT_TRUE(first([](RunConfig& c) {
                c.model.projector.kind = "resampler";
                c.model.projector.depth = 100'000'000;
              }).starts_with("model.projector.depth"));
}

// Of the same name and length in bytes.
TEST_F(VisualRun, AnotherPictureUnderTheSameNameIsNoticed) {
  RunConfig c = config("run");
  train(c, false, 2);
  const fs::path red = tiny_.root() / "red.png";
  std::string bytes = read_file(red);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  write_file_atomic(red, bytes);
  EXPECT_THROW(train(c, true), DataError);
}

TEST_F(VisualRun, RefusesConversationsForSamplesWithoutAnAnswer) {
  RunConfig c = config("run");
  write_file_atomic(tiny_.root() / "open.jsonl",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"Who?\"}]}\n");
  c.sample.conversations = (tiny_.root() / "open.jsonl").string();
  EXPECT_THROW(train(c), DataError);
}

}  // namespace
}  // namespace loongforge
