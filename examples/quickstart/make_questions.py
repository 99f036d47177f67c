"""Makes the questions of the quickstart with reasoning-gym: two tasks whose answers a program can check.

    make_questions.py OUT --train 600 --held-out 200

writes OUT/train.jsonl (conversations with answers) and OUT/heldout.jsonl (questions, the right answers beside
them). Both state the form of the answer. Seeds differ, and no held-out question stands in the training set.
"""

import argparse
import importlib
import importlib.util
import json
import pathlib
import sys
import types

TRAIN_SEED, HELD_OUT_SEED = 1_000_000, 7
ROOT = pathlib.Path(importlib.util.find_spec("reasoning_gym").origin).parent


def load(module: str):
    """Imports one module of reasoning-gym without the packages' __init__, which wants every dependency."""
    parts = ["reasoning_gym", *module.split(".")[:-1]]
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [str(ROOT.joinpath(*parts[1:depth]))]
            sys.modules[name] = package
    sys.modules.setdefault("yaml", types.ModuleType("yaml"))  # only curricula on disk would use it
    return importlib.import_module("reasoning_gym." + module)


def reverse_words(seed: int, size: int):
    module = load("algorithmic.word_sequence_reversal")
    config = module.WordSequenceReversalConfig(min_words=3, max_words=6, seed=seed, size=size)
    for item in module.WordSequenceReversalDataset(config):
        words = item["question"].rsplit(": ", 1)[1].strip()
        question = (f"Reverse the order of these words: {words}\n"
                    "Reply only with the words, separated by a comma and a space.")
        yield question, item["answer"]


def find_name(seed: int, size: int):
    module = load("cognition.needle_haystack")
    config = module.NeedleHaystackConfig(min_num_statements=4, max_num_statements=8, seed=seed, size=size)
    for item in module.NeedleHaystackDataset(config):
        yield item["question"], item["answer"]


TASKS = {"reverse_words": reverse_words, "find_name": find_name}


def write_lines(path: pathlib.Path, lines: list[dict]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--train", type=int, default=600, help="conversations a task")
    parser.add_argument("--held-out", type=int, default=200, help="held-out questions a task")
    arguments = parser.parse_args()

    train, held_out = [], []
    for task, make in TASKS.items():
        kept = dict(make(HELD_OUT_SEED, arguments.held_out))
        if len(kept) != arguments.held_out:
            sys.exit(f"{task}: {len(kept)} different questions, expected {arguments.held_out}")
        for question, answer in kept.items():
            held_out.append({"task": task, "messages": [{"role": "user", "content": question}], "answer": answer})
        fresh = {q: a for q, a in make(TRAIN_SEED, arguments.train) if q not in kept}
        for question, answer in fresh.items():
            train.append({"task": task, "messages": [{"role": "user", "content": question},
                                                     {"role": "assistant", "content": answer}]})
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_lines(arguments.out / "train.jsonl", train)
    write_lines(arguments.out / "heldout.jsonl", held_out)
    print(f"{len(train)} conversations to train on, {len(held_out)} held-out questions")


if __name__ == "__main__":
    main()
