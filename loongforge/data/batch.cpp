#include "loongforge/data/batch.h"

#include "loongforge/base/error.h"
#include "loongforge/models/vision/tower.h"

namespace loongforge {

BatchCounts& BatchCounts::operator+=(const BatchCounts& other) {
  rows += other.rows;
  tokens += other.tokens;
  trained += other.trained;
  padding += other.padding;
  documents += other.documents;
  pictures += other.pictures;
  clips += other.clips;
  visual_tokens += other.visual_tokens;
  return *this;
}

const at::Tensor& Batch::at(const std::string& name) const {
  const auto found = tensors.find(name);
  check<InternalError>(found != tensors.end(), "batch has no tensor '", name, "'");
  return found->second;
}

Flow flow_of(const Batch& batch) {
  Flow flow;
  for (const char* name : {"input_ids", vision_flow::kPixels, vision_flow::kGrid}) {
    if (batch.has(name)) flow[name] = batch.at(name);
  }
  return flow;
}

}  // namespace loongforge
