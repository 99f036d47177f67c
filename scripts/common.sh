# Shared by the scripts: where things are, how steps are shown, how mistakes end. Sourced, not run.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
JOBS="${JOBS:-$(nproc)}"
BINARY="$ROOT/build/release/bin/loongforge"

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
STOPPED=0  # set by a script that handles Ctrl-C: what fails then failed because of it
die() {
  [ "$STOPPED" -eq 0 ] || exit 130
  printf 'error: %s\n' "$*" >&2
  exit 2
}
# Prints the command as a user would type it, then runs it.
run() {
  printf '$ %s\n' "$(printf '%s ' "$@" | sed "s|$ROOT/||g; s| $||")" >&2
  "$@"
}

# The environment that holds the torch wheel; scripts/cuda-build.sh has one of its own.
TORCH_ENV="${TORCH_ENV:-$VENV/torch}"
torch_folder() { echo "$TORCH_ENV"/lib/python3*/site-packages/torch; }

configure() { # PRESET [cmake arguments]
  local preset="$1"
  shift
  (cd "$ROOT" && cmake --preset "$preset" "$@" > "$ROOT/build/configure-$preset.log" 2>&1) || {
    [ "$STOPPED" -eq 0 ] || exit 130
    tail -25 "$ROOT/build/configure-$preset.log" >&2
    die "configuring the preset '$preset' failed; the whole log is build/configure-$preset.log"
  }
}
