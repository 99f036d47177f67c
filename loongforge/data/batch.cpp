#include "loongforge/data/batch.h"

#include "loongforge/base/error.h"

namespace loongforge {

BatchCounts& BatchCounts::operator+=(const BatchCounts& other) {
  rows += other.rows;
  tokens += other.tokens;
  trained += other.trained;
  padding += other.padding;
  documents += other.documents;
  return *this;
}

const at::Tensor& Batch::at(const std::string& name) const {
  const auto found = tensors.find(name);
  check<InternalError>(found != tensors.end(), "batch has no tensor '", name, "'");
  return found->second;
}

}  // namespace loongforge
