#!/usr/bin/env python3
"""How far stacks differ on the same product of matrices.

    scripts/accuracy/stack_pairs.py --opdata FOLDER

A line a type, GPU and pair of stacks that timed 20 products alike and more: the
mean and the standard deviation of log(time / time of the other). The medians of
the deviations in 8 and in 4 bits are in data/laws/kernels.csv
(narrow_product,fp8_log_sd and narrow_product,fp4_log_sd).
"""
import argparse
import collections
import csv
import gzip
import itertools
import math
import pathlib
import statistics

ROWS = 20 # that a pair has in common, at least


def logs_of_pairs(path, what, who):
    """(what, one, other, log(time / time of the other)) of all that two have in
    common; `what` and `who` are made of a row, None: it is left out."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            if what(r) is not None:
                found[what(r)][r[who]].append(float(r["time_us"]))
    for key, times in found.items():
        for one, other in itertools.combinations(sorted(times), 2):
            yield key, one, other, math.log(statistics.median(times[one]) /
                                            statistics.median(times[other]))


def product(row):
    return tuple(row[c] for c in ("dtype", "gpu", "m", "n", "k", "batch"))


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    a.add_argument("--opdata", required=True)
    pairs = collections.defaultdict(list)
    path = pathlib.Path(a.parse_args().opdata) / "gemm.csv.gz"
    for key, one, other, log in logs_of_pairs(path, product, "framework"):
        pairs[key[:2] + (one, other)].append(log)
    print("| type | GPU | stacks | products | mean | standard deviation |")
    print("|---|---|---|---|---|---|")
    deviations = collections.defaultdict(list)
    for (dtype, gpu, one, other), logs in sorted(pairs.items()):
        if len(logs) < ROWS:
            continue
        deviations[dtype].append(statistics.pstdev(logs))
        print(f"| {dtype} | {gpu} | {one}, {other} | {len(logs)} | "
              f"{statistics.mean(logs):+.2f} | {deviations[dtype][-1]:.2f} |")
    for dtype, sds in deviations.items():
        print(f"{dtype}: median {statistics.median(sds):.2f} of {len(sds)} pairs")


if __name__ == "__main__":
    main()
