// Activation recomputation (Chen et al. 2016): a segment keeps its inputs only and runs again in backward.
#pragma once

#include "loongforge/nn/model.h"

namespace loongforge {

// segment.forward(context, flow) without keeping activations; gradients are bitwise those of the plain run.
// Trains what is inside also when no input of the flow requires a gradient. `segment` and context.grads must
// live until backward has ended.
Flow recompute(const Segment& segment, const Context& context, const Flow& flow);

}  // namespace loongforge
