#!/usr/bin/env bash
# Compiles the program with its CUDA kernels (build/cuda): installs torch 2.14.1 with its nvidia-* wheels into
# .venv/torch-cuda (5 GB), then builds the preset 'cuda'. Needs nvcc 13 or newer, no GPU; nothing has run on a GPU yet.
#   scripts/cuda-build.sh                                build for A100 (sm_80) and H100 (sm_90)
#   CUDA_ARCHITECTURES=90 JOBS=4 scripts/cuda-build.sh   build for H100 only, four jobs at a time
export TORCH_VERSION="${TORCH_VERSION:-2.14.1}"
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

LEAST_NVCC=13
usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

case "${1:-}" in
  "") ;;
  -h | --help)
    usage
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/cuda-build.sh --help" ;;
esac

find_nvcc() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda*/bin/nvcc; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      echo "$candidate"
      return
    fi
  done
}

NVCC="$(find_nvcc)"
[ -n "$NVCC" ] || die "nvcc not found: expected the CUDA toolkit $LEAST_NVCC or newer on PATH or under /usr/local/cuda*; install it, or name it in CUDACXX"
release="$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
[ "${release%%.*}" -ge "$LEAST_NVCC" ] 2> /dev/null ||
  die "$NVCC is release '$release': expected $LEAST_NVCC or newer, as torch $TORCH_VERSION was built for; install the CUDA toolkit $LEAST_NVCC or set CUDACXX"

export TORCH_ENV="$VENV/torch-cuda"
TORCH_LIBRARIES=all NEED_DISK_MIB=12000 "$ROOT/scripts/setup.sh"

say "The program with CUDA kernels (nvcc $release)"
configure cuda -DLOONGFORGE_TORCH_DIR="$(torch_folder)" -DCMAKE_CUDA_COMPILER="$NVCC" \
  -DCMAKE_CUDA_ARCHITECTURES="${CUDA_ARCHITECTURES:-80;90}"
cmake --build "$ROOT/build/cuda" -j "$JOBS" --target loongforge
run "$ROOT/build/cuda/bin/loongforge" version
