# Language level, warnings, sanitizers, and the helpers that make builds fast where they are installed.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# -O3 is for the kernels alone (loongforge/ops/CMakeLists.txt): elsewhere it only costs build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# The sanitized builds: instrumented code at -O2 takes three times as long to compile.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

option(LOONGFORGE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)

add_library(loongforge_flags INTERFACE)
target_include_directories(loongforge_flags INTERFACE "${PROJECT_SOURCE_DIR}")
set(_warnings -Wall -Wextra -Werror -Wno-missing-field-initializers -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees these in std::string and std::vector where there are none (GCC bugs 105329, 105651).
  list(APPEND _warnings -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
endif()
# nvcc knows none of these (loongforge/ops/CMakeLists.txt).
target_compile_options(loongforge_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_warnings}>")
target_compile_definitions(loongforge_flags INTERFACE
  LOONGFORGE_VERSION="${PROJECT_VERSION}" $<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)

if(LOONGFORGE_SANITIZE)
  # vptr is off because libtorch has no instrumentation; every finding ends the program.
  set(_sanitize -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
    -Wno-error)  # instrumented code draws false warnings; the release build is the judge of warnings
  target_compile_options(loongforge_flags INTERFACE ${_sanitize})
  target_link_options(loongforge_flags INTERFACE ${_sanitize})
endif()

find_program(LOONGFORGE_CCACHE ccache)
if(LOONGFORGE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${LOONGFORGE_CCACHE}")
endif()

find_program(LOONGFORGE_MOLD mold)
if(LOONGFORGE_MOLD)
  target_link_options(loongforge_flags INTERFACE -fuse-ld=mold)
endif()
