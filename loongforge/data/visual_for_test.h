// A tokenizer, a template, a processor and pictures for the tests of vision-language data.
#pragma once

#include "loongforge/data/media_loader.h"
#include "loongforge/data/test_support.h"
#include "loongforge/media/pictures_for_test.h"
#include "loongforge/media/video_for_test.h"

namespace loongforge {

// The first two further tokens of test_tokenizer.
inline constexpr std::int32_t kTestImage = 260, kTestVideo = 261;

// A token a square of 8 pixels; pictures of 2 x 2 to 36 tokens.
inline VisualInfo test_visual() {
  VisualInfo visual;
  visual.image_token = kTestImage;
  visual.video_token = kTestVideo;
  visual.patch_size = 4;
  visual.temporal_patch_size = 2;
  visual.merge_size = 2;
  visual.grid_positions = true;
  visual.tokens_per_second = 2;
  return visual;
}

inline ProcessorFiles test_processor() {
  return {{"preprocessor_config.json", R"({"min_pixels": 256, "max_pixels": 2304})"}};
}

// Shows parts as Qwen2.5-VL's template does.
inline constexpr const char* kTestVisualTemplate =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n'}}{% if message['content'] is "
    "string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}{% if part['type'] == "
    "'image' %}{{ '[<|extra_0|>]' }}{% elif part['type'] == 'video' %}{{ '[<|extra_1|>]' }}{% else %}"
    "{{ part['text'] }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

// A clip of `frames` pictures, each of another brightness.
inline std::string clip_for_test(int frames, int height, int width, int fps) {
  std::vector<Image> images;
  for (int i = 0; i < frames; ++i) {
    images.push_back(picture_for_test(height, width));
    images.back().rgb[0] = static_cast<std::uint8_t>(i);
  }
  return video_of(images, fps);
}

}  // namespace loongforge
