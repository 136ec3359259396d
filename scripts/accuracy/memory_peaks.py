#!/usr/bin/env python3
"""Predicted peaks of memory against those that captures measured.

    scripts/accuracy/memory_peaks.py [--binary build/mystique-sim]
                [--out tests/accuracy/memory_peaks.csv | --check] [CAPTURE ...]

A CAPTURE is a folder that scripts/capture.py wrote on a CPU: its meta.json
holds the most that tensors held at once, by the profiler's allocation events.
Without one, those of data/traces. The rank that the prediction is of is compared
(a rank of gloo may hold a bucket twice or not, as its threads meet). --out writes
the table that is committed; --check compares with it, and fails where the mean
error is above 3 % or one is above 10 %.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys

MEAN, WORST = 3.0, 10.0  # percent
FIELDS = ["capture", "measured_bytes", "predicted_bytes", "error_percent"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def row(binary, folder):
    done = subprocess.run([binary, "predict", "--json", "--costs", "measured",
                           folder], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    predicted = json.loads(done.stdout)["memory_bytes"]
    meta = json.loads((folder / "meta.json").read_text())
    measured = meta["ranks"][predicted["rank"]]["peak_memory"]["bytes"]
    return {"capture": folder.name, "measured_bytes": str(measured),
            "predicted_bytes": f"{predicted['peak']:.0f}",
            "error_percent":
                f"{100 * (predicted['peak'] / measured - 1):.2f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("captures", nargs="*", type=pathlib.Path)
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    folders = args.captures or sorted(
        p.parent for p in (ROOT / "data/traces").glob("*/meta.json"))
    rows = [row(args.binary, folder) for folder in folders]
    errors = [abs(float(r["error_percent"])) for r in rows]
    out = args.out.open("w", newline="") if args.out else sys.stdout
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if args.out:
        out.close()
    print(f"mean {statistics.mean(errors):.2f} %, worst {max(errors):.2f} %",
          file=sys.stderr)
    if not args.check:
        return 0
    with open(ROOT / "tests/accuracy/memory_peaks.csv", newline="") as f:
        same = list(csv.DictReader(f)) == rows
    if not same:
        print("not as in tests/accuracy/memory_peaks.csv", file=sys.stderr)
    return not (same and statistics.mean(errors) <= MEAN
                and max(errors) <= WORST)


if __name__ == "__main__":
    sys.exit(main())
