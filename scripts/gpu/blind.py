#!/usr/bin/env python3
"""What platforms predict of jobs, from recordings without a GPU: written before
anything is measured.

    scripts/gpu/blind.py --jobs FILE... --captures DIR --platform NAME... --out CSV
                         [--binary build/mystique-sim]

DIR/NAME is the capture of the job NAME (capture.py --device meta). Of a job that
runs as one CUDA graph only kernels are predicted: its step has no launches.
Each row has the commit that predicts and when it did.
"""

import argparse
import json
import pathlib
import sys
import time

import about

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("accuracy", "capture"):
    sys.path.insert(0, str(ROOT / "scripts" / folder))
import accuracy  # noqa: E402
import compare_captures  # noqa: E402

FIELDS = ["platform", "job", "options", "figure", "predicted", "low", "high",
          "commit", "date", "torch"]


def read_jobs(paths):
    """Name -> options, in order."""
    jobs = {}
    for path in paths:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            name, _, options = line.strip().partition(" ")
            if name and not name.startswith("#"):
                jobs[name] = options.strip()
    return jobs


def figures(binary, platform, folder, options):
    """Figure -> (predicted, low, high); memory has no interval."""
    found = json.loads(compare_captures.run(binary, [
        "--platform", platform, "--costs", "model", "--json", folder / "et"]))
    out = {name: tuple(f"{found[name][k]:.3f}"
                       for k in ("predicted", "low", "high"))
           for name in ("iteration_us", "kernel_us")}
    if "--graph" in options.split():
        return {"kernel_us": out["kernel_us"]}
    return {**out, "memory_bytes": (str(found["memory_bytes"]["peak"]), "", "")}


def rows(binary, jobs, captures, platforms):
    same = {"commit": about.commit(ROOT),
            "date": time.strftime("%Y-%m-%d", time.gmtime())}
    for platform in platforms:
        for job, options in jobs.items():
            folder = captures / job
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            for figure, numbers in figures(binary, platform, folder,
                                           options).items():
                yield {"platform": platform, "job": job, "options": options,
                       "figure": figure,
                       **dict(zip(("predicted", "low", "high"), numbers)),
                       **same, "torch": meta["torch"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--jobs", nargs="+", required=True)
    parser.add_argument("--captures", type=pathlib.Path, required=True)
    parser.add_argument("--platform", nargs="+", required=True)
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    try:
        found = list(rows(args.binary, read_jobs(args.jobs), args.captures,
                          args.platform))
    except (OSError, RuntimeError) as error:
        print(f"blind.py: {error}", file=sys.stderr)
        return 1
    accuracy.write_csv(args.out, FIELDS, found)
    for row in found:
        if row["figure"] != "memory_bytes":
            print(f"{row['platform']:6} {row['job']:16} {row['figure']:13} "
                  + "{:9.2f} ms ({:.2f} to {:.2f})".format(
                      *(float(row[k]) / 1e3 for k in ("predicted", "low", "high"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
