#!/usr/bin/env python3
"""What a lower power limit does: two cards that differ in little else.

    power_pair.py OPDATA-DIR

An A100 PCIe of 40 GB (250 W) and one of 80 GB (300 W) have the same
multiprocessors and boost clock; public tables hold the same work on both.
Prints the median ratio of times of products near the peak, which the power
limit slows down, and of additions, which memory bounds: there it should be the
ratio of bandwidths. models/platform/sm_clock.c takes its constants from the first.
"""

import collections
import csv
import gzip
import math
import pathlib
import statistics
import sys

SLOW, FAST = "A100-PCIE-40GB", "A100-PCIE-80GB"
PEAK = 19.5e6  # FLOP/us in fp32
LONG_US = 300  # launch gaps of the source are 24 to 60 us
BANDWIDTHS = 1935 / 1555
LIMITS = 250 / 300


def pairs(path, keys):
    """{key: {gpu: us}} of the work that both cards have."""
    found = collections.defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["framework"] == "NeuSight" and row["gpu"] in (SLOW, FAST):
                found[tuple(row[k] for k in keys)][row["gpu"]] = float(
                    row["time_us"])
    return {k: v for k, v in found.items()
            if len(v) == 2 and v[SLOW] > LONG_US}


def clock(exponent, idle):
    """The clock that a cap keeps, by the law of models/platform/sm_clock.h."""
    return ((LIMITS - idle) / (1 - idle)) ** (1 / exponent)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    folder = pathlib.Path(sys.argv[1])
    products = pairs(folder / "gemm.csv.gz", ("op", "m", "n", "k", "batch"))
    near = [v[SLOW] / v[FAST] for k, v in products.items()
            if 2 * math.prod(map(float, k[1:])) / v[FAST] > 0.75 * PEAK]
    added = [v[SLOW] / v[FAST] for k, v in pairs(
        folder / "vector.csv.gz", ("op", "dtype", "shape")).items()
        if k[0] == "add"]
    print(f"{len(near)} products near the peak: {statistics.median(near):.4f} "
          f"times as long; the law says {1 / clock(2.5, 0.25):.4f}")
    print(f"{len(added)} additions: {statistics.median(added):.4f} times as "
          f"long; the bandwidths say {BANDWIDTHS:.4f}")


if __name__ == "__main__":
    main()
