"""Kills `loongforge train` at random instants and proves that the resumed run is the unbroken one, bit for bit.

Also: Ctrl-C saves and exits 130, a used folder is refused without --resume, a finished run says so, and a full disk
ends with exit code 7 while the earlier checkpoint stands.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARY = os.environ["LOONGFORGE_BINARY"]
STEPS = 30
SEED = int(os.environ.get("KILL_SEED", time.time_ns() % 1_000_000))


def write_tokenizer(folder):
    """A byte-level tokenizer: 256 bytes and an end-of-text token as id 0."""
    visible = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
    hidden = [b for b in range(256) if b not in visible]
    letters = [chr(b) for b in visible] + [chr(256 + i) for i in range(len(hidden))]
    vocab = {"<|endoftext|>": 0, **{letter: i + 1 for i, letter in enumerate(letters)}}
    added = {"id": 0, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": []}
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(
        {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [added], "normalizer": None,
         "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level, "model": model}))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}))


def write_text(folder):
    words = "the a small old run of steps loses nothing when it is cut short and starts again".split()
    draw = random.Random(5)
    folder.mkdir()
    for i in range(30):
        text = " ".join(draw.choice(words) for _ in range(draw.randrange(50, 400)))
        (folder / f"{i:02}.txt").write_text(text + ".\n")


class KillResume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="loongforge_kill_"))
        write_tokenizer(cls.root / "tokenizer")
        write_text(cls.root / "text")
        subprocess.run([BINARY, "prepare", str(cls.root / "text"), "--tokenizer", str(cls.root / "tokenizer"),
                        "--out", str(cls.root / "data" / "text")], check=True, capture_output=True)
        (cls.root / "run.yaml").write_text(f"""
task: pretrain
model: {{preset: llama-tiny, tokenizer: {cls.root}/tokenizer}}
data: {{train: [{cls.root}/data/text], eval_fraction: 0.1}}
train: {{steps: {STEPS}, seq_length: 64, global_batch_size: 8, micro_batch_size: 4, threads: 1}}
optim: {{lr: 0.003, schedule: cosine, warmup_steps: 4}}
checkpoint: {{every: 3, keep: 2}}
eval: {{every: 10}}
""")
        cls.whole = cls.root / "whole"
        done = cls.finish(cls.whole)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root, ignore_errors=True)

    @classmethod
    def command(cls, folder, *more):
        return [BINARY, "train", str(cls.root / "run.yaml"), f"train.output_dir={folder}", *more]

    @classmethod
    def finish(cls, folder, *more, **options):
        return subprocess.run(cls.command(folder, *more), capture_output=True, text=True, timeout=200, **options)

    @staticmethod
    def metrics(folder):
        return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]

    @staticmethod
    def lines(folder):
        try:
            return (folder / "metrics.jsonl").read_text().count("\n")
        except FileNotFoundError:
            return 0

    def start_until(self, folder, steps, *more):
        """Starts a run and waits until it has written `steps` more lines than it began with, or has ended."""
        process = subprocess.Popen(self.command(folder, *more), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True)
        deadline = time.monotonic() + 100
        before = None
        while process.poll() is None and time.monotonic() < deadline:
            # The file is cut to the checkpoint at the start; count from what it holds then.
            now = self.lines(folder)
            before = now if before is None else min(before, now)
            if now >= before + steps:
                break
            time.sleep(0.01)
        return process

    def assert_same_run(self, folder):
        ours, theirs = self.metrics(folder), self.metrics(self.whole)
        self.assertEqual([m["step"] for m in ours], list(range(1, STEPS + 1)))
        for key in ("loss", "lr", "grad_norm", "tokens", "epoch"):
            self.assertEqual([m[key] for m in ours], [m[key] for m in theirs], key)
        last = Path("checkpoints") / f"step-{STEPS:08}"
        for name in ("state/state.safetensors", "hf/model.safetensors"):
            self.assertEqual((folder / last / name).read_bytes(), (self.whole / last / name).read_bytes(), name)
        for key in ("heldout_loss_before", "heldout_loss_after"):
            self.assertEqual(*(json.loads((run / "summary.json").read_text())[key] for run in (folder, self.whole)))
        self.assertFalse(list((folder / "checkpoints").glob("*.partial")))

    def test_killed_at_random_instants(self):
        print("KILL_SEED", SEED, file=sys.stderr)
        draw = random.Random(SEED)
        folder, kills = self.root / "killed", 0
        for _ in range(60):
            process = self.start_until(folder, draw.randrange(1, 9), "--resume")
            time.sleep(draw.uniform(0, 0.1))
            if process.poll() is None:
                process.kill()
                kills += 1
            error = process.communicate()[1]
            self.assertIn(process.returncode, (0, -signal.SIGKILL), error)
            if process.returncode == 0:
                break
        self.assertEqual(process.returncode, 0)
        self.assertGreaterEqual(kills, 3)
        self.assert_same_run(folder)

    def test_first_interrupt_saves(self):
        folder = self.root / "interrupted"
        process = self.start_until(folder, 7)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=100)[1]
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("--resume", error)
        steps = self.lines(folder)
        self.assertTrue((folder / "checkpoints" / f"step-{steps:08}" / "COMPLETE").exists())
        self.assertEqual(self.finish(folder).returncode, 2)
        self.assertEqual(self.finish(folder, "--resume").returncode, 0)
        self.assert_same_run(folder)
        again = self.finish(folder, "--resume")
        self.assertEqual(again.returncode, 0)
        self.assertIn("finished", again.stderr + again.stdout)
        self.assert_same_run(folder)

    def test_full_disk(self):
        folder = self.root / "full"
        process = self.start_until(folder, 7)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=100)
        before = sorted(p.name for p in (folder / "checkpoints").iterdir())

        def limit():
            # Writing beyond it fails with an error as on a full disk, once the signal is ignored.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

        full = self.finish(folder, "--resume", preexec_fn=limit, restore_signals=False)
        self.assertEqual(full.returncode, 7, full.stderr)
        self.assertIn(str(folder), full.stderr)
        self.assertEqual(sorted(p.name for p in (folder / "checkpoints").iterdir()), before)
        self.assertEqual(self.finish(folder, "--resume").returncode, 0)
        self.assert_same_run(folder)


if __name__ == "__main__":
    unittest.main()
