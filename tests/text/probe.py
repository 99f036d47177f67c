"""Runs text_probe: JSON values in, JSON values out."""

import json
import subprocess

from inputs import PROBE


def run(values, *arguments):
    """One answer a value."""
    lines = "".join(json.dumps(value) + "\n" for value in values)
    done = subprocess.run([PROBE, *map(str, arguments)], input=lines, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(answers) != len(values):
        raise AssertionError(f"{len(values)} values, {len(answers)} answers")
    return answers
