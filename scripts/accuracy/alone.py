#!/usr/bin/env python3
"""How much longer a product by itself takes than one that a CUDA graph repeats.

    scripts/accuracy/alone.py --tables FOLDER

FOLDER has gemm.csv.gz. Rows of vidur are kernels as a profiler saw them; those of
vLLM, SGLang and TensorRT-LLM are of graphs of the same product. Products that
both have timed on one GPU, up to 100 us, give time = start + rate * row, by the
least mean |log error| (a grid: starts of a tenth of a microsecond, rates of a
hundredth). The start is ALONE_US of models/estimate/gemm.c.
"""
import argparse
import collections
import csv
import gzip
import math
import pathlib
import statistics

GRAPHS = ("vllm", "sglang", "trtllm")
MOST_US = 100


def pairs(tables):
    """{GPU: [(shortest row of a graph, median of vidur's), ...]}"""
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(pathlib.Path(tables) / "gemm.csv.gz", "rt") as f:
        for r in csv.DictReader(f):
            if r["dtype"] in ("fp16", "bfloat16"):
                times[r["gpu"], r["m"], r["n"], r["k"]][r["framework"]].append(
                    float(r["time_us"]))
    out = collections.defaultdict(list)
    for (gpu, *_), by in times.items():
        rows = [t for f in GRAPHS for t in by.get(f, [])]
        if rows and "vidur" in by and min(rows) < MOST_US:
            out[gpu].append((min(rows), statistics.median(by["vidur"])))
    return out


def fit(points):
    return min((statistics.mean(abs(math.log(alone / (start / 10 + rate / 100 * row)))
                                for row, alone in points), start / 10, rate / 100)
               for start in range(-10, 60) for rate in range(90, 131))


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--tables", required=True)
    for gpu, points in sorted(pairs(a.parse_args().tables).items()):
        error, start, rate = fit(points)
        print(f"{gpu}: {len(points)} products, start {start:.1f} us, rate "
              f"{rate:.2f}, mean error {100 * error:.1f} %")


if __name__ == "__main__":
    main()
