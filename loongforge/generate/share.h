// A share of right answers with its standard error.
#pragma once

#include <cstdint>

#include "loongforge/base/json.h"

namespace loongforge {

// {"right": n, "share": p = n / questions, "standard_error": sqrt(p (1 - p) / questions)}; questions >= 1.
Json share_json(std::int64_t right, std::int64_t questions);

}  // namespace loongforge
