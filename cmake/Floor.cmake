# loongforge_floor(NAME [TORCH] [TESTS_WITH target...] DEPENDS target...)
#
# One static library per floor from all .cpp of its folder (sub-folders included), and one test program
# NAME_test from its *_test.cpp, registered test by test under the label "fast".
include(GoogleTest)

# Torch floors share one precompiled header: ATen's headers cost several seconds a file.
function(_loongforge_torch_pch)
  if(TARGET loongforge_pch)
    return()
  endif()
  add_library(loongforge_pch STATIC "${PROJECT_SOURCE_DIR}/cmake/torch_pch.cpp")
  target_link_libraries(loongforge_pch PUBLIC loongforge_flags Torch::cpu Threads::Threads)
  target_precompile_headers(loongforge_pch PRIVATE "${PROJECT_SOURCE_DIR}/cmake/torch_pch.h")
endfunction()

function(loongforge_floor NAME)
  cmake_parse_arguments(F "TORCH" "" "DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(pattern ${F_EXCLUDE})
    list(FILTER all EXCLUDE REGEX "${pattern}")
  endforeach()
  list(FILTER all EXCLUDE REGEX "_(fuzz|bench)\\.cpp$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  add_library(loongforge_${NAME} STATIC ${sources})
  foreach(library ${F_DEPENDS})
    if(NOT library MATCHES "^loongforge_" OR TARGET ${library})
      target_link_libraries(loongforge_${NAME} PUBLIC ${library})
    endif()
  endforeach()
  target_link_libraries(loongforge_${NAME} PUBLIC loongforge_flags)
  if(F_TORCH)
    _loongforge_torch_pch()
    target_link_libraries(loongforge_${NAME} PUBLIC Torch::cpu Threads::Threads)
    target_precompile_headers(loongforge_${NAME} REUSE_FROM loongforge_pch)
  endif()

  if(LOONGFORGE_TESTS AND tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE loongforge_${NAME} GTest::gtest_main GTest::gtest)
    if(F_TORCH)
      target_precompile_headers(${NAME}_test REUSE_FROM loongforge_pch)
      # A program would be compiled with -fPIE, and the header, made with -fPIC, would not fit.
      set_target_properties(${NAME}_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${NAME}_test PRIVATE -fPIC)
    endif()
    gtest_discover_tests(${NAME}_test TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
      PROPERTIES LABELS fast TIMEOUT 900)
  endif()
endfunction()
