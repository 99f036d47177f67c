"""Every command and sub-command has --help with an example and ends with 0; wrong usage ends with 2."""

import os
import re
import subprocess
import sys

BINARY = os.environ["LOONGFORGE_BINARY"]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)


def subcommands(text: str) -> list[str]:
    if "Subcommands:" not in text:
        return []
    return re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[1].split("\n\n")[0], re.M)


def check(problems: list[str], *command: str) -> None:
    done = run(*command, "--help")
    name = " ".join(command)
    if done.returncode != 0 or "Example:" not in done.stdout:
        problems.append(f"{name} --help: code {done.returncode}, no example")
    for sub in subcommands(done.stdout):
        check(problems, *command, sub)


def main() -> int:
    problems: list[str] = []
    top = run("--help")
    commands = subcommands(top.stdout)
    expected = {"train", "prepare", "convert", "generate", "eval", "inspect", "tokenize", "template", "parity",
                "report", "bench", "version"}
    if set(commands) != expected:
        problems.append(f"commands are {sorted(commands)}, expected {sorted(expected)}")
    for command in commands:
        check(problems, command)
    for wrong in ([], ["nonsense"], ["train"], ["train", "x.yaml", "--no-such-option"], ["generate"]):
        done = run(*wrong)
        if done.returncode != 2 or len(done.stderr.strip().splitlines()) != 1:
            problems.append(f"{wrong}: code {done.returncode}, {done.stderr!r}")
    version = run("version", "--json")
    if version.returncode != 0 or '"version"' not in version.stdout:
        problems.append(f"version --json: {version}")
    print("\n".join(problems) or "all commands explain themselves")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
