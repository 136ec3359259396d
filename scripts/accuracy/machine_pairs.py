#!/usr/bin/env python3
"""How far machines with the same GPU and links differ on the same collective.

    scripts/accuracy/machine_pairs.py --opdata FOLDER

Collectives of NCCL inside a node whose GPUs reach each other through switches,
timed by two sources at sizes within a half octave. A line a pair of sources and
range of sizes: the mean of log(time / time of the other), and the deviation of
one machine from what two have in common, which is the root mean square over
sqrt(2). The medians over pairs are in data/laws/kernels.csv
(machine,small_log_sd and machine,large_log_sd).
"""
import argparse
import collections
import math
import pathlib
import statistics

from stack_pairs import logs_of_pairs

RANGES = ((20, "up to 1 MiB"), (26, "up to 64 MiB"), (99, "beyond"))
ROWS = 3 # that a pair has in common, at least
# GPUs that differ in memory alone have the same links.
ALIKE = {"A100-SXM-40GB": "A100", "A100-SXM-80GB": "A100",
         "H100-SXM-80GB": "H100", "H200-SXM-141GB": "H100"}


def collective(row):
    if row["framework"] != "nccl" or row["nodes"] != "1" or "pairwise" in row["interconnect"]:
        return None
    octave = round(2 * math.log2(float(row["bytes"]))) / 2
    return ALIKE.get(row["gpu"], row["gpu"]), octave, row["collective"], row["ranks"]


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    a.add_argument("--opdata", required=True)
    pairs = collections.defaultdict(list)
    path = pathlib.Path(a.parse_args().opdata) / "collective.csv.gz"
    for (gpu, octave, *_), one, other, log in logs_of_pairs(path, collective, "source"):
        size = next(name for most, name in RANGES if octave <= most)
        pairs[size, gpu, one, other].append(log)
    print("| size | GPU | sources | rows | mean | deviation of one |")
    print("|---|---|---|---|---|---|")
    deviations = collections.defaultdict(list)
    for (size, gpu, one, other), logs in sorted(pairs.items()):
        if len(logs) < ROWS:
            continue
        deviations[size].append(math.sqrt(statistics.mean(x * x for x in logs) / 2))
        print(f"| {size} | {gpu} | {one}, {other} | {len(logs)} | "
              f"{statistics.mean(logs):+.2f} | {deviations[size][-1]:.2f} |")
    for _, size in RANGES:
        print(f"{size}: median {statistics.median(deviations[size]):.2f} "
              f"of {len(deviations[size])} pairs")


if __name__ == "__main__":
    main()
