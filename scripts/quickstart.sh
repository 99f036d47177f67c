#!/usr/bin/env bash
# The main job, from a bare machine to a trained language model: installs what is missing, builds the program,
# continues the pre-training of SmolLM2-135M on real text, fine-tunes it on two tasks, and shows what it learned.
#   scripts/quickstart.sh           go on where the last call stopped, or start
#   scripts/quickstart.sh --again   train anew
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
NAME=scripts/quickstart.sh
JOB=runs/quickstart
source "$ROOT/scripts/job.sh"

usage() { sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

settings() { cat examples/quickstart/*.yaml examples/quickstart/*.py examples/quickstart/requirements.txt | sha256sum; }

job() {
  say "1/4 The pretrained model, as a Hugging Face folder"
  convert_pretrained "$JOB/model"
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

run_job "$@"
