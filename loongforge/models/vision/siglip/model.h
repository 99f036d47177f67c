// The vision tower of SigLIP (Zhai et al. 2023): patches of one frame, a learnt table of positions, pre-norm
// blocks whose patches see the whole frame; no pooling head.
#pragma once

#include "loongforge/models/card.h"
#include "loongforge/models/vision/siglip/config.h"

namespace loongforge {

namespace siglip {

VisionPart build(const TowerConfig& config, ParamBuilder& builder);
// Names of its tensors in files, with and without "vision_model." before them.
NameMap names();

}  // namespace siglip

void register_siglip(Registry& registry);

}  // namespace loongforge
