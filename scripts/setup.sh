#!/usr/bin/env bash
# Installs what the other scripts share: Debian packages and the torch wheel in .venv/torch.
#   scripts/setup.sh              TORCH_VERSION=2.14.1 scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TORCH_VERSION="${TORCH_VERSION:-2.13.0}"
# "used": the libraries that a CPU program on a CUDA wheel loads; "all": what a CUDA program needs.
TORCH_LIBRARIES="${TORCH_LIBRARIES:-used}"
NEED_DISK_MIB="${NEED_DISK_MIB:-6000}"
NEED_MEMORY_MIB=3500

check_machine() {
  local disk memory
  disk=$(df -Pm "$ROOT" | awk 'NR==2 {print $4}')
  memory=$(awk '/^MemTotal:/ {print int($2 / 1024)}' /proc/meminfo)
  [ "$disk" -ge "$NEED_DISK_MIB" ] || [ -x "$BINARY" ] ||
    die "disk: $disk MiB are free under $ROOT, $NEED_DISK_MIB MiB are needed; free some space or clone elsewhere"
  [ "$memory" -ge "$NEED_MEMORY_MIB" ] ||
    die "memory: this machine has $memory MiB, $NEED_MEMORY_MIB MiB are needed"
}

missing_packages() {
  local name
  sed 's/#.*//' "$ROOT/scripts/debian-packages.txt" | while read -r name; do
    [ -z "$name" ] && continue
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -q '^installed$' || printf '%s ' "$name"
  done
}

install_packages() {
  command -v apt-get > /dev/null || die "apt-get not found: this script knows Debian 12 and 13; install the packages of scripts/debian-packages.txt yourself"
  local missing sudo=()
  missing=$(missing_packages)
  [ -z "$missing" ] && return
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
      sudo=(sudo -n)
    else
      die "Debian packages are missing and this user may not install them; run once: su -c 'apt-get update && apt-get install -y --no-install-recommends $missing'"
    fi
  fi
  say "Debian packages: $missing"
  # A failing update is no reason to stop: the packages may be known already.
  "${sudo[@]}" apt-get update -qq || true
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends $missing > /dev/null ||
    die "apt-get could not install: $missing; run 'apt-get update' and look at its messages"
}

# The nvidia-* wheels of a CUDA build of torch, in its own versions. Two small ones are enough where only its CPU part
# is used.
install_cuda_libraries() {
  local python="$TORCH_ENV/bin/python" wanted
  wanted=$("$python" - "$TORCH_LIBRARIES" <<'PY'
import importlib.metadata as metadata, re, sys
wanted = []
for line in metadata.requires("torch") or []:
    requirement = line.split(";")[0].strip()
    if sys.argv[1] == "all":
        if re.match(r"(cuda-toolkit|nvidia-)", requirement):
            wanted.append(requirement.replace(" ", ""))
        continue
    # "cuda-toolkit[cudart,cupti,...]==13.0.2" names its parts as extras.
    if re.match(r"nvidia-cuda-(runtime|cupti)", requirement):
        wanted.append(requirement.replace(" ", ""))
    match = re.match(r"cuda-toolkit\[[^]]*\]\s*==\s*(\d+)\.(\d+)", requirement)
    if match:
        wanted += [f"{n}=={match[1]}.{match[2]}.*" for n in ("nvidia-cuda-runtime", "nvidia-cuda-cupti")]
print(" ".join(wanted))
PY
)
  local dependencies=(--no-deps)
  # cuda-toolkit holds nothing itself: it names the nvidia-* wheels of one release.
  [ "$TORCH_LIBRARIES" = all ] && dependencies=(--no-warn-conflicts)
  # shellcheck disable=SC2086
  "$TORCH_ENV/bin/python" -m pip install -q --disable-pip-version-check "${dependencies[@]}" \
    ${wanted:-nvidia-cuda-runtime nvidia-cuda-cupti} || die "pip could not install: $wanted"
}

install_torch() {
  local have=""
  [ -x "$TORCH_ENV/bin/python" ] &&
    have=$("$TORCH_ENV/bin/python" -c 'import importlib.metadata as m; print(m.version("torch").split("+")[0])' 2> /dev/null || true)
  [ "$have" = "$TORCH_VERSION" ] && [ -e "$TORCH_ENV/complete" ] && return
  say "torch $TORCH_VERSION into ${TORCH_ENV#"$ROOT"/}"
  mkdir -p "$VENV"
  rm -f "$TORCH_ENV/complete"
  python3 -m venv "$TORCH_ENV" || die "python3 -m venv failed; is the package python3-venv installed?"
  "$TORCH_ENV/bin/python" -m pip install -q --disable-pip-version-check --no-deps "torch==$TORCH_VERSION" ||
    die "pip could not fetch torch==$TORCH_VERSION; is the network there, and does this Python ($(python3 -V)) have a wheel of it?"
  if grep -qE "^cuda.*= *'" "$(torch_folder)/version.py"; then install_cuda_libraries; fi
  touch "$TORCH_ENV/complete"
}

check_machine
install_packages
install_torch
mkdir -p "$ROOT/build"
