# Everything outside this tree that the build uses. Debian names: scripts/debian-packages.txt.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

if(TARGET yaml-cpp::yaml-cpp)
  set(LOONGFORGE_YAML yaml-cpp::yaml-cpp)
else()
  set(LOONGFORGE_YAML yaml-cpp)
endif()

if(LOONGFORGE_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

if(LOONGFORGE_TORCH)
  find_package(TorchWheel REQUIRED)
endif()
