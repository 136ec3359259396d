#!/usr/bin/env python3
"""Simulated periods against traced ones, over every set of real traces.

    scripts/accuracy/period.py --traces FOLDER [--binary build/mystique-sim]
                      [--out tests/accuracy/period.csv | --check]

FOLDER holds traces/ (see docs/accuracy/README.md). Every job is run under
measured costs; the period (docs/predict.md) of the simulated run is compared
with that of the trace. --out writes the table that is committed; --check
compares with it, and fails where the mean error is above 0.5 % or one is above
2 %.
"""
import argparse
import csv
import pathlib
import statistics
import sys

from accuracy import CASES, run

MEAN, WORST = 0.5, 2.0  # percent
FIELDS = ["case", "state", "iterations", "traced_us", "simulated_us",
          "error_percent"]


def row(binary, traces, name, inputs):
    p = run(binary, "measured", None, [traces / i for i in inputs])
    us, of = p["period_us"], p["period_of"]
    error = 100 * abs(us["predicted"] / us["measured"] - 1)
    return {"case": name, "state": of["state"],
            "iterations": str(of["iterations"]),
            "traced_us": f"{us['measured']:.3f}",
            "simulated_us": f"{us['predicted']:.3f}",
            "error_percent": f"{error:.3f}"}


def check(rows, committed):
    with open(committed, newline="", encoding="utf-8") as f:
        old = list(csv.DictReader(f))
    for a, b in zip(old, rows):
        if a != b:
            print(f"FAIL {a['case']}: committed {a}, now {b}")
    errors = [float(r["error_percent"]) for r in rows]
    mean, worst = statistics.mean(errors), max(errors)
    ok = mean <= MEAN and worst <= WORST
    print(f"{'ok  ' if ok else 'FAIL'} simulated period against traced: mean "
          f"{mean:.3f} % of {len(rows)}, want {MEAN} at most; worst "
          f"{worst:.3f} %, want {WORST} at most")
    return 0 if ok and old == rows else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path)
    what.add_argument("--check", action="store_true")
    args = parser.parse_args()
    cases = [(name, inputs) for name, inputs, _ in CASES]
    rows = [row(args.binary, args.traces / "traces", *c) for c in cases]
    if args.check:
        sys.exit(check(rows, pathlib.Path(__file__).parents[2] /
                       "tests/accuracy/period.csv"))
    with open(args.out, "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
