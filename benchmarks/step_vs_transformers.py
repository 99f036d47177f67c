"""One training step of SmolLM2-135M, side by side with Hugging Face transformers: speed, memory, and losses.

    .venv/peers/bin/python benchmarks/step_vs_transformers.py [--model FOLDER] [--rounds 3] [--json FILE]

Both programs start from the same weights and read the same batches (`loongforge inspect batches`), each in a process of
its own with the same number of threads, one after the other in every round; the ratio is the median over rounds. The
peer is the Llama class of transformers, eager, attention "sdpa", bf16 autocast, fused AdamW, clipping at 1.0. The
losses of 40 steps are compared in bfloat16 (bar 0.03) and float32 (bar 1e-4). Memory is the peak resident set.
"""

import argparse
import html
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build/release/bin/loongforge"
PAGES = pathlib.Path("/usr/share/doc/anarchism/html")  # scripts/debian-packages.txt
LR, CLIP = 1e-4, 1.0


def peer(arguments: argparse.Namespace) -> None:
    """Runs in its own process: trains with transformers on the batches of a file and prints what it saw."""
    import resource

    import torch
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(arguments.threads)
    batches = load_file(arguments.batches)
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32, attn_implementation="sdpa")
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=True)
    losses, seconds = [], []
    for step in range(arguments.steps):
        begin = time.perf_counter()
        micro = [key for key in batches if key.startswith(f"step.{step}.") and key.endswith(".input_ids")]
        labels = {key: batches[key.replace("input_ids", "labels")] for key in micro}
        counted = sum(int((value != -100).sum()) for value in labels.values())
        total = 0.0
        for key in micro:
            rows = batches[key].reshape(-1, arguments.seq_length)
            with torch.autocast("cpu", torch.bfloat16, enabled=arguments.dtype == "bfloat16"):
                logits = model(input_ids=rows).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels[key].flatten(), reduction="sum") / counted
            loss.backward()
            total += float(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(total)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"losses": losses, "seconds": seconds,
                      "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def run_peer(model, batches, seq_length, steps, dtype, threads) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, "--peer", "--model", str(model), "--batches", str(batches), "--seq-length", str(seq_length),
         "--steps", str(steps), "--dtype", dtype, "--threads", str(threads)],
        capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(threads)})
    if done.returncode != 0:
        sys.exit(f"the peer failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def settings(model, data, seq_length, rows, micro, steps, dtype, threads, out) -> list[str]:
    values = {
        "model.path": model, "data.train": data, "train.seq_length": seq_length, "train.global_batch_size": rows,
        "train.micro_batch_size": micro, "train.steps": steps, "train.threads": threads, "train.output_dir": out,
        "precision.compute": dtype, "optim.lr": LR, "optim.schedule": "constant", "optim.warmup_steps": 0,
        "optim.weight_decay": 0.0, "optim.beta2": 0.95, "optim.eps": 1e-8, "optim.clip_norm": CLIP,
    }
    return ["task=pretrain"] + [f"{key}={value}" for key, value in values.items()]


def run_ours(work: pathlib.Path, overrides: list[str]) -> dict:
    (work / "empty.yaml").write_text("")
    subprocess.run(["rm", "-rf", str(work / "run")], check=True)
    done = subprocess.run([str(BINARY), "train", str(work / "empty.yaml"), "--quiet", *overrides, "log.tensorboard=false"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"loongforge failed:\n{done.stderr[-2000:]}")
    lines = [json.loads(line) for line in (work / "run/metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "loss" in line]
    # The memory of the last step: the writing of the checkpoint afterwards is not part of a step.
    return {"losses": [line["loss"] for line in lines], "seconds": [line["step_seconds"] for line in lines],
            "peak_bytes": max(line["peak_memory_bytes"] for line in lines)}


def write_rows(work: pathlib.Path, model, name: str, seq_length: int) -> str:
    """Documents of exactly one row each, so that the peer needs no document mask."""
    if (work / f"{name}.idx").exists():
        return str(work / name)
    pages = [p.read_text(encoding="utf-8", errors="replace") for p in sorted(PAGES.glob("sec*.html"))[:20]]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.unescape(" ".join(pages))))
    done = subprocess.run([str(BINARY), "tokenize", "--tokenizer", str(model), "--json"], input=json.dumps(text) + "\n",
                          capture_output=True, text=True, check=True)
    ids = json.loads(done.stdout)
    decode = subprocess.run([str(BINARY), "tokenize", "--tokenizer", str(model), "--decode", "--json"],
                            input="".join(json.dumps(ids[i:i + seq_length + 64]) + "\n"
                                          for i in range(0, min(len(ids), 200 * seq_length), seq_length)),
                            capture_output=True, text=True, check=True)
    (work / f"{name}.jsonl").write_text("".join(f'{{"text": {line}}}\n' for line in decode.stdout.splitlines()))
    subprocess.run([str(BINARY), "prepare", str(work / f"{name}.jsonl"), "--tokenizer", str(model), "--out", str(work / name),
                    "--no-eos", "--max-tokens", str(seq_length), "--min-tokens", str(seq_length)], check=True,
                   capture_output=True)
    return str(work / name)


def side_by_side(work, model, seq_length, rows, micro, steps, dtype, threads) -> tuple[dict, dict]:
    data = write_rows(work, model, f"rows{seq_length}", seq_length)
    overrides = settings(model, data, seq_length, rows, micro, steps, dtype, threads, work / "run")
    (work / "empty.yaml").write_text("")
    batches = work / "batches.safetensors"
    subprocess.run([str(BINARY), "inspect", "batches", str(work / "empty.yaml"), *overrides, "--steps", str(steps), "--out",
                    str(batches)], check=True, capture_output=True)
    ours = run_ours(work, overrides)
    theirs = run_peer(model, batches, seq_length, steps, dtype, threads)
    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=str(ROOT / "runs/quickstart/model"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--losses", type=int, default=40, help="steps whose losses are compared (0: none)")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    for name in ("batches", "dtype"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    for name in ("seq-length", "steps"):
        parser.add_argument(f"--{name}", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments)

    figures: dict = {"threads": arguments.threads}
    print(subprocess.run([str(BINARY), "version"], capture_output=True, text=True, check=True).stdout.strip())
    print(subprocess.run([str(BINARY), "bench", "ceilings", "--threads", str(arguments.threads)], capture_output=True,
                         text=True, check=True).stdout.strip(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        speed, memory = [], []
        for number in range(arguments.rounds):
            ours, theirs = side_by_side(work, arguments.model, 1024, 4, 4, 3, "bfloat16", arguments.threads)
            rates = [4096 / statistics.median(run["seconds"][1:]) for run in (ours, theirs)]
            speed.append(rates[0] / rates[1])
            memory.append(ours["peak_bytes"] / theirs["peak_bytes"])
            print(f"round {number + 1}: {rates[0]:.0f} tokens/s, transformers {rates[1]:.0f} ({speed[-1]:.2f} x); "
                  f"memory {ours['peak_bytes'] / 2**30:.1f} GiB, {theirs['peak_bytes'] / 2**30:.1f} ({memory[-1]:.2f} x)")
        if speed:
            figures |= {"speed_ratio": statistics.median(speed), "memory_ratio": statistics.median(memory)}
        if arguments.losses:
            for dtype in ("bfloat16", "float32"):
                ours, theirs = side_by_side(work, arguments.model, 256, 2, 2, arguments.losses, dtype, arguments.threads)
                worst = max(abs(a - b) for a, b in zip(ours["losses"], theirs["losses"], strict=True))
                figures[f"loss_difference_{dtype}"] = worst
                print(f"{arguments.losses} losses in {dtype}: largest difference {worst:.2e} "
                      f"({ours['losses'][0]:.4f} -> {ours['losses'][-1]:.4f})")
    print(json.dumps(figures))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
