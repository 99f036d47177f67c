// Fields of records that nothing reads: counted, and warned of once a file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "loongforge/base/json.h"

namespace loongforge {

// Records that have the field, by its name.
using UnreadColumns = std::map<std::string, std::int64_t>;

// Counts the fields of `record` that are not among `read`; `unread` may be null.
void count_unread(const Json& record, const std::set<std::string_view>& read, UnreadColumns* unread);

void warn_of_unread(const std::string& file, const UnreadColumns& unread);

}  // namespace loongforge
