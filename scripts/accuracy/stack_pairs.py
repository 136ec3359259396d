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


def read(path):
    """{product: {stack: times}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            product = tuple(r[c] for c in ("dtype", "gpu", "m", "n", "k", "batch"))
            found[product][r["framework"]].append(float(r["time_us"]))
    return found


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    a.add_argument("--opdata", required=True)
    pairs = collections.defaultdict(list)
    for product, stacks in read(pathlib.Path(a.parse_args().opdata) / "gemm.csv.gz").items():
        for one, other in itertools.combinations(sorted(stacks), 2):
            pairs[product[:2] + (one, other)].append(
                math.log(statistics.median(stacks[one]) / statistics.median(stacks[other])))
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
