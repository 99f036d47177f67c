"""Runs formats_probe, whose path is the first argument of each test script."""

import subprocess
import sys
import unittest
from pathlib import Path

PROBE = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "formats_probe")


def run(*arguments):
    """Standard output of a successful run."""
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout


def refused(*arguments):
    """(exit code, message) of a run that must fail."""
    done = subprocess.run([PROBE, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode <= 0 or done.stderr.count("\n") != 1:
        raise AssertionError(f"exit code {done.returncode}, standard error: {done.stderr!r}")
    return done.returncode, done.stderr


def main():
    unittest.main(verbosity=2)
