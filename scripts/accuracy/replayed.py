#!/usr/bin/env python3
"""Predicted operators against replayed ones, on the CPU of this machine.

    scripts/accuracy/replayed.py --platform FILE [--program FILE] [--out FILE.csv]
                                 [TRACE...]

FILE is what `mystique-sim calibrate --backend cpu` wrote on this machine within
the hour; every TRACE (the samples in data/traces by default) is replayed and
compared by `validate`. The error is that of the time of all operators together:
the calibration has not seen the traces. Each is replayed three times and the
middle one counts; even so the machine has to be quiet, since whatever else runs
takes its share.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ["case", "operators", "replayed_us", "predicted_us", "error_percent"]


def replay(program, platform, trace, folder):
    """The time of all operators together: replayed and predicted."""
    replayed = pathlib.Path(folder) / "replayed.json.gz"
    subprocess.run([program, "replay", "--backend", "cpu", "--iterations", "5",
                    "--warmup", "1", "-o", replayed, trace],
                   check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([program, "validate", "--json", "--platform", platform,
                          trace, replayed], check=True, stdout=subprocess.PIPE)
    rows = {r["name"]: r for r in json.loads(out.stdout)["rows"]}
    return rows["operators"]


def row(program, platform, trace, folder):
    runs = [replay(program, platform, trace, folder) for _ in range(3)]
    whole = sorted(runs, key=lambda r: r["replayed_us"])[1]
    return {"case": trace.name, "operators": whole["operators"],
            "replayed_us": f"{whole['replayed_us']:.0f}",
            "predicted_us": f"{whole['predicted_us']:.0f}",
            "error_percent": f"{100 * whole['prediction_error']:.1f}"}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--platform", required=True)
    p.add_argument("--program", default=str(ROOT / "build" / "mystique-sim"))
    p.add_argument("--out")
    p.add_argument("traces", nargs="*", type=pathlib.Path)
    args = p.parse_args()
    traces = args.traces or sorted(
        t for t in (ROOT / "data" / "traces").iterdir() if t.is_dir())
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(args.program, args.platform, t, folder) for t in traces]
    for r in rows:
        print("  ".join(f"{r[f]:>12}" for f in FIELDS))
    errors = [abs(float(r["error_percent"])) for r in rows]
    print(f"mean error {statistics.mean(errors):.1f} %, worst {max(errors):.1f} %")
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as f:
            w = csv.DictWriter(f, FIELDS, lineterminator="\n")
            w.writeheader()
            w.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
