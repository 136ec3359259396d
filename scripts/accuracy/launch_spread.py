#!/usr/bin/env python3
"""How far sizes that launches tell are from shapes (core/work/kernel/infer.h).

    scripts/accuracy/launch_spread.py --traces FOLDER [--launch build/tests/launch_spread]
                             [--check]

Kernels of traces that record shapes are estimated both ways by the same laws:
as if there were no shapes, from names, launches and neighbours, and from the
shapes. No GPU time is read: the comparison is of the model with itself. Prints,
for each kind of kernel and each way to know its size, how many unlike operators
there are, in how many traces, the median of the logarithm of the ratio, its
root mean square with every trace of equal weight, the spread that the model
states (core/work/kernel/infer_work.c), and how many operators are within that, as 90 %
should be. --check fails where the root mean square is above the stated spread.
"""
import argparse
import collections
import math
import pathlib
import statistics
import subprocess
import sys

import accuracy

# Those with shapes in all or most operators.
WITH_SHAPES = ("vgg13-h100", "dlrm-8xv100", "resnet50-ddp-2xa100 with its ET",
               "ranking-a100", "resnet50-v100/workers-0", "linear-2080ti",
               "resnet-2080ti", "particle-transformer-a100/batch-2",
               "particle-transformer-a100/batch-32",
               "particle-transformer-a100/batch-512", "Falconsai/h100",
               "Falconsai/mi300", "gaunernst/h100", "gaunernst/mi300")
Z90 = 1.645


def ratios(binary, traces):
    """(kind, how its size is known) to trace to [(log ratio, stated)]."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, inputs, platform in accuracy.CASES:
        if name not in WITH_SHAPES:
            continue
        done = subprocess.run([binary, platform] + [traces / i for i in inputs],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"launch_spread.py: {name}: {done.stderr.strip()}")
        for line in done.stdout.splitlines():
            kind, how, log, stated = line.split("\t")[:4]
            found[kind, how][name].append((float(log), float(stated)))
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--launch", type=pathlib.Path,
                        default=pathlib.Path("build/tests/launch_spread"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failed = False
    print(f"{'kind':24} {'size':8} {'n':>5} {'sets':>4} {'median':>7} "
          f"{'rms':>5} {'stated':>6} {'within':>6}")
    for (kind, how), sets in sorted(
            ratios(args.launch, args.traces / "traces").items()):
        rows = [r for rows in sets.values() for r in rows]
        rms = math.sqrt(statistics.mean(
            statistics.mean(log * log for log, _ in rows)
            for rows in sets.values()))
        stated = max(spread for _, spread in rows)
        within = sum(abs(log) <= Z90 * spread for log, spread in rows)
        failed |= rms > stated
        print(f"{kind:24} {how:8} {len(rows):5} {len(sets):4} "
              f"{statistics.median(log for log, _ in rows):+7.2f} {rms:5.2f} "
              f"{stated:6.2f} {100 * within / len(rows):5.0f} %"
              f"{'  ABOVE' if rms > stated else ''}")
    sys.exit(1 if args.check and failed else 0)


if __name__ == "__main__":
    main()
