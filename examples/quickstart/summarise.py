"""Joins the results of the quickstart's steps into summary.json, or shows them (--show)."""

import argparse
import json
import pathlib


def read(path: pathlib.Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def collect(job: pathlib.Path, arguments: argparse.Namespace) -> dict:
    pretrain, sft = read(job / "pretrain/summary.json"), read(job / "sft/summary.json")
    before, after = (read(job / f"sft/eval/match_{when}.json")["tasks"] for when in ("before", "after"))
    seconds = {"setup_seconds": arguments.setup_seconds, "build_seconds": arguments.build_seconds,
               "job_seconds": arguments.job_seconds}
    return {
        "heldout_loss_before": pretrain["heldout_loss_before"],
        "heldout_loss_after": pretrain["heldout_loss_after"],
        "right_answers_before": {task: counts["share"] for task, counts in before.items()},
        "right_answers_after": {task: counts["share"] for task, counts in after.items()},
        "standard_error_before": {task: counts["standard_error"] for task, counts in before.items()},
        "standard_error_after": {task: counts["standard_error"] for task, counts in after.items()},
        "questions": {task: counts["questions"] for task, counts in after.items()},
        "tokens_per_second": pretrain["tokens_per_second"],
        "sft_tokens_per_second": sft["tokens_per_second"],
        "peak_memory_bytes": max(pretrain["peak_memory_bytes"], sft["peak_memory_bytes"]),
        **seconds,
    }


def show(summary: dict) -> None:
    print(f"held-out loss      {summary['heldout_loss_before']:.4f} -> {summary['heldout_loss_after']:.4f} nats a token")
    for task, share in summary["right_answers_after"].items():
        gain = 100 * (share - summary["right_answers_before"][task])
        error = 100 * (summary["standard_error_before"][task] ** 2 + summary["standard_error_after"][task] ** 2) ** 0.5
        print(f"{task:<18} {100 * summary['right_answers_before'][task]:.1f} % -> {100 * share:.1f} % right of "
              f"{summary['questions'][task]} ({gain:+.1f} points, standard error {error:.1f})")
    print(f"speed              {summary['tokens_per_second']:.0f} tokens/s, "
          f"peak memory {summary['peak_memory_bytes'] / 2**30:.1f} GiB")
    print(f"time               set-up {summary['setup_seconds']:.0f} s, build {summary['build_seconds']:.0f} s, "
          f"job {summary['job_seconds']:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    for name in ("setup", "build", "job"):
        parser.add_argument(f"--{name}-seconds", type=float, default=0.0)
    arguments = parser.parse_args()
    target = arguments.job / "summary.json"
    if arguments.show:
        show(read(target))
        return
    temporary = target.with_suffix(".tmp")
    temporary.write_text(json.dumps(collect(arguments.job, arguments), indent=2) + "\n", encoding="utf-8")
    temporary.replace(target)


if __name__ == "__main__":
    main()
