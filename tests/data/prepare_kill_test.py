"""Kills `loongforge prepare` at random instants and proves that the result is the unbroken one, byte for byte.

Also: Ctrl-C exits with 130 and keeps the finished parts, and the number of threads changes nothing.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BINARY = os.environ["LOONGFORGE_BINARY"]
SEED = int(os.environ.get("KILL_SEED", time.time_ns() % 1_000_000))


def write_tokenizer(folder):
    """A byte-level tokenizer: 256 bytes, an end-of-text token as id 0 and one merge for each pair of letters."""
    visible = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
    hidden = [b for b in range(256) if b not in visible]
    signs = [chr(b) for b in visible] + [chr(256 + i) for i in range(len(hidden))]
    small = "abcdefghijklmnopqrstuvwxyz"
    pairs = [(a, b) for a in small for b in small]
    tokens = ["<|endoftext|>", *signs, *(a + b for a, b in pairs)]
    added = {"id": 0, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "vocab": {token: i for i, token in enumerate(tokens)}, "merges": [list(pair) for pair in pairs]}
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(
        {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [added], "normalizer": None,
         "pre_tokenizer": level, "post_processor": None, "decoder": level, "model": model}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|endoftext|>"}))


def write_sources(folder, megabytes):
    """Pages of HTML and records of JSON, no two words in the same order."""
    draw = random.Random(3)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(draw.choices(letters, k=draw.randrange(2, 11))) for _ in range(4000)]
    text = lambda size: " ".join(draw.choices(words, k=size // 7))
    folder.mkdir()
    for i in range(megabytes * 2):
        (folder / f"{i:03}.html").write_text(f"<h1>Page {i}</h1>" + f"<p>{text(250_000)}</p>")
    with open(folder / "zz.jsonl", "w") as out:
        for i in range(megabytes * 100):
            out.write(json.dumps({"text": text(5_000)}) + "\n")


class PrepareKill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="loongforge_prepare_"))
        write_tokenizer(cls.root / "tokenizer")
        write_sources(cls.root / "text", 5)
        start = time.monotonic()
        cls.run_to_end(cls.root / "whole" / "set", threads=1)
        cls.seconds = time.monotonic() - start
        cls.bytes = cls.result(cls.root / "whole" / "set")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    @classmethod
    def command(cls, out, threads=2):
        return [BINARY, "prepare", str(cls.root / "text"), "--tokenizer", str(cls.root / "tokenizer"), "--out",
                str(out), "--held-out-fraction", "0.1", "--threads", str(threads), "--json"]

    @classmethod
    def run_to_end(cls, out, threads=2):
        done = subprocess.run(cls.command(out, threads), capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    @staticmethod
    def result(out):
        return {path.name: path.read_bytes() for path in sorted(out.parent.iterdir())}

    def test_threads_change_nothing(self):
        out = self.root / "threads" / "set"
        self.run_to_end(out, threads=3)
        self.assertEqual(self.result(out), self.bytes)

    def test_killed_runs_go_on(self):
        draw = random.Random(SEED)
        for round_number in range(2):
            out = self.root / f"killed{round_number}" / "set"
            for _ in range(3):
                process = subprocess.Popen(self.command(out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(draw.uniform(0, self.seconds))
                process.kill()
                process.wait()
            self.run_to_end(out)
            self.assertEqual(self.result(out), self.bytes, f"KILL_SEED={SEED}, round {round_number}")

    def test_interrupt_keeps_the_parts(self):
        out = self.root / "interrupted" / "set"
        process = subprocess.Popen(self.command(out, 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        parts = Path(f"{out}.parts")
        while process.poll() is None and not list(parts.glob("*.part")):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("the same command goes on", errors)
        self.assertFalse(Path(f"{out}.bin").exists())
        self.assertGreaterEqual(self.run_to_end(out)["parts_reused"], 1)
        self.assertEqual(self.result(out), self.bytes)


if __name__ == "__main__":
    unittest.main(verbosity=2)

