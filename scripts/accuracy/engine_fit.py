#!/usr/bin/env python3
"""A constant of engines that no documentation has, by measured closed loops.

    scripts/accuracy/engine_fit.py --traces FOLDER --engine vllm
        --column output_spread --values 0.01,0.03,0.06,0.1 [--build build]

Tries each value in data/engines/defaults.csv, builds the program with it, and prints
how far the rows of that engine in FOLDER/serving/silicon.csv.gz are off (medians, per
cent) as `serve --rows` answers them. The value with the least error, TPOT and a quarter
of TTFT as in msim-fit-serving, stays in the table; where none is better than the one
that stands by more than half a per cent, that one stays.
"""
import argparse
import csv
import gzip
import pathlib
import statistics
import subprocess
import sys
import tempfile

TABLE = pathlib.Path("data/engines/defaults.csv")
BETTER = 0.5  # per cent: less is chance
TTFT_WEIGHT = 0.25


def put(text, engine, column, value):
    """The table with one field changed; the source, which is last, has commas."""
    lines = text.splitlines()
    at = lines[0].split(",").index(column)
    for i, line in enumerate(lines):
        fields = line.split(",", lines[0].count(","))
        if fields[0] == engine:
            fields[at] = value
            lines[i] = ",".join(fields)
    return "\n".join(lines) + "\n"


def rows_of(serving, engine, out):
    with gzip.open(serving / "silicon.csv.gz", "rt", newline="") as table:
        rows = csv.DictReader(table)
        write = csv.DictWriter(out, rows.fieldnames, lineterminator="\n")
        write.writeheader()
        write.writerows(r for r in rows if r["backend"] == engine)


def errors(build, serving, points):
    subprocess.run(["ninja", "-C", build, "mystique-sim"], check=True,
                   stdout=subprocess.DEVNULL)
    out = subprocess.run([build / "mystique-sim", "serve", "--rows", points, "--models",
                          serving / "models", "--csv"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    answered = [r for r in csv.DictReader(out.splitlines()) if r["tpot_ms"]]
    if not answered:
        sys.exit(f"{points}: no row is answered, want some of that engine")
    return [100 * statistics.median(abs(float(r[f]) / float(r["measured_" + f]) - 1)
                                    for r in answered if r["measured_" + f])
            for f in ("ttft_ms", "tpot_ms")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--column", required=True)
    parser.add_argument("--values", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    args = parser.parse_args()
    serving, text = args.traces / "serving", TABLE.read_text()
    stands = next(r[args.column] for r in csv.DictReader(text.splitlines())
                  if r["engine"] == args.engine)
    values = [stands] + [v for v in args.values.split(",") if v != stands]
    off = {}
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as points:
        rows_of(serving, args.engine, points)
        points.flush()
        try:
            for value in values:
                TABLE.write_text(put(text, args.engine, args.column, value))
                ttft, tpot = errors(args.build, serving, points.name)
                off[value] = tpot + TTFT_WEIGHT * ttft
                print(f"{args.column} {value:>6}  TTFT {ttft:6.2f} %  TPOT {tpot:6.2f} %",
                      flush=True)
        finally:
            TABLE.write_text(text)
    best = min(values, key=off.get)
    if off[best] > off[stands] - BETTER:
        best = stands
    TABLE.write_text(put(text, args.engine, args.column, best))
    print(f"{args.engine}: {best} stands")


if __name__ == "__main__":
    main()
