#!/usr/bin/env bash
# A vision-language model from parts: a small tower that has seen nothing, a projector, and SmolLM2-135M, trained on
# pictures with captions in two stages, and judged by pictures that it has not seen.
#   scripts/vlm.sh           go on where the last call stopped, or start
#   scripts/vlm.sh --again   train anew
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
NAME=scripts/vlm.sh
JOB=runs/vlm
source "$ROOT/scripts/job.sh"

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

settings() { cat examples/vlm/* | sha256sum; }

choose() { # STEP QUESTIONS
  once "$1" "$LF" eval choice --model "$JOB/stage2" --questions "$JOB/data/$2.jsonl" --dtype bfloat16 \
    --out "$JOB/eval/$1.json"
}

job() {
  say "1/4 The pretrained language model, and pictures with captions"
  convert_pretrained "$JOB/language"
  once pictures python3 examples/vlm/make_data.py "$JOB/data"
  say "2/4 First stage: tower and projector, the language model stays as it is"
  once stage1 "$LF" train examples/vlm/stage1.yaml --resume
  say "3/4 Second stage: all of it"
  once stage2 "$LF" train examples/vlm/stage2.yaml --resume
  say "4/4 The right caption among ten, with the picture and with a grey one"
  choose picture questions
  choose grey questions_grey
}

finish() {
  python3 examples/vlm/summarise.py "$JOB" --job-seconds "$(seconds convert pictures stage1 stage2 picture grey)"
  run "$LF" report "$JOB/stage1" "$JOB/stage2" --out "$JOB/report.html" --summary "$JOB/summary.json" \
    --title "Pictures and their captions"
}

show() {
  python3 examples/vlm/summarise.py "$JOB" --show
  printf '\nReport with curves, pictures and settings: %s/%s/report.html\n' "$ROOT" "$JOB"
}

run_job "$@"
