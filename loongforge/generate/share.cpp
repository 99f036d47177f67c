#include "loongforge/generate/share.h"

#include <cmath>

namespace loongforge {

Json share_json(std::int64_t right, std::int64_t questions) {
  const double share = static_cast<double>(right) / static_cast<double>(questions);
  return {{"right", right},
          {"share", share},
          {"standard_error", std::sqrt(share * (1.0 - share) / static_cast<double>(questions))}};
}

}  // namespace loongforge
