#!/usr/bin/env python3
"""How well measured times carry from one GPU to another.

    scripts/accuracy/scaled_pairs.py --traces FOLDER [--binary build/mystique-sim]
                            [--rows N]

FOLDER holds opdata/, tables of measured operator times. Rows of the same
operator, shape and software stack on two GPUs make a pair. What was measured on
the source, times model(target) / model(source), is compared with what was
measured on the target: for a target with rows of its own, and for the same
target without, so that its kin stand in.

Printed for each family: mean error of the scaled time and of the model alone;
the share of both models' doubt (quadratic sum of the two half-intervals, as
logarithms) within which 90 % of the ratios lie, RATIO_SHARE in predict/carry/scaled.c;
and for the ratio of data sheets alone, by the class of the row, the spread that
covers 90 % (CLASS_SPREAD).
"""
import argparse
import collections
import csv
import gzip
import io
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

NAMES = {"H100-SXM-80GB": "h100", "A100-SXM-80GB": "a100", "L40S": "l40s",
         "B200-SXM-180GB": "b200", "H200-SXM-141GB": "h200",
         "RTX-PRO-6000-Server": "rtx-pro-6000", "MI210": "mi210",
         "MI100": "mi100", "A100-PCIE-40GB": "a100-pcie-40gb", "T4": "t4",
         "V100-PCIE-32GB": "v100-pcie"}
NOT_KEYS = {"gpu", "time_us", "source", "version", "backend"}
Z90 = 1.645


def tables(folder, family, limit):
    """GPU -> {what was run: row}, of keys that two GPUs share."""
    gpus = collections.defaultdict(dict)
    path = folder / "opdata" / f"{family}.csv.gz"
    with gzip.open(path, "rt", newline="") as f:
        reader = csv.DictReader(f)
        fields = reader.fieldnames
        for row in reader:
            if row["gpu"] in NAMES:
                key = tuple(row[k] for k in fields if k not in NOT_KEYS)
                gpus[NAMES[row["gpu"]]][key] = row
    seen = collections.Counter(k for rows in gpus.values() for k in rows)
    rng = random.Random(1)
    for name, rows in gpus.items():
        keys = sorted(k for k in rows if seen[k] > 1)
        rng.shuffle(keys)
        gpus[name] = {k: rows[k] for k in keys}
    shared = sorted(k for k, n in seen.items() if n > 1)
    rng.shuffle(shared)
    keep = set(shared[:limit])
    return fields, {g: {k: r for k, r in rows.items() if k in keep}
                    for g, rows in gpus.items()}


