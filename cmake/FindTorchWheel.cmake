# Finds the libtorch inside a torch wheel and makes the target Torch::cpu.
#
# Looked for in: -DLOONGFORGE_TORCH_DIR=DIR (the wheel's folder "torch"), then .venv/torch of this tree.
# Only libtorch_cpu, libc10 and the wheel's own libgomp are linked, so a CUDA flavour serves a CPU build
# without a toolkit: it additionally needs libcudart and libcupti at run time (scripts/setup.sh installs
# those two wheels), whose folders go onto the run path here.
set(LOONGFORGE_TORCH_DIR "" CACHE PATH "The folder 'torch' of an installed torch wheel")
set(_minimum 2.13.0)

set(_torch "${LOONGFORGE_TORCH_DIR}")
if(NOT _torch)
  file(GLOB _found "${PROJECT_SOURCE_DIR}/.venv/torch/lib/python3*/site-packages/torch")
  if(_found)
    list(GET _found 0 _torch)
  endif()
endif()

if(NOT _torch OR NOT EXISTS "${_torch}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "torch wheel not found in '${_torch}'. "
    "Run scripts/setup.sh, or give its folder with -DLOONGFORGE_TORCH_DIR=.../site-packages/torch.")
endif()

file(STRINGS "${_torch}/version.py" _line REGEX "^__version__ *=")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" TorchWheel_VERSION "${_line}")
if(TorchWheel_VERSION VERSION_LESS _minimum)
  message(FATAL_ERROR "torch ${TorchWheel_VERSION} in '${_torch}' is too old: ${_minimum} or newer is needed. "
    "Run scripts/setup.sh.")
endif()
file(STRINGS "${_torch}/version.py" _cuda REGEX "^cuda.*= *'[0-9.]+'")
string(REGEX MATCH "'([0-9.]+)'" _ "${_cuda}")
set(TorchWheel_CUDA "${CMAKE_MATCH_1}")

set(_run_path "${_torch}/lib")
if(TorchWheel_CUDA)
  file(GLOB _nvidia "${_torch}/../nvidia/*/lib" "${_torch}/../nvidia/*/*/lib")
  list(APPEND _run_path ${_nvidia})
endif()
file(GLOB _gomp "${_torch}/lib/libgomp*.so*")

if(NOT TARGET Torch::cpu)
  add_library(Torch::cpu INTERFACE IMPORTED)
  set_target_properties(Torch::cpu PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_torch}/include;${_torch}/include/torch/csrc/api/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_torch}/include;${_torch}/include/torch/csrc/api/include"
    # at::parallel_for is a template with an OpenMP region: without this flag it runs on one thread. At link time the
    # wheel's own libgomp serves, so that a process has one OpenMP runtime.
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>"
    # libtorch_cpu of a CUDA flavour leaves symbols of libraries that a CPU program never calls.
    INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined"
    INTERFACE_LINK_LIBRARIES "${_torch}/lib/libtorch_cpu.so;${_torch}/lib/libc10.so;${_gomp}")
endif()
set(CMAKE_BUILD_RPATH ${_run_path})

if(TorchWheel_CUDA)
  set(_flavour "CUDA ${TorchWheel_CUDA}")
else()
  set(_flavour "CPU")
endif()
set(TorchWheel_FLAVOUR "${_flavour}")
set(TorchWheel_FOLDER "${_torch}")
message(STATUS "torch wheel ${TorchWheel_VERSION} (${_flavour}): ${_torch}")
set(TorchWheel_FOUND TRUE)
