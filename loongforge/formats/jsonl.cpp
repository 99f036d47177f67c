#include "loongforge/formats/jsonl.h"

namespace loongforge {

bool JsonlReader::next(Json& value) {
  while (lines_.next(text_)) {
    if (text_.find_first_not_of(" \t\r") == std::string::npos) continue;
    value = parse_json<DataError>(text_, where());
    return true;
  }
  return false;
}

}  // namespace loongforge
