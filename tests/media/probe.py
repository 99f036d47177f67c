"""Runs media_probe, whose path is the first argument of each test script, and imports torchvision."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(sys.prefix) / "apart"))  # scripts/peers.sh
PROBE = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "media_probe")


def load_torchvision():
    """The package; its compiled part, of which nothing here has need, may not fit the flavour of torch."""
    try:
        import torchvision
    except (RuntimeError, ImportError):
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        operators = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        load_torchvision.kept = operators
        import torchvision
    return torchvision


def run(*arguments):
    """Standard output of a successful run."""
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout


def refused(*arguments):
    """Message of a run that must fail with exit code 3."""
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode != 3 or done.stderr.count("\n") != 1:
        raise AssertionError(f"exit code {done.returncode}, standard error: {done.stderr!r}")
    return done.stderr


def picture(rng, height, width):
    """Smooth shapes, sharp edges and some noise, (height, width, 3) uint8."""
    y, x = numpy.mgrid[0:height, 0:width]
    phase = rng.uniform(0, 6, 3)
    waves = 128 + 100 * numpy.sin(x[..., None] / rng.uniform(3, 40) + y[..., None] / rng.uniform(3, 40) + phase)
    waves[(x // 7 + y // 5) % 4 == 0] = rng.integers(0, 256, 3)
    return numpy.clip(waves + rng.normal(0, 12, (height, width, 3)), 0, 255).astype(numpy.uint8)


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.rng = numpy.random.default_rng(1)


def main():
    unittest.main(verbosity=2)
