#include "loongforge/train/language_task.h"

#include <ATen/ops/isfinite.h>

#include "loongforge/base/error.h"
#include "loongforge/nn/head_loss.h"

namespace loongforge {
namespace {

constexpr const char* kTerm = "cross_entropy";

}  // namespace

Context LanguageTask::context(const Batch& batch) const {
  Context context;
  context.cu_seqlens = batch.at("cu_seqlens");
  context.position_ids = batch.at("position_ids");
  return context;
}

Flow LanguageTask::inputs(const Batch& batch) const {
  return flow_of(batch);
}

std::vector<TermWeight> LanguageTask::weights(const Batch& batch) const {
  if (!batch.has("loss_weights")) return {{kTerm, static_cast<double>(batch.counts.trained)}};
  const at::Tensor counted = batch.at("labels").ne(kIgnoredLabel);
  const at::Tensor weights = batch.at("loss_weights").to(at::kDouble);
  return {{kTerm, weights.mul(counted).sum().item<double>()}};
}

std::vector<LossTerm> LanguageTask::terms(const Model& model, const Context& context, const Flow& flow,
                                          const Batch& batch, const std::vector<double>& gradients) const {
  HeadLossOptions options;
  if (batch.has("loss_weights")) options.token_weights = batch.at("loss_weights");
  if (!gradients.empty()) options.known_gradient = gradients.at(0);
  return {{kTerm, head_cross_entropy(context, model.head(), flow.at("hidden"), batch.at("labels"), options)}};
}

std::string LanguageTask::blame(const Flow& flow, const Batch& batch) const {
  const auto it = flow.find("hidden");
  if (it == flow.end()) return "";
  const at::Tensor bad = at::isfinite(it->second.detach()).all(-1).logical_not();
  if (!bad.any().item<bool>()) return "";
  if (bad.all().item<bool>()) return "every token of the micro-batch";
  const std::int64_t first = bad.to(at::kByte).argmax().item<std::int64_t>();
  const at::Tensor borders = batch.at("cu_seqlens").to(at::kLong);
  const auto* border = borders.const_data_ptr<std::int64_t>();
  std::int64_t document = 0;
  while (border[document + 1] <= first) ++document;
  return concat("from token ", first - border[document], " of document ", document,
                " of the micro-batch (its tokens ", border[document], " to ", border[document + 1] - 1, ")");
}

}  // namespace loongforge
