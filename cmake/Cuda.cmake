# The CUDA language and the target Torch::cuda, with -DLOONGFORGE_CUDA=ON (scripts/cuda-build.sh).
#
# Needs nvcc and a CUDA flavour of the torch wheel with its nvidia-* wheels (cuBLAS and others: their headers and, to
# start the program, their libraries). Needs no GPU: so far everything here has been compiled, nothing executed.
if(NOT TorchWheel_CUDA)
  message(FATAL_ERROR "LOONGFORGE_CUDA: the torch wheel in '${TorchWheel_FOLDER}' is a CPU build. "
    "Run scripts/cuda-build.sh, or give the folder of a CUDA build with -DLOONGFORGE_TORCH_DIR=.../site-packages/torch.")
endif()
foreach(library torch_cuda c10_cuda)
  if(NOT EXISTS "${TorchWheel_FOLDER}/lib/lib${library}.so")
    message(FATAL_ERROR "LOONGFORGE_CUDA: lib${library}.so is missing in '${TorchWheel_FOLDER}/lib'. "
      "Remove .venv/torch-cuda and run scripts/cuda-build.sh.")
  endif()
endforeach()
file(GLOB _cuda_include "${TorchWheel_FOLDER}/../nvidia/cu[0-9]*/include")
file(GLOB _cuda_runtime "${TorchWheel_FOLDER}/../nvidia/cu[0-9]*/lib/libcudart.so.*")
if(NOT _cuda_include OR NOT _cuda_runtime)
  message(FATAL_ERROR "LOONGFORGE_CUDA: the nvidia-* wheels are missing beside '${TorchWheel_FOLDER}'. "
    "Run scripts/cuda-build.sh, which installs them.")
endif()

# sm_80: A100 and its generation, which run what is built for them; sm_90: H100.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPU generations to compile for")
endif()
if(LOONGFORGE_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${LOONGFORGE_CCACHE}")
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "LOONGFORGE_CUDA: no working nvcc found. Install the CUDA toolkit ${TorchWheel_CUDA}, or give its "
    "compiler with -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc.")
endif()
enable_language(CUDA)
# Set after the compiler's own test, which needs its defaults. The runtime library is the wheel's: a process has one.
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
# CMake 3.25 (Debian 12) knows of nvcc what it could do up to C++17.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
string(REGEX MATCH "^[0-9]+" _wheel_major "${TorchWheel_CUDA}")
string(REGEX MATCH "^[0-9]+" _compiler_major "${CMAKE_CUDA_COMPILER_VERSION}")
if(NOT _wheel_major STREQUAL _compiler_major)
  message(FATAL_ERROR "LOONGFORGE_CUDA: nvcc is ${CMAKE_CUDA_COMPILER_VERSION}, but the torch wheel was built for CUDA "
    "${TorchWheel_CUDA}: their first numbers must be equal. Install the CUDA toolkit ${TorchWheel_CUDA}.")
endif()

# The toolkit's headers stand first: those of the wheels lack crt/, and lead to the toolkit's for it.
list(PREPEND _cuda_include ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
add_library(Torch::cuda INTERFACE IMPORTED)
set_target_properties(Torch::cuda PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_cuda_include}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_cuda_include}"
  # libtorch_cuda is found through the kernels that it registers, not through symbols: the linker must not drop it.
  INTERFACE_LINK_LIBRARIES "Torch::cpu;-Wl,--push-state,--no-as-needed;${TorchWheel_FOLDER}/lib/libtorch_cuda.so;${TorchWheel_FOLDER}/lib/libc10_cuda.so;-Wl,--pop-state;${_cuda_runtime}")
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}; compiled only, no GPU has run it")
