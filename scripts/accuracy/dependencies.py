#!/usr/bin/env python3
"""What the dependency rules are worth, shown on folders of real traces.

    scripts/accuracy/dependencies.py steps   --traces FOLDER [--build build]
    scripts/accuracy/dependencies.py removal --traces FOLDER [--build build]
                                    [--out tests/accuracy/removal.csv | --check]
    scripts/accuracy/dependencies.py zero    --traces FOLDER [--build build]
    scripts/accuracy/dependencies.py double  --traces FOLDER [--build build]

FOLDER holds traces/ (see docs/accuracy/README.md). Every trace is simulated from
its own kernel times, no call's wait copied.

steps    how far simulated steps are from measured ones, and kernels' starts
removal  the same with each rule left out in turn: by how much a step moves, and
         how far the worst is then from what was measured. --out writes the
         table that is committed, --check compares with it and wants every rule
         to move a shared set, or else its made-up trace
zero     no GPU work at all: no wait for the GPU or for peers may be left, and
         an iteration takes what its threads take by themselves
double   kernels twice as long: a GPU-bound job doubles, a host-bound one gains
         no more than its GPU's busy share

All but --out fail where a floor is not held. Sets are those of accuracy.py.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

from accuracy import CASES

# Where leaving the waits out moves the step by 3 % or more.
WAITING = ("ranking-a100", "torchrec-4xv100", "torchrec-4xv100-quantised",
           "dlrm-8xv100", "resnet50-v100", "resnet-2080ti",
           "concurrent-copies-a100")
# Percent: over those sets the mean of a set's steps and the worst step; any
# other set's mean; the 95th percentile of the starts of a set's kernels.
FLOORS = {"mean": 0.5, "worst": 1.5, "other": 0.5, "start": 1.0}
GOALS = {"mean": 0.2, "worst": 0.5, "other": 0.1, "start": 0.3}
# A cell of the removal table; what a rule has to move somewhere. Percent.
SHOWN, MOVED = 0.05, 0.1
FIELDS = ["set", "rule", "worst_percent", "start_percent", "moved_percent"]
WITHOUT_GPU = ("kernels=0", "copies=0", "communication=0")
BUSY = ("compute", "communication", "memory_copy")


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"dependencies.py: {' '.join(map(str, command))}: "
                 f"exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def predict(args, paths, *scales):
    command = [args.build / "mystique-sim", "--costs", "measured", "--json"]
    for s in scales:
        command += ["--scale", s]
    return json.loads(run(command + paths))


def cases(args):
    """Set, case and paths; a set's files stand for themselves."""
    for name, inputs, _ in CASES:
        own = [w for w in WAITING if name == w or name.startswith(w + "/")]
        yield (own or [name])[0], name, [args.traces / "traces" / i
                                         for i in inputs]


def percent(text):
    return f"{float(text):.{0 if float(text) >= 10 else 2}f} %"


def verdict(ok, text):
    print(f"{'ok  ' if ok else 'FAIL'} {text}")
    return ok


# ---- steps ------------------------------------------------------------------

def steps_of_sets(args):
    """By set: mean of its files' means, worst step, worst 95th percentile."""
    sets = {}
    for own, _, paths in cases(args):
        mean, worst, start, n, kernels = run(
            [args.build / "tests/steps"] + paths).split()
        s = sets.setdefault(own, {"means": [], "worst": 0, "start": 0,
                                  "steps": 0, "kernels": 0})
        s["means"].append(float(mean))
        s["worst"] = max(s["worst"], float(worst))
        s["start"] = max(s["start"], float(start))
        s["steps"] += int(n)
        s["kernels"] += int(kernels)
    for s in sets.values():
        s["mean"] = sum(s["means"]) / len(s["means"])
    return sets


def steps(args):
    sets = steps_of_sets(args)
    print("| set | waits count | steps | mean error | worst step | kernels | "
          "95th percentile of starts |\n|---|---|---|---|---|---|---|")
    for name, s in sets.items():
        print(f"| {name} | {'yes' if name in WAITING else ''} | {s['steps']} | "
              f"{s['mean']:.3f} % | {s['worst']:.3f} % | {s['kernels']} | "
              f"{s['start']:.3f} % |")
    waiting = [sets[w] for w in WAITING]
    other = max(s["mean"] for n, s in sets.items() if n not in WAITING)
    got = {"mean": sum(s["mean"] for s in waiting) / len(waiting),
           "worst": max(s["worst"] for s in waiting), "other": other,
           "start": max(s["start"] for s in sets.values())}
    texts = {"mean": "mean step error where waits count",
             "worst": "worst step where waits count",
             "other": "mean step error, worst of the other sets",
             "start": "95th percentile of starts of kernels, worst set"}
    return all([verdict(got[k] <= FLOORS[k],
                        f"{text}: {got[k]:.3f} %, want {FLOORS[k]} at most, "
                        f"aim {GOALS[k]}") for k, text in texts.items()])


# ---- removal ----------------------------------------------------------------

def removal_rows(args):
    """Of a set of several files the one that moves most stands for it."""
    rows = {}
    for own, _, paths in cases(args):
        out = run([args.build / "tests/steps", "--removal"] + paths)
        for line in out.splitlines():
            rule, _, worst, start, moved = line.split("\t")
            row = dict(zip(FIELDS, (own, rule, worst, start, moved)))
            if rule != "none" and float(moved) < SHOWN:
                continue
            old = rows.get((own, rule))
            if (not old or (float(moved), float(worst)) >
                    (float(old["moved_percent"]),
                     float(old["worst_percent"]))):
                rows[own, rule] = row
    return list(rows.values())