def predict(binary, platform, fields, rows):
    """key -> (us, low, high) of the rows on a platform."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows.values())
    done = subprocess.run([str(binary), "op", "--platform", str(platform), "-"],
                          input=text.getvalue(), capture_output=True,
                          text=True, check=True)
    result = {}
    for key, row in zip(rows, csv.DictReader(io.StringIO(done.stdout))):
        if row["predicted_us"]:
            result[key] = tuple(float(row[c]) for c in
                                ("predicted_us", "low_us", "high_us"))
    return result


def bare(platforms, name, folder):
    """A copy of the platform without rows of its own."""
    sheet = json.loads((platforms / f"{name}.json").read_text())
    sheet["cells"] = []
    sheet["name"] = f"bare-{name}"
    path = folder / f"bare-{name}.json"
    path.write_text(json.dumps(sheet))
    return path


def doubt(source, target, low):
    (a, al, ah), (b, bl, bh) = source, target
    return math.hypot(math.log(b / bl), math.log(ah / a)) if low else \
        math.hypot(math.log(bh / b), math.log(a / al))


class Result:
    def __init__(self):
        self.scaled, self.model, self.shares = [], [], []

    def add(self, pair):
        a, b, source, target = pair
        scaled = a * target[0] / source[0]
        off = math.log(b / scaled)
        self.scaled.append(abs(scaled / b - 1))
        self.model.append(abs(target[0] / b - 1))
        self.shares.append(abs(off) / doubt(source, target, off < 0))

    def text(self):
        return (f"{len(self.scaled):7} scaled {percent(self.scaled)} model "
                f"{percent(self.model)} share {quantile(self.shares):.2f}")


def percent(values):
    return f"{100 * statistics.mean(values):5.1f} %"


def quantile(values):
    return sorted(values)[int(0.9 * len(values))]


def rate(sheet, key):
    return sheet["data_sheet"].get(key, {}).get("value", 0)


def row_class(family, row):
    """The class that a kernel of this row would get from its name."""
    if family == "vector":
        return "memory"
    if family == "attention":
        return "memory" if row["phase"] == "decode" else "tensor"
    narrow = min(int(row["m"]), int(row["n"]))
    return "memory" if narrow <= 32 else "tensor" if narrow >= 256 else None


def class_us(kind, us, a, b, key):
    """predict/carry/scaled.h, on rows."""
    floors = rate(b, "kernel_floor_us") / rate(a, "kernel_floor_us")
    head = min(us, 2.5 * rate(a, "kernel_floor_us"))
    key = "memory_bandwidth" if kind == "memory" else key
    by = rate(a, key) / rate(b, key)
    return ("latency" if head == us else kind), head * floors + (us - head) * by


def classes(family, gpus, sheets, found):
    for s, t in ((s, t) for s in gpus for t in gpus if s != t):
        for key in gpus[s].keys() & gpus[t].keys():
            row = gpus[s][key]
            kind = row_class(family, row)
            half = row["dtype"] in ("bfloat16", "fp16", "float16")
            if not kind or row["framework"] == "NeuSight" or not half:
                continue # NeuSight's rows hold the gap between launches
            kind, us = class_us(kind, float(row["time_us"]), sheets[s],
                                sheets[t], "fp16_flops")
            off = math.log(float(gpus[t][key]["time_us"]) / us)
            found[kind][family].append(off)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    parser.add_argument("--rows", type=int, default=3000)
    args = parser.parse_args()
    platforms = pathlib.Path(__file__).resolve().parents[2] / "data" / "platforms"
    sheets = {n: json.loads((platforms / f"{n}.json").read_text())
              for n in NAMES.values()}
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    folder = pathlib.Path(tempfile.mkdtemp())
    for path in platforms.glob("*.json"):
        (folder / path.name).symlink_to(path.resolve())
    for family in ("gemm", "attention", "vector"):
        fields, gpus = tables(args.traces, family, args.rows)
        results = collections.defaultdict(Result)
        own = {g: predict(args.binary, g, fields, rows)
               for g, rows in gpus.items() if rows}
        left = {g: predict(args.binary, bare(platforms, g, folder), fields,
                           rows) for g, rows in gpus.items() if rows}
        for s, t in ((s, t) for s in own for t in own if s != t):
            same = sheets[s]["generation"] == sheets[t]["generation"]
            kin = "same generation" if same else "other generation"
            for key in own[s].keys() & own[t].keys():
                a, b = (float(gpus[g][key]["time_us"]) for g in (s, t))
                results["rows of its own", kin].add(
                    (a, b, own[s][key], own[t][key]))
                results["left out", kin].add((a, b, own[s][key], left[t][key]))
        for (what, kin), result in sorted(results.items()):
            print(f"{family:10} {what:16} {kin:17} {result.text()}")
        classes(family, gpus, sheets, found)
    for kind, families in sorted(found.items()):
        spreads = {f: quantile([abs(x) for x in v]) / Z90
                   for f, v in families.items()}
        print(f"class {kind:8} spread {statistics.mean(spreads.values()):.2f} "
              + "  ".join(f"{f} {s:.2f} ({len(families[f])}, median "
                          f"{statistics.median(families[f]):+.2f})"
                          for f, s in sorted(spreads.items())))


if __name__ == "__main__":
    main()
