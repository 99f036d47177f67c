"""What the scripts of this folder share: the probe, relative errors, small random models."""

import logging
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

os.environ["TQDM_DISABLE"] = "1"  # before transformers is imported
import torch
import transformers
from safetensors.torch import load_file, save_file

PROBE = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "models_probe")
DOWNLOADS = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "downloads")
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(max(1, len(os.sched_getaffinity(0))))


def probe(*arguments):
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")


def parity(model, tensors, dtype="float32", *options):
    """logits, loss and grad.NAME of the C++ model in the folder `model`."""
    with tempfile.TemporaryDirectory() as folder:
        given, got = Path(folder) / "in.safetensors", Path(folder) / "out.safetensors"
        save_file(tensors, given)
        probe("parity", model, given, got, dtype, *options)
        return load_file(got)


def relative_error(ours, theirs):
    ours, theirs = ours.detach().double(), theirs.detach().double()
    norm = theirs.norm()
    return float((ours - theirs).norm() / norm) if norm > 0 else float(ours.norm())


def gradients(model):
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


class NoWarnings:
    """Fails when transformers or Python warns inside."""

    def __enter__(self):
        self.messages = []
        self.handler = logging.Handler(logging.WARNING)
        self.handler.emit = lambda record: self.messages.append(record.getMessage())
        self.logger = logging.getLogger("transformers")
        self.logger.addHandler(self.handler)
        self.caught = warnings.catch_warnings(record=True)
        self.python = self.caught.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind, error, trace):
        self.caught.__exit__(kind, error, trace)
        self.logger.removeHandler(self.handler)
        self.messages += [str(w.message) for w in self.python]
        if kind is None and self.messages:
            raise AssertionError(f"warnings: {self.messages}")


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def assert_close(self, ours, theirs, limit, what):
        error = relative_error(ours, theirs)
        self.assertLessEqual(error, limit, f"{what}: relative error {error:.2e}")
        return error


class ParityTest(FolderTest):
    """Compares what `parity` wrote with a model of transformers after its backward."""

    def compare(self, ours, logits, loss, model, limit, what):
        worst = self.assert_close(ours["logits"], logits, limit, f"{what}: logits")
        self.assert_close(ours["loss"], loss, limit, f"{what}: loss")
        theirs = gradients(model)
        self.assertEqual({k[5:] for k in ours if k.startswith("grad.")}, set(theirs), what)
        for name, grad in theirs.items():
            worst = max(worst, self.assert_close(ours["grad." + name], grad, limit, f"{what}: {name}"))
        print(f"{what}: worst relative error {worst:.1e}")


def main():
    unittest.main(verbosity=2)
