# Makes a .cpp that holds the files of this folder, so that the program carries its page.
set(_folder "${CMAKE_CURRENT_LIST_DIR}")
set(_definitions "")
foreach(part page.html page.css charts.js page.js)
  file(READ "${_folder}/${part}" text)
  string(MAKE_C_IDENTIFIER "${part}" name)
  string(APPEND _definitions "extern const std::string_view ${name};\nconst std::string_view ${name} = R\"lforge(${text})lforge\";\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_folder}/${part}")
endforeach()
set(report_assets "${CMAKE_CURRENT_BINARY_DIR}/generated/report_assets.cpp")
file(CONFIGURE OUTPUT "${report_assets}" @ONLY CONTENT
"// Made by CMake from loongforge/train/report/.
#include <string_view>

namespace loongforge::report_assets {
@_definitions@}  // namespace loongforge::report_assets
")
