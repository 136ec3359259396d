#!/usr/bin/env python3
"""How far `calibrate --from` carries: learned from some traces of a machine, it
is asked for others of the same model that it did not see.

    learned.py --traces FOLDER --binary PROGRAM [--out FILE.csv] [--check FILE.csv]

FOLDER is the one that holds traces/. --check fails where an error differs from
the file by more than half a point, or where learning does not halve the mean
error of a family whose base errs by more than 10 %.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PARTICLE = "particle-transformer-a100/kineto/batch-{}.json.gz"
RESNET = "resnet50-v100/kineto/{}.json.gz"

# Family, base (None: the traces' GPU), learned from, asked for.
CASES = [
    ("particle-transformer, small to large", None,
     [PARTICLE.format(b) for b in (2, 8, 32)],
     [PARTICLE.format(b) for b in (128, 512)]),
    ("particle-transformer, large to small", None,
     [PARTICLE.format(b) for b in (128, 512)],
     [PARTICLE.format(b) for b in (2, 8, 32)]),
    ("particle-transformer, every other", None,
     [PARTICLE.format(b) for b in (2, 32, 512)],
     [PARTICLE.format(b) for b in (8, 128)]),
    ("resnet50-v100", "v100",
     [RESNET.format("list-format-2020")],
     [RESNET.format(w) for w in ("workers-0", "workers-4")]),
]
COLUMNS = ["family", "trace", "base_error_percent", "learned_error_percent"]


def kernels(binary, platform, trace):
    """(predicted, measured) kernel time in us; platform None: as measured."""
    options = ["--costs", "model", "--platform", platform] if platform else []
    run = subprocess.run([binary, *options, "--json", trace], check=True,
                         capture_output=True, text=True)
    return json.loads(run.stdout)["kernel_us"]["predicted"]


def learn(binary, base, traces, out):
    """Learn from traces; returns the base's name."""
    options = ["--platform", base] if base else []
    subprocess.run([binary, "calibrate", "--from", *traces, *options, "--out", out],
                   check=True, capture_output=True)
    return json.loads(Path(out).read_text())["base"]


def rows(binary, folder):
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/learned.json"
        for family, base, source, asked in CASES:
            name = learn(binary, base, [f"{folder}/{t}" for t in source], out)
            for trace in asked:
                path = f"{folder}/{trace}"
                want = kernels(binary, None, path)
                errors = [100 * (kernels(binary, p, path) / want - 1) for p in (name, out)]
                yield [family, trace, *(f"{e:.1f}" for e in errors)]


def check(found, file):
    """What is wrong, a line each."""
    with open(file, newline="", encoding="utf-8") as committed:
        known = list(csv.reader(committed))[1:]
    if [r[:2] for r in known] != [r[:2] for r in found]:
        yield f"{file} has other cases"
        return
    for old, new in zip(known, found):
        if any(abs(float(a) - float(b)) > 0.5 for a, b in zip(old[2:], new[2:])):
            yield f"{new[1]}: {new[2:]} %, {file} has {old[2:]}"
    for family in {r[0] for r in found}:
        base, learned = (
            [abs(float(r[i])) for r in found if r[0] == family] for i in (2, 3))
        if sum(base) > 10 * len(base) and sum(learned) > sum(base) / 2:
            yield f"{family}: learning does not halve the error"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--out")
    parser.add_argument("--check")
    options = parser.parse_args()
    found = list(rows(options.binary, f"{options.traces}/traces"))
    with open(options.out or "/dev/stdout", "w", newline="", encoding="utf-8") as to:
        csv.writer(to, lineterminator="\n").writerows([COLUMNS, *found])
    wrong = list(check(found, options.check)) if options.check else []
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
