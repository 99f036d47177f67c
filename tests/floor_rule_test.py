"""Checks that a file includes only its own floor and those below it, and that the floors without torch stay so."""

import pathlib
import re
import sys

FLOORS = [
    "base", "formats", "text", "media", "ops", "comm", "quantize", "nn", "models", "parallel", "data",
    "optim", "checkpoint", "generate", "plan", "train", "serve", "cli",
]
TORCH_FREE = {"base", "formats", "text", "media"}
INCLUDE = re.compile(r'^\s*#include\s*[<"]([^>"]+)[>"]')


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for path in sorted((root / "loongforge").rglob("*")):
        if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
            continue
        floor = path.relative_to(root / "loongforge").parts[0]
        if floor not in FLOORS:
            found.append(f"{path}: '{floor}' is no floor of the house")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            include = match.group(1)
            where = f"{path.relative_to(root)}:{number}"
            if include.startswith("loongforge/"):
                below = include.split("/")[1]
                if below not in FLOORS or FLOORS.index(below) > FLOORS.index(floor):
                    found.append(f"{where}: {floor} may not include {include}")
            elif floor in TORCH_FREE and re.match(r"(torch|ATen|c10)/", include):
                found.append(f"{where}: {floor} is free of torch, but includes {include}")
            elif include in {"torch/torch.h", "ATen/ATen.h"}:
                found.append(f"{where}: {include} costs too much to compile; include the single operators")
    return found


if __name__ == "__main__":
    problems = violations(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems) or "floor rule holds")
    sys.exit(1 if problems else 0)
