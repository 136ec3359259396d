#!/usr/bin/env python3
"""How much longer attention without a mask is predicted by rows of masked one.

    scripts/accuracy/unmasked.py --opdata FOLDER [--binary build/mystique-sim]

Of each GPU that has rows of both, and of its generation, the fits of unmasked
attention ("encoder") are left out, so that those of "prefill" stand in, as on a
GPU without. A line a stack and GPU: the median of log(predicted / measured)
over its rows, the mean error, and the mean error where the median of the other
GPUs of the stack is taken off. data/laws/kernels.csv has the median of stacks
whose GPUs agree (attention,unmasked).
"""
import argparse
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

COLUMNS = "framework phase batch heads kv_heads q_len kv_len head_dim dtype".split()
ROWS = 500 # of a stack and GPU, drawn


def is_unmasked(cell):
    return cell["law"] == "attention" and cell["key"] == "encoder"


def platforms(data):
    """{name in the tables: (path, generation)} of GPUs with both."""
    found = {}
    for path in sorted((data / "platforms").glob("*.json")):
        platform = json.loads(path.read_text(encoding="utf-8"))
        for cell in filter(is_unmasked, platform.get("cells", [])):
            found[cell["table_gpu"]] = path, platform["generation"]
    return found


def without(data, generation, folder):
    """A copy of `data` without unmasked attention of a generation."""
    shutil.copytree(data, folder, dirs_exist_ok=True)
    for path in (folder / "platforms").glob("*.json"):
        platform = json.loads(path.read_text(encoding="utf-8"))
        if platform.get("generation") == generation and "cells" in platform:
            platform["cells"] = [c for c in platform["cells"] if not is_unmasked(c)]
            path.write_text(json.dumps(platform), encoding="utf-8")


def residuals(binary, data, platform, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as f:
        out = csv.DictWriter(f, COLUMNS, extrasaction="ignore")
        out.writeheader()
        out.writerows(dict(r, phase="encoder") for r in rows)
    done = subprocess.run([binary, "op", "--platform", platform, f.name], text=True,
                          capture_output=True, check=True,
                          env=dict(os.environ, MSIM_DATA=str(data)))
    os.unlink(f.name)
    return [math.log(float(a["predicted_us"]) / float(r["time_us"]))
            for r, a in zip(rows, csv.DictReader(done.stdout.splitlines()))]


def read(path):
    rows = collections.defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            if r["phase"].startswith("encoder"):
                rows[r["framework"], r["gpu"]].append(r)
    return rows


def percent(logs):
    return 100 * statistics.mean(map(abs, logs))


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    a.add_argument("--opdata", required=True)
    a.add_argument("--binary", default="build/mystique-sim")
    a.add_argument("--data", default="data")
    args = a.parse_args()
    data = pathlib.Path(args.data).resolve()
    binary = str(pathlib.Path(args.binary).resolve())
    tables = read(pathlib.Path(args.opdata) / "attention.csv.gz")
    found = {}
    for gpu, (path, generation) in platforms(data).items():
        with tempfile.TemporaryDirectory() as folder:
            without(data, generation, pathlib.Path(folder))
            for (stack, of), rows in sorted(tables.items()):
                if of == gpu:
                    drawn = random.Random(1).sample(rows, min(ROWS, len(rows)))
                    found[stack, gpu] = residuals(binary, folder, path.stem, drawn)
    print("| stack | GPU | rows | median | error | without the others' median |")
    print("|---|---|---|---|---|---|")
    for (stack, gpu), logs in sorted(found.items()):
        others = statistics.median(statistics.median(l) for (s, g), l in found.items()
                                   if s == stack and g != gpu)
        print(f"| {stack} | {gpu} | {len(logs)} | {100 * statistics.median(logs):+.1f} % | "
              f"{percent(logs):.1f} % | {percent([l - others for l in logs]):.1f} % |")


if __name__ == "__main__":
    main()
