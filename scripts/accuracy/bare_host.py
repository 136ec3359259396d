#!/usr/bin/env python3
"""How long a host takes when nobody records it: programs that it holds up.

    scripts/accuracy/bare_host.py --kernels FOLDER [--binary build/mystique-sim]
                                  [--host data/hosts/generic.json] [--check]

A host file has times of recorded runs, since only those show operators. FOLDER
has whole programs that others timed without a recorder (kernelbench.csv.gz) and
their execution traces. Judged are programs of 20 works and more that took
at least half as long again as their kernels are predicted to: the host held
them up. Their times over those that the host predicts, "unrecorded" left out,
are grouped by machine (folder and GPU); the factor is the geometric mean of the
machines' medians, and its interval comes from the median scatter of programs about it.

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
    """Times over predictions, by machine."""
    rows = {}
    for row in programs.kernelbench(args.kernels):
        if "level1" not in row["trace"] and (args.kernels /
                                             row["trace"]).exists():
            machine = f"{row['source'].split()[-1]} {row['platform']}"
            key = (machine, row["trace"], row["platform"])
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
            out[machine].append(us / p[0])
    return {m: r for m, r in out.items() if len(r) >= 3}


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
    for machine, r in sorted(by_machine.items()):
        print(f"{machine:32s} {len(r):3d} programs, median "
              f"{statistics.median(r):.2f}, {min(r):.2f} to {max(r):.2f}")
    logs = [math.log(statistics.median(r)) for r in by_machine.values()]
    middle = statistics.mean(logs)
    # each machine with the same weight; some programs' kernels are far off
    sd = 1.4826 * statistics.median(
        statistics.median(abs(math.log(x) - middle) for x in r)
        for r in by_machine.values())
    wide = math.exp(Z90 * sd)
    print(f"unrecorded: factor {math.exp(middle):.3f}, low {1 / wide:.3f}, "
          f"high {wide:.2f}, of {len(logs)} machines")
    if args.check and abs(stated.get("factor", 1) / math.exp(middle) - 1) > .03:
        sys.exit(f"'{args.host}' has {stated.get('factor', 1)}")


if __name__ == "__main__":
    main()
