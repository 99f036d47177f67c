#include "loongforge/nn/embedding.h"

#include "loongforge/ops/embedding.h"

namespace loongforge {
namespace {

ParamSpec embedding_spec(const std::string& name, std::int64_t vocab, std::int64_t channels,
                         double init_std) {
  ParamSpec spec;
  spec.name = name + ".weight";
  spec.shape = {vocab, channels};
  spec.sections = {{{vocab, 1, Placement::kTensorSplit}}, {}};
  spec.init = {Init::Kind::kNormal, init_std};
  return spec;
}

}  // namespace

Embedding::Embedding(ParamBuilder& builder, const std::string& name, std::int64_t vocab,
                     std::int64_t channels, double init_std)
    : weight(builder.add(embedding_spec(name, vocab, channels, init_std))) {}

at::Tensor Embedding::forward(const Context& context, const at::Tensor& ids) const {
  return ops::embedding(ids, weight_of(context, weight), gradient_of(context, weight));
}

}  // namespace loongforge
