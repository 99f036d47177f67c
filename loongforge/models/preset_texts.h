// The files configs/models/*.yaml, embedded in the program by CMake.
#pragma once

#include <string_view>
#include <vector>

namespace loongforge {

struct PresetText {
  std::string_view name;
  std::string_view yaml;
};

// Defined in a file that CMake makes.
const std::vector<PresetText>& preset_texts();

}  // namespace loongforge
