#!/usr/bin/env python3
"""How far the shipped platform is from what a GPU measured, from files alone.

    scripts/gpu/held.py --check|--update FOLDER [--binary build/mystique-sim]

FOLDER has, from scripts/on_gpu.sh finish,

    rows/TABLE.csv.gz    experiments that were timed, as `op` reads them, with
                         measured_us and the backend
    et/JOB.json.gz       execution traces of the jobs that were captured
    jobs.csv             what these took
    held.csv             the errors of the platform, by kind of work and by job

--update writes held.csv. --check predicts everything again, and fails where an
error is more than half a point from held.csv: a change of laws or fits is so seen
against a GPU, where there is none.
"""

import argparse
import collections
import csv
import gzip
import io
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("accuracy", "capture"):
    sys.path.insert(0, str(ROOT / "scripts" / folder))
import accuracy  # noqa: E402
import compare_captures  # noqa: E402
import blind  # noqa: E402

FIELDS = ["platform", "what", "cases", "mean_percent", "bias_percent",
          "inside_percent"]
STALE = 0.5 # percentage points


def row(platform, what, cases):
    """Of (predicted over measured, whether its interval holds it)."""
    ratios, inside = zip(*cases)
    return {"platform": platform, "what": what, "cases": len(cases),
            "mean_percent":
                f"{100 * statistics.mean(abs(r - 1) for r in ratios):.1f}",
            "bias_percent": f"{100 * (statistics.median(ratios) - 1):.1f}",
            "inside_percent": f"{100 * statistics.mean(inside):.0f}"}


def kind_of(r):
    words = [r[k] for k in ("op", "phase", "dtype") if r.get(k)]
    return f"{r['backend']} {r['table']} {':'.join(words)}"


def of_rows(binary, platform, path):
    """What -> cases, of one table."""
    table = path.name.partition(".")[0]
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    answers = csv.DictReader(io.StringIO(compare_captures.run(
        binary, ["op", "--platform", platform, "-"], text)))
    found = collections.defaultdict(list)
    for r in answers:
        if r["predicted_us"]:
            us = float(r["measured_us"])
            found[kind_of({**r, "table": table})].append(
                (float(r["predicted_us"]) / us,
                 float(r["low_us"]) <= us <= float(r["high_us"])))
    return found


def of_jobs(binary, platform, folder):
    """The same of jobs: kernels and bare steps, from execution traces."""
    found = collections.defaultdict(list)
    with open(folder / "jobs.csv", newline="", encoding="utf-8") as file:
        wanted = [r for r in csv.DictReader(file)
                  if r["figure"] in ("kernel_us", "iteration_us")]
    with tempfile.TemporaryDirectory() as scratch:
        for r in wanted:
            capture = pathlib.Path(scratch) / r["job"]
            et = folder / "et" / f"{r['job']}.json.gz"
            if not et.exists():
                continue
            (capture / "et").mkdir(parents=True, exist_ok=True)
            (capture / "et" / "rank-0.json.gz").write_bytes(et.read_bytes())
            guess, low, high = (
                float(x) for x in blind.figures(binary, platform, capture,
                                                "")[r["figure"]])
            us = float(r["measured"])
            found[f"job {r['job']} {r['figure']}"].append(
                (guess / us, low <= us <= high))
    return found


def rows(binary, folder):
    with open(folder / "jobs.csv", newline="", encoding="utf-8") as file:
        platform = next(csv.DictReader(file))["platform"]
    found = {}
    for path in sorted((folder / "rows").glob("*.csv.gz")):
        found.update(sorted(of_rows(binary, platform, path).items()))
    found.update(of_jobs(binary, platform, folder))
    return [row(platform, what, cases) for what, cases in found.items()]


def differences(now, then):
    then = {r["what"]: r for r in then}
    for r in now:
        old = then.pop(r["what"], None)
        if old is None:
            yield f"{r['what']}: not there"
        elif old["cases"] != str(r["cases"]) or any(
                abs(float(r[k]) - float(old[k])) > STALE
                for k in ("mean_percent", "bias_percent")):
            yield f"{r['what']}: {old} is now {r}"
    yield from (f"{what}: no longer predicted" for what in then)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--check", action="store_true")
    way.add_argument("--update", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    args = parser.parse_args()
    held = args.folder / "held.csv"
    try:
        now = rows(args.binary, args.folder)
        if args.update:
            accuracy.write_csv(held, FIELDS, now)
            return 0
        with open(held, newline="", encoding="utf-8") as file:
            wrong = list(differences(now, csv.DictReader(file)))
    except (OSError, RuntimeError) as error:
        wrong = [str(error)]
    for line in wrong:
        print(f"held.py: {held}: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