def made_up(args):
    """Rules that a made-up trace shows: a line of unit.graph_rules each."""
    lines = run([args.build / "tests/test_graph_rules"]).splitlines()
    found = (line.split("\t") for line in lines if line.startswith("moves\t"))
    return {rule: f"{with_} instead of {without} us"
            + (f" under {scale}" if scale else "")
            for _, rule, scale, with_, without in found}


def print_removal(args, rows):
    rules = run([args.build / "tests/steps", "--rules"]).splitlines()
    made = made_up(args)
    bad = []
    print("| rule | where leaving it out shows: worst step error | made-up "
          "trace: with it, without |\n|---|---|---|")
    for rule in rules:
        own = sorted((r for r in rows if r["rule"] == rule),
                     key=lambda r: -float(r["worst_percent"]))
        text = ", ".join(f"{r['set']} {percent(r['worst_percent'])}"
                         for r in own)
        print(f"| {rule} | {text or '-'} | {made.get(rule, '-')} |")
        if rule not in made and not any(float(r["moved_percent"]) >= MOVED
                                        for r in own):
            bad.append(rule)
    return all([verdict(False, f"'{rule}' moves nothing") for rule in bad]) \
        if bad else verdict(True, f"each of {len(rules)} rules moves a shared "
                                  f"set by {MOVED} % or its made-up trace")


def same_as_committed(rows):
    """Fits may differ by rounding between C libraries."""
    path = pathlib.Path(__file__).resolve().parents[2] / "tests/accuracy/removal.csv"
    with open(path, newline="") as f:
        old = {(r["set"], r["rule"]): r for r in csv.DictReader(f)}
    new = {(r["set"], r["rule"]): r for r in rows}
    ok = True
    for key in sorted(set(old) | set(new)):
        pair = [float(t[key]["worst_percent"]) if key in t else 0.0
                for t in (old, new)]
        if abs(pair[1] - pair[0]) > 0.1 + 0.05 * pair[0]:
            ok = verdict(False, f"{key[0]} without '{key[1]}': worst step "
                                f"{pair[1]} %, removal.csv has {pair[0]}")
    return verdict(True, "as committed in tests/accuracy/removal.csv") \
        if ok else False


def removal(args):
    rows = removal_rows(args)
    ok = print_removal(args, rows)
    if args.out:
        temporary = args.out.with_suffix(".tmp")
        with open(temporary, "w", newline="") as f:
            writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        temporary.rename(args.out)
    return (same_as_committed(rows) if args.check else True) and ok


# ---- what-ifs ---------------------------------------------------------------

def is_wait_for_gpu(kind):
    return kind not in ("hand-over between threads", "data loader",
                        "program order")


def what_is_left(p):
    """All of a prediction that GPU work or a peer has to do with, by name."""
    left = {"external_wait_us": p["external_wait_us"],
            "communication wait": p["communication_us"]["wait"],
            "communication transfer": p["communication_us"]["transfer"]}
    left.update({c: p["breakdown_us"][c] for c in BUSY})
    for rank in p["ranks_detail"]:
        left["wait of a rank"] = (left.get("wait of a rank", 0)
                                  + rank["communication_us"]["wait"])
        for who in ("main_thread", "threads"):
            for kind, us in rank["waits_us"][who].items():
                if is_wait_for_gpu(kind):
                    left[kind] = left.get(kind, 0) + us
    return {k: v for k, v in left.items() if v}


def zero(args):
    ok = True
    for _, name, paths in cases(args):
        p = predict(args, paths, *WITHOUT_GPU)
        host = [int(line) for line in run(
            [args.build / "tests/steps", "--host-alone"] + paths).split()]
        got = [round(i["predicted_us"] * 1e6) for i in p["iterations"]]
        left = what_is_left(p)
        bad = sum(a != b for a, b in zip(got, host)) + abs(len(got) - len(host))
        ok &= verdict(not left and not bad,
                      f"{name}: {len(got)} iterations, {bad} of them not what "
                      f"the host takes alone; left: {left or 'nothing'}")
    return ok


def double(args):
    paths = {name: p for _, name, p in cases(args)}
    results = []
    for name in ("vgg13-h100", "resnet50-ddp-2xa100"):
        as_is = predict(args, paths[name])
        longer = predict(args, paths[name], "kernels=2")
        took = as_is["iteration_us"]["predicted"]
        factor = longer["iteration_us"]["predicted"] / took
        share = sum(as_is["breakdown_us"][c] for c in BUSY) / took
        results.append((name, factor, share))
    (gpu, gpu_factor, _), (host, host_factor, share) = results
    return all([
        verdict(abs(gpu_factor - 2) <= 0.02,
                f"{gpu} with kernels twice as long: x {gpu_factor:.4f}, want "
                f"2.00 within 1 %"),
        verdict(1 <= host_factor <= 1 + share,
                f"{host} with kernels twice as long: x {host_factor:.4f}, want "
                f"1.00 to {1 + share:.4f}: its GPU is busy for "
                f"{100 * share:.1f} %")])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("steps", "removal", "zero", "double"))
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path("build"))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    return 0 if globals()[args.what](args) else 1


if __name__ == "__main__":
    sys.exit(main())
