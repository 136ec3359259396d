#!/usr/bin/env python3
"""How well `size` plans, on a simulated cluster.

    scripts/accuracy/serving_size.py --plant PLANT --topologies DIR
        [--methods union,convolution,search] [--only NAME,...] [--build build]

PLANT is the program of a cluster (`cc -O2 -o plant plant.c -lm` of the shared
serving folder), DIR the folder of its topologies: NAME.app.json (what `size`
reads), NAME.plant.json (what the plant alone reads) and NAME.oracle.json (a
plan found by local search on the plant, and the rate).

Each plan is run on the plant for 60,000 requests with each of three seeds. Into
tests/accuracy/serving_size.csv, a line an application and a method:

* kept: 1: with no seed more than 1.2 % late in any class with a promise of 99 %
  (in general 1.2 times what is allowed); 0: broken; refused: `size` found none
* replicas, oracle: of the plan, of the oracle's
* late, predicted: share of late requests in the class that is worst on the
  plant, per cent; off: the largest difference of the two over classes, points
* least, most: ends of the predicted 90 % interval of that class
* explored: replica-seconds a stage; seconds: of `size`
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REQUESTS = 60000
WARM = 0.1  # of a run of the plant is in no figure
SEEDS = (101, 102, 103)
PATIENCE = 1.2
COLUMNS = ["application", "method", "kept", "replicas", "oracle", "late",
           "predicted", "least", "most", "off", "explored", "seconds", "reason"]


def limits(app):
    """Allowed share of late requests, by class."""
    names = [c["name"] for c in app["classes"]]
    out = {}
    for promise in app["slo"]:
        for name in names if promise["class"] == "all" else [promise["class"]]:
            out[name] = 1 - promise["percentile"] / 100
    return out


def run_plant(args, name, plan, rate):
    """Shares of late requests, by class, a list of seeds."""
    late = {}
    for seed in SEEDS:
        done = subprocess.run(
            [args.plant, "run", f"{args.topologies}/{name}.plant.json", "--plan",
             plan, "--rate", str(rate), "--seconds",
             str(REQUESTS / rate / (1 - WARM)), "--seed", str(seed)],
            capture_output=True, text=True, check=True)
        for cls, row in json.loads(done.stdout)["classes"].items():
            late.setdefault(cls, []).append(row["violations"])
    return late


def judge(args, name, method, folder):
    """One line of the table."""
    oracle = json.loads((args.topologies / f"{name}.oracle.json").read_text())
    app_path = args.topologies / f"{name}.app.json"
    allowed = limits(json.loads(app_path.read_text()))
    plan_path = f"{folder}/plan.json"
    begin = time.monotonic()
    done = subprocess.run(
        [f"{args.build}/mystique-sim", "size", str(app_path), "--rate",
         str(oracle["rate"]), "--method", method, "--explore",
         f"'{args.plant}' explore '{args.topologies}/{name}.plant.json'",
         "-o", plan_path], capture_output=True, text=True, check=False)
    row = {"application": name, "method": method, "oracle": oracle["total"],
           "seconds": round(time.monotonic() - begin, 1)}
    if done.returncode == 1:
        reason = done.stderr.strip().splitlines()[-1].split(".app.json: ")[-1]
        return {**row, "kept": "refused", "reason": reason}
    if done.returncode:
        sys.exit(f"{name}, {method}: {done.stderr}")
    plan = json.loads(pathlib.Path(plan_path).read_text())
    late = run_plant(args, name, plan_path, oracle["rate"])
    mean = {c: statistics.mean(late[c]) for c in allowed}
    predicted = {c: 1 - plan["predicted"]["classes"][c]["within"] for c in allowed}
    worst = max(allowed, key=lambda c: mean[c] / allowed[c])
    kept = all(v <= PATIENCE * allowed[c] for c in allowed for v in late[c])
    return {**row, "kept": int(kept),
            "replicas": sum(s["replicas"] for s in plan["stages"].values()),
            "late": f"{100 * mean[worst]:.2f}",
            "predicted": f"{100 * predicted[worst]:.2f}",
            "least": f"{100 * (1 - plan['predicted']['classes'][worst]['high']):.2f}",
            "most": f"{100 * (1 - plan['predicted']['classes'][worst]['low']):.2f}",
            "off": f"{100 * max(abs(mean[c] - predicted[c]) for c in allowed):.2f}",
            "explored": round(plan["explored"]["replica_seconds"] /
                              len(plan["stages"]))}


def key(row):
    return row["method"], row["application"]


def write(out, rows):
    """The table so far, for the whole of it takes an hour; rows that were not
    made again stay."""
    made = {key(r) for r in rows}
    old = list(csv.DictReader(out.open(newline=""))) if out.exists() else []
    rows = sorted(rows + [r for r in old if key(r) not in made], key=key)
    with out.open("w", newline="") as f:
        table = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plant", required=True)
    parser.add_argument("--topologies", required=True, type=pathlib.Path)
    parser.add_argument("--methods", default="union,convolution,search")
    parser.add_argument("--only", default="")
    parser.add_argument("--build", default="build")
    args = parser.parse_args()
    names = sorted(p.name.split(".")[0]
                   for p in args.topologies.glob("*.app.json"))
    names = [n for n in names if not args.only or n in args.only.split(",")]
    out = pathlib.Path(__file__).parents[2] / "tests/accuracy/serving_size.csv"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for method in args.methods.split(","):
            for name in names:
                rows.append(judge(args, name, method, folder))
                print(rows[-1], flush=True)
                write(out, rows)
    for method in args.methods.split(","):
        of = [r for r in rows if r["method"] == method]
        planned = [r for r in of if r["kept"] != "refused"]
        print(f"{method}: {sum(r['kept'] == 1 for r in of)} of {len(of)} kept, "
              f"{len(of) - len(planned)} refused")
        if planned:
            ratio = statistics.mean(r["replicas"] / r["oracle"] for r in planned)
            off = statistics.mean(float(r["off"]) for r in planned)
            print(f"  replicas over the oracle's {ratio:.3f}, share off by "
                  f"{off:.2f} points")


if __name__ == "__main__":
    main()
