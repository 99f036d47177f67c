#include <gtest/gtest.h>

#include "loongforge/data/data_config.h"
#include "loongforge/data/visual_for_test.h"
#include "loongforge/models/vlm/positions.h"
#include "loongforge/text/template/chat_template.h"

namespace loongforge {
namespace {

using Values = std::vector<std::int64_t>;

class VisualSources : public ::testing::Test {
 protected:
  VisualSources() {
    context_.shape = {128, 1, 1};
    context_.tokenizer = &tokenizer_;
    context_.chat_template = &template_;
    context_.embedding_rows = 262;
    context_.threads = 2;
    context_.visual = &visual_;
    context_.processor = test_processor();
    folder_.put("tall.png", png_of(picture_for_test(40, 16)));  // 5 x 2 tokens
    folder_.put("wide.png", png_of(picture_for_test(16, 48)));  // 2 x 6 tokens
    folder_.put("clip.mov", clip_for_test(8, 16, 24, 4));       // 2 x 2 x 3 tokens
    const std::string png = png_of(picture_for_test(32, 32));
    folder_.put("cut.png", png.substr(0, png.size() / 2));
  }
  static Json chat(const std::string& question, const std::vector<std::string>& images = {},
                   const std::vector<std::string>& videos = {}, const std::string& answer = "a") {
    Json record = {{"messages", Json::array({{{"role", "user"}, {"content", question}},
                                             {{"role", "assistant"}, {"content", answer}}})}};
    if (!images.empty()) record["images"] = images;
    if (!videos.empty()) record["videos"] = videos;
    return record;
  }
  void put(const std::vector<Json>& records) {
    std::string lines;
    for (const Json& record : records) lines += dump_json(record) + "\n";
    config_.train = {folder_.put("train.jsonl", lines).string()};
  }
  std::unique_ptr<BatchSource> source() const { return make_sft_source(config_, context_); }
  static Json set_of(const BatchSource& source) { return source.describe().at("sets").at(0); }
  std::string refusal() const {
    return message_of<DataError>([&] { source(); });
  }
  // The batches of one pass, in which each row has one micro-batch.
  static std::vector<Batch> pass(const BatchSource& source) {
    std::vector<Batch> out;
    const auto rows = set_of(source).at("rows").get<std::int64_t>();
    for (std::int64_t step = 0; step < rows; ++step) out.push_back(source.batch(step, 0));
    return out;
  }
  const TestFolder folder_;
  const Tokenizer tokenizer_ = test_tokenizer(2);
  const ChatTemplate template_{kTestVisualTemplate, "test template"};
  const VisualInfo visual_ = test_visual();
  SourceContext context_;
  DataConfig config_;
};

std::int64_t count(const Batch& batch, std::int32_t id) {
  const Values ids = values_of(batch, "input_ids");
  return std::count(ids.begin(), ids.end(), id);
}

TEST_F(VisualSources, PlacesGridsAndPixelsBelongTogether) {
  put({chat("<image>q<video>", {"tall.png"}, {"clip.mov"})});
  const Batch batch = source()->batch(0, 0);
  EXPECT_EQ(count(batch, kTestImage), 10);
  EXPECT_EQ(count(batch, kTestVideo), 12);
  EXPECT_EQ(values_of(batch, "grid_thw"), (Values{1, 10, 4, 2, 4, 6}));
  EXPECT_EQ(batch.at("pixel_values").sizes(), (at::IntArrayRef{40 + 48, 96}));
  EXPECT_EQ(batch.counts.pictures, 1);
  EXPECT_EQ(batch.counts.clips, 1);
  EXPECT_EQ(batch.counts.visual_tokens, 22);
  EXPECT_EQ(batch.counts.trained, 2);  // "a<|im_end|>"
  const Values labels = values_of(batch, "labels");
  EXPECT_EQ(std::count(labels.begin(), labels.end(), kTestImage), 0);
  const at::Tensor positions = visual_positions(batch.at("input_ids"), batch.at("cu_seqlens"),
                                                batch.at("grid_thw"), std::vector<double>{0, 1}, visual_);
  EXPECT_TRUE(batch.at("position_ids").equal(positions));
  EXPECT_EQ(flow_of(batch).size(), 3U);
}

// VLM-5.
TEST_F(VisualSources, TextAloneStandsBesidePictures) {
  put({chat("<image>q", {"tall.png"}), chat("only text")});
  config_.pack = false;
  for (const Batch& batch : pass(*source())) {
    const bool visual = batch.counts.pictures > 0;
    EXPECT_EQ(batch.has("pixel_values"), visual);
    EXPECT_EQ(batch.has("grid_thw"), visual);
    EXPECT_EQ(batch.at("position_ids").sizes(), (at::IntArrayRef{3, 128}));
    if (visual) continue;
    SourceContext text = context_;
    text.visual = nullptr;
    put({chat("only text")});
    const Batch plain = make_sft_source(config_, text)->batch(0, 0);
    for (const char* name : {"input_ids", "labels", "cu_seqlens"})
      EXPECT_TRUE(batch.at(name).equal(plain.at(name)));
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_TRUE(batch.at("position_ids")[axis].equal(plain.at("position_ids")));
  }
}

// PACK-2: a row of several conversations is their rows behind each other.
TEST_F(VisualSources, PackedIsTheSameAsSeparate) {
  const std::vector<Json> records = {chat("<image>q", {"tall.png"}), chat("t"),
                                     chat("r<video>", {}, {"clip.mov"})};
  put(records);
  context_.shape.seq_length = 160;
  const Batch packed = source()->batch(0, 0);
  EXPECT_EQ(packed.counts.documents, 3);
  const Values borders = values_of(packed, "cu_seqlens"), ids = values_of(packed, "input_ids");
  std::int64_t pixel_rows = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t begin = borders[d], length = borders[d + 1] - begin;
    const auto has = [&](std::int32_t id) {
      return std::count(ids.begin() + begin, ids.begin() + begin + length, id) > 0;
    };
    put({records[has(kTestImage) ? 0 : has(kTestVideo) ? 2 : 1]});
    const Batch one = source()->batch(0, 0);
    EXPECT_TRUE(one.at("position_ids")
                    .narrow(1, 0, length)
                    .equal(packed.at("position_ids").narrow(1, begin, length)));
    for (const char* name : {"input_ids", "labels"})
      EXPECT_TRUE(one.at(name).narrow(0, 0, length).equal(packed.at(name).narrow(0, begin, length)));
    if (!one.has("pixel_values")) continue;
    const at::Tensor pixels = one.at("pixel_values");
    EXPECT_TRUE(pixels.equal(packed.at("pixel_values").narrow(0, pixel_rows, pixels.size(0))));
    pixel_rows += pixels.size(0);
  }
  EXPECT_EQ(pixel_rows, packed.at("pixel_values").size(0));
}

TEST_F(VisualSources, SeveralRowsMakeOneMicroBatch) {
  put({chat("<image>q", {"tall.png"}), chat("<image>q", {"wide.png"})});
  config_.pack = false;
  context_.shape = {128, 2, 2};
  const Batch batch = source()->batch(0, 0);
  EXPECT_EQ(batch.counts.pictures, 2);
  EXPECT_EQ(batch.at("grid_thw").size(0), 2);
  EXPECT_EQ(batch.at("position_ids").sizes(), (at::IntArrayRef{3, 256}));
}

TEST_F(VisualSources, PatchesOfARowAreLimited) {
  put({chat("<image>q", {"tall.png"}), chat("<image>q", {"wide.png"}), chat("t")});
  context_.shape.seq_length = 160;
  EXPECT_EQ(set_of(*source()).at("rows"), 1);
  config_.max_patches = 60;
  for (const Batch& batch : pass(*source())) EXPECT_LE(batch.counts.pictures, 1);
  EXPECT_EQ(set_of(*source()).at("rows"), 2);
  config_.max_patches = 44;
  EXPECT_EQ(set_of(*source()).at("media").at("dropped_oversize"), 1);
}

TEST_F(VisualSources, NoPictureIsCut) {
  put({chat("<image>q", {"tall.png"}, {}, std::string(60, 'b')),
       chat(std::string(70, 'q') + "<image>", {"tall.png"}), chat("t")});
  context_.shape.seq_length = 70;
  const auto one = source();
  const Json set = set_of(*one);
  EXPECT_EQ(set.at("media").at("dropped_oversize"), 1);
  EXPECT_EQ(set.at("cut"), 2);
  EXPECT_EQ(set.at("conversations"), 2);
  for (const Batch& batch : pass(*one)) EXPECT_EQ(count(batch, kTestImage), 10 * batch.counts.pictures);
}

// VLM-2, PACK-6: a bad picture stops the run, or its whole conversation is left out.
TEST_F(VisualSources, BadPicturesStopTheRunBeforeItTrains) {
  put({chat("t"), chat("<image><image>q", {"tall.png", "none.png"})});
  const std::string message = refusal();
  EXPECT_TRUE(contains(message, "train.jsonl:2: "));
  EXPECT_TRUE(contains(message, "none.png: no such file"));
}

TEST_F(VisualSources, BadPicturesAreSkippedWithTheirConversation) {
  put({chat("<image>q", {"tall.png"}), chat("<image><image>r", {"wide.png", "none.png"}),
       chat("<image>s", {"cut.png"})});
  config_.on_bad_media = "skip";
  context_.shape.seq_length = 160;
  const auto one = source();
  EXPECT_EQ(set_of(*one).at("media").at("dropped_bad_media"), 1);
  const Batch batch = one->batch(0, 0);  // the pixels of cut.png are read now
  EXPECT_EQ(set_of(*one).at("media").at("dropped_bad_media"), 2);
  EXPECT_EQ(batch.counts.documents, 1);
  EXPECT_EQ(batch.counts.pictures, 1);
  EXPECT_EQ(count(batch, kTestImage), 10);
  EXPECT_EQ(batch.counts.trained, 2);
  EXPECT_EQ(batch.counts.padding + batch.counts.tokens, 160);
  config_.on_bad_media = "stop";
  put({chat("<image>s", {"cut.png"})});
  EXPECT_TRUE(contains(message_of<DataError>([&] { source()->batch(0, 0); }), "truncated or damaged PNG"));
}

TEST_F(VisualSources, StatisticsOfSizesAreShown) {
  folder_.put("large.png", png_of(picture_for_test(200, 200)));
  put({chat("<image>q", {"large.png"}), chat("<video>q", {}, {"clip.mov"})});
  const Json media = set_of(*source()).at("media");
  EXPECT_EQ(media.at("pictures"), 1);
  EXPECT_EQ(media.at("clips"), 1);
  EXPECT_EQ(media.at("visual_tokens"), 36 + 12);
  EXPECT_EQ(media.at("most_visual_tokens"), 36);
  EXPECT_EQ(media.at("reduced"), 1);
  config_.max_pixels = 256;
  EXPECT_EQ(set_of(*source()).at("media").at("visual_tokens"), 4 + 2 * 2);
}

TEST_F(VisualSources, PositionsOfClipsFollowTheirRate) {
  folder_.put("slow.mov", clip_for_test(8, 16, 24, 2));
  const auto last_time = [&](const char* clip) {
    put({chat("<video>", {}, {clip})});
    const Batch batch = source()->batch(0, 0);
    const Values ids = values_of(batch, "input_ids");
    const auto first = std::find(ids.begin(), ids.end(), kTestVideo) - ids.begin();
    const auto last = first + count(batch, kTestVideo) - 1;
    const at::Tensor times = batch.at("position_ids")[0];
    return times[last].item<std::int64_t>() - times[first].item<std::int64_t>();
  };
  config_.video_fps = 4;
  EXPECT_EQ(last_time("clip.mov"), 3);  // 4 patches of 0.5 s, 2 steps a second
  EXPECT_EQ(last_time("slow.mov"), 6);
}

TEST_F(VisualSources, TypedPlaceholdersStayText) {
  put({chat("<image>what is <|extra_0|>?", {"tall.png"}), chat("<|extra_0|>")});
  std::int64_t places = 0;
  for (const Batch& batch : pass(*source())) places += count(batch, kTestImage);
  EXPECT_EQ(places, 10);
  config_.content_specials = "control";
  EXPECT_TRUE(contains(refusal(), "train.jsonl:1: expected the chat template to show the 1 pictures"));
}

TEST_F(VisualSources, TemplatesWithoutPartsGetTheTokens) {
  const ChatTemplate plain{kChatTemplateForTest, "plain"};
  put({chat("<image>q", {"tall.png"})});
  const Batch with_parts = source()->batch(0, 0);
  context_.chat_template = &plain;
  const Batch joined = source()->batch(0, 0);
  EXPECT_EQ(count(joined, kTestImage), 10);
  EXPECT_EQ(joined.counts.tokens, with_parts.counts.tokens - 2);  // "[" and "]"
  EXPECT_TRUE(joined.at("pixel_values").equal(with_parts.at("pixel_values")));
}

TEST_F(VisualSources, TemplatesThatSwallowATurnAreNamed) {
  const ChatTemplate last(
      "{% for m in messages[-2:] %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% "
      "endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
      "last turn");
  context_.chat_template = &last;
  Json record = chat("<image>q", {"tall.png"});
  record["messages"].push_back({{"role", "user"}, {"content", "q2"}});
  record["messages"].push_back({{"role", "assistant"}, {"content", "a2"}});
  put({record});
  EXPECT_TRUE(contains(refusal(), "train.jsonl:1: "));
}

TEST_F(VisualSources, ModelsOfTextRefusePictures) {
  context_.visual = nullptr;
  put({chat("t"), chat("<image>q", {"tall.png"})});
  EXPECT_TRUE(
      contains(refusal(), "train.jsonl:2: shows 1 pictures or clips, but the model reads text alone"));
  config_.max_pixels = 5;
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { source(); }), "data.max_pixels: has no effect"));
}

