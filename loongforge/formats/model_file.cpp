#include "loongforge/formats/model_file.h"

namespace loongforge {

MappedFile map_model_file(const fs::path& path) {
  const std::string reason = why_unreadable(path);
  check<CheckpointError>(reason.empty(), path.string(), ": ", reason);
  MappedFile file(path);
  check<CheckpointError>(!file.bytes().empty(), path.string(), ": is empty; fetch or write it again");
  return file;
}

}  // namespace loongforge
