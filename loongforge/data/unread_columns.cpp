#include "loongforge/data/unread_columns.h"

#include "loongforge/base/log.h"

namespace loongforge {

void count_unread(const Json& record, const std::set<std::string_view>& read, UnreadColumns* unread) {
  if (unread == nullptr) return;
  for (const auto& entry : record.items()) {
    if (!read.contains(entry.key())) ++(*unread)[entry.key()];
  }
}

void warn_of_unread(const std::string& file, const UnreadColumns& unread) {
  for (const auto& [column, count] : unread)
    log_warning(file, ": the field '", column, "' of ", count, " records is not read");
}

}  // namespace loongforge