TEST_F(VisualSources, TokenizersOfOtherModelsAreRefused) {
  VisualInfo other = visual_;
  other.image_token = 'x';
  context_.visual = &other;
  put({chat("t")});
  EXPECT_TRUE(contains(message_of<CheckpointError>([&] { source(); }), "expected id 120"));
}

TEST_F(VisualSources, OtherPicturesAreOtherData) {
  const auto state = [&] { return source()->state(0).at("fingerprint"); };
  put({chat("<image>q", {"tall.png"})});
  const Json first = state();
  EXPECT_EQ(state(), first);
  folder_.put("tall2.png", png_of(picture_for_test(40, 16)));
  put({chat("<image>q", {"tall2.png"})});
  EXPECT_NE(state(), first);
}

TEST_F(VisualSources, OrderIsAFunctionOfTheStep) {
  std::vector<Json> records;
  for (int i = 0; i < 12; ++i) {
    const std::string name = concat(i, ".png");
    folder_.put(name, png_of(picture_for_test(16 + 8 * (i % 3), 16)));
    records.push_back(chat(concat("<image>", i), {name}));
  }
  put(records);
  config_.eval_fraction = 0.3;
  const auto one = source(), two = source();
  for (const std::int64_t step : {7, 0, 3}) {
    const Batch a = one->batch(step, 0), b = two->batch(step, 0);
    for (const auto& [name, tensor] : a.tensors) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
  }
  const auto held = make_sft_eval_source(config_, context_);
  EXPECT_EQ(set_of(*one).at("conversations").get<int>() + set_of(*held).at("conversations").get<int>(), 12);
}

}  // namespace
}  // namespace loongforge
