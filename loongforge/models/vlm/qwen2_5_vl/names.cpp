#include "loongforge/models/vlm/qwen2_5_vl/names.h"

#include "loongforge/models/llm/decoder.h"
#include "loongforge/models/vision/qwen2_5_vit/model.h"

namespace loongforge::qwen2_5_vl {
namespace {

// `vision` and `language`: what the names of their modules start with.
NameMap names_with(const std::string& vision, const std::string& language) {
  NameMap out = qwen2_5_vit::names().under("vision.", vision + ".");
  const NameMap merger({{"norm.weight", "ln_q.weight"},
                        {"up.weight", "mlp.0.weight"},
                        {"up.bias", "mlp.0.bias"},
                        {"down.weight", "mlp.2.weight"},
                        {"down.bias", "mlp.2.bias"}});
  out += merger.under("projector.", vision + ".merger.");
  out += decoder_names(language).under("language.");
  return out;
}

}  // namespace

NameMap file_names() {
  NameMap names = names_with("visual", "model");
  names += module_names();
  return names;
}

NameMap module_names() {
  return names_with("model.visual", "model.language_model");
}

}  // namespace loongforge::qwen2_5_vl
