// Token embedding.
#pragma once

#include "loongforge/nn/context.h"

namespace loongforge {

struct Embedding {
  ParamRef weight;  // (V, C)

  // Declares `name`.weight, drawn from a normal distribution of deviation `init_std`.
  Embedding(ParamBuilder& builder, const std::string& name, std::int64_t vocab, std::int64_t channels,
            double init_std);
  // ids int64 (N) → (N, C). Throws DataError naming an id outside [0, V).
  at::Tensor forward(const Context& context, const at::Tensor& ids) const;
};

}  // namespace loongforge
