"""Joins the results of the example's steps into summary.json, or shows them (--show)."""

import argparse
import json
import pathlib


def read(path: pathlib.Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def collect(job: pathlib.Path, job_seconds: float) -> dict:
    stages = [read(job / f"stage{k}/summary.json") for k in (1, 2)]
    choices = {name: read(job / f"eval/{name}.json") for name in ("picture", "grey")}
    return {
        "heldout_loss_before": stages[0]["heldout_loss_before"],
        "heldout_loss_between": stages[0]["heldout_loss_after"],
        "heldout_loss_after": stages[1]["heldout_loss_after"],
        "questions": choices["picture"]["questions"],
        **{f"right_captions.{name}": one["mean"]["share"] for name, one in choices.items()},
        **{f"standard_error.{name}": one["mean"]["standard_error"] for name, one in choices.items()},
        "tokens_per_second": stages[1]["tokens_per_second"],
        "peak_memory_bytes": max(stage["peak_memory_bytes"] for stage in stages),
        "job_seconds": job_seconds,
    }


def show(summary: dict) -> None:
    print("held-out loss      " + " -> ".join(f"{summary[f'heldout_loss_{when}']:.4f}" for when in ("before", "between", "after"))
          + " nats a token (before, after stage 1, after stage 2)")
    for name, what in (("picture", "with the picture"), ("grey", "with a grey one")):
        print(f"right caption      {100 * summary[f'right_captions.{name}']:.1f} % of {summary['questions']} {what} "
              f"(ten choices, standard error {100 * summary[f'standard_error.{name}']:.1f})")
    print(f"speed              {summary['tokens_per_second']:.0f} tokens/s, "
          f"peak memory {summary['peak_memory_bytes'] / 2**30:.1f} GiB")
    print(f"time               job {summary['job_seconds']:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--job-seconds", type=float, default=0.0)
    arguments = parser.parse_args()
    target = arguments.job / "summary.json"
    if arguments.show:
        show(read(target))
        return
    temporary = target.with_suffix(".tmp")
    temporary.write_text(json.dumps(collect(arguments.job, arguments.job_seconds), indent=2) + "\n", encoding="utf-8")
    temporary.replace(target)


if __name__ == "__main__":
    main()
