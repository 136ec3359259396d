#!/usr/bin/env python3
"""How long a host takes when nobody records it: programs that it holds up.

    scripts/accuracy/bare_host.py --kernels FOLDER [--binary build/mystique-sim]
                                  [--host data/hosts/generic.json] [--check]

A host file has times of recorded runs, since only those show operators. FOLDER
has whole programs that others timed without a recorder (kernelbench.csv.gz) and
their execution traces. Judged are programs of 20 works and more that took
at least half as long again as their kernels are predicted to: the host held
them up. Their times over those that the host predicts, "unrecorded" left out,
are grouped by machine (folder and GPU).

The factor is the geometric mean of the machines' medians. GPUs of one kind stand
in servers of their years, so that each kind has a factor of its own ("beside"):
the mean of its machines, drawn to that of all by the scatter between machines
with the same GPU over that between kinds. The interval comes from the median
scatter of programs about the factor of their GPU, made without their machine.

--check fails where "unrecorded" in the host file is not within 3 % of that.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import programs

WORKS, LONGER = 20, 1.5
Z90 = 1.645


def predict(args, host, row):
    done = subprocess.run(
        [args.binary, "--platform", row["platform"], "--host", host, "--json",
         str(args.kernels / row["trace"])], capture_output=True, text=True)
    if done.returncode:
        return None
    report = json.loads(done.stdout)
    return (report["iteration_us"]["predicted"],
            report["kernel_us"]["predicted"],
            sum(f["calls"] for f in report["families"]))


def ratios(args, host):
    """Times over predictions, by machine and GPU."""
    rows = {}
    for row in programs.kernelbench(args.kernels):
        if "level1" not in row["trace"] and (args.kernels /
                                             row["trace"]).exists():
            key = (row["source"].split()[-1], row["trace"], row["platform"])
            rows.setdefault(key, []).append(row["us"])
    wanted = sorted({key[1:] for key in rows})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = dict(zip(wanted, pool.map(
            lambda w: predict(args, host, {"trace": w[0], "platform": w[1]}),
            wanted)))
    out = collections.defaultdict(list)
    for (machine, trace, platform), times in sorted(rows.items()):
        p = found[trace, platform]
        us = statistics.median(times)
        if p and p[2] >= WORKS and us > LONGER * p[1]:
            out[machine, platform].append(us / p[0])
    return {m: r for m, r in out.items() if len(r) >= 3}


def pooled(machines, without=None):
    """The factor of all, and by GPU: logarithms of medians, `machines` by
    (machine, GPU)."""
    left = {k: v for k, v in machines.items() if k != without}
    middle = statistics.mean(left.values())
    kinds = collections.defaultdict(list)
    for (_, gpu), v in left.items():
        kinds[gpu].append(v)
    free = sum(len(v) - 1 for v in kinds.values())
    within = sum((x - statistics.mean(v)) ** 2 for v in kinds.values()
                 for x in v) / max(free, 1)
    between = max(statistics.variance(left.values()) - within, 1e-9)
    pull = within / between if free else 0
    return middle, {gpu: (sum(v) + pull * middle) / (len(v) + pull)
                    for gpu, v in kinds.items()}


def interval(by_machine, machines):
    """Each machine with the same weight; some programs' kernels are far off."""
    scatter = []
    for key, ratio in by_machine.items():
        middle, kinds = pooled(machines, key)
        expected = kinds.get(key[1], middle)
        scatter.append(statistics.median(abs(math.log(x) - expected)
                                         for x in ratio))
    return math.exp(Z90 * 1.4826 * statistics.median(scatter))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--binary", default="build/mystique-sim")
    parser.add_argument("--host", type=pathlib.Path,
                        default=pathlib.Path("data/hosts/generic.json"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    given = json.loads(args.host.read_text())
    stated = given.pop("unrecorded", {})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(given, f)
        f.flush()
        by_machine = ratios(args, f.name)
    for (machine, gpu), r in sorted(by_machine.items()):
        print(f"{machine + ' ' + gpu:32s} {len(r):3d} programs, median "
              f"{statistics.median(r):.2f}, {min(r):.2f} to {max(r):.2f}")
    machines = {k: math.log(statistics.median(r))
                for k, r in by_machine.items()}
    middle, kinds = pooled(machines)
    wide = interval(by_machine, machines)
    print(f"unrecorded: factor {math.exp(middle):.3f}, low {1 / wide:.3f}, "
          f"high {wide:.2f}, of {len(machines)} machines; beside "
          + json.dumps({k: round(math.exp(v), 3)
                        for k, v in sorted(kinds.items())}))
    found = {"all": middle, **kinds}
    said = {"all": stated.get("factor", 1), **stated.get("beside", {})}
    bad = [k for k in found
           if abs(said.get(k, 1) / math.exp(found[k]) - 1) > .03]
    if args.check and bad:
        sys.exit(f"'{args.host}' has other factors of: {', '.join(bad)}")


if __name__ == "__main__":
    main()
