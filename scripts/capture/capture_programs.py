#!/usr/bin/env python3
"""Which operators of many small programs have no law of their own.

    scripts/capture/capture_programs.py --binary build/mystique-sim --out DIR

records every program of operator_programs.py and sample_programs.py on the meta
device, DIR/NAME.json.gz, predicts it, and prints a line for each that is not
covered by tables and laws of its operators' own kernels:

    NAME: OPERATOR (SOURCE), ...
    NAME: refused: WHY

Half of what a mask selects is taken to be true (`selects` of given_models.py).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import warnings

import given_models
import meta_capture
import meta_gpu
import operator_programs
import sample_programs

HERE = pathlib.Path(__file__).resolve().parent


def names(module):
    """Programs of a module, as functions of it."""
    return list(getattr(module, "PROGRAMS", ())) or \
        [n for n in vars(module) if n.startswith("make_")]


def record(module, name, path):
    """Write a trace; why not, where the program is refused."""
    try:
        with meta_gpu.MetaGpu.current.building():
            given = given_models.make(f"{HERE / module.__name__}.py:{name}", {})
        job = given_models.Job(given, "cuda", "fp32")
        meta_capture.record(job, 1, path)
    except (given_models.Refused, meta_gpu.NeedsValue, meta_gpu.NoRule) as error:
        return str(error).partition(": give")[0]
    return None


def open_operators(binary, platform, path):
    """What has no law of its own, as a line says it; "" for nothing."""
    done = subprocess.run([binary, "--platform", platform, "--json", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return "not predicted: " + done.stderr.strip()
    found = json.loads(done.stdout)
    if found["coverage"]["ops"] == 1 and found["coverage"]["device_time"] == 1:
        return ""
    return ", ".join(f"{o['name']} ({o['source']})"
                     for o in found["not_covered"]) or "no operator takes time"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--platform", default="h100")
    parser.add_argument("--out", required=True, metavar="DIR")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    os.makedirs(args.out, exist_ok=True)
    lines, paths = {}, {}
    with meta_gpu.MetaGpu(selects=0.5):
        for module in (operator_programs, sample_programs):
            for name in names(module):
                path = os.path.join(args.out, name + ".json.gz")
                why = record(module, name, path)
                if why:
                    lines[name] = "refused: " + why
                else:
                    paths[name] = path
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda p: open_operators(args.binary, args.platform, p),
                         paths.values())
        lines.update((n, text) for n, text in zip(paths, found) if text)
    for name in sorted(lines):
        print(f"{name}: {lines[name]}")
    print(f"{len(paths)} programs recorded", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
