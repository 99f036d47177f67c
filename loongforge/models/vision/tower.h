// What vision towers, projectors and the language model around them hand to each other.
#pragma once

#include <ATen/core/Tensor.h>

#include "loongforge/models/card.h"
#include "loongforge/models/vision/layout.h"

namespace loongforge {

// Entries of a Flow. A text-only batch has none of them, and every segment here passes it through.
namespace vision_flow {
// In: rows of pixels (P, channels · frames · height · width of a patch); int64 (n, 3) patches a picture,
// which stays until the projector.
inline constexpr const char* kPixels = "pixel_values";
inline constexpr const char* kGrid = "grid_thw";
// Between the tower's segments: (P, C), in the order of the layout.
inline constexpr const char* kPatches = "patches";
// Tables of rotary positions (P, D/2).
inline constexpr const char* kCos = "patch_cos";
inline constexpr const char* kSin = "patch_sin";
// The VisionLayout.
inline constexpr const char* kFrames = "patch_frames";
inline constexpr const char* kWindows = "patch_windows";
inline constexpr const char* kOrder = "patch_order";
// Out: one row a visual token, in the order of the pictures (M, C of the language model).
inline constexpr const char* kTokens = "visual_tokens";
}  // namespace vision_flow

// A layout's entries of the flow.
void put_layout(Flow& flow, const VisionLayout& layout);
// Puts the projector's tokens in the place of all that concerns patches.
void replace_patches(Flow& flow, const at::Tensor& tokens);
// Merges each unit of `merge` patches: (P, C) in the order of the layout → (P / merge, merge · C).
at::Tensor joined_units(const at::Tensor& patches, std::int64_t merge);
// Rows (M, C) in the order of the layout's units → in the order of the pictures.
at::Tensor in_picture_order(const at::Tensor& rows, const at::Tensor& order);

}  // namespace loongforge
