#!/usr/bin/env python3
"""What the kernels of one whole job share, found between jobs, and judged.

    scripts/accuracy/job_spread.py --traces FOLDER [--binary build/mystique-sim]
                          [--update | --check]

Real traces under model costs are grouped by the program that they ran: all runs
of one model are one group, on any GPU and of any batch size, and every group
counts as one. Three figures are fitted (data/laws/jobs.json):

  families  log(measured / predicted) of a family's kernels, less that of all
            kernels of the trace: its square, less the one that the intervals of
            the rows stand for, as a mean over groups. A family counts in traces
            of which it is 1 % or more.
  machine   log(measured / predicted) of all kernels: two half normal
            distributions that meet at the prediction, beside the families;
            the widths of both sides of greatest likelihood.

tests/accuracy/jobs.csv judges them: each trace by figures that were fitted
without its group ("left out"), and by one factor both ways for the machine and
nothing for families, the trace_factor of data sheets ("one factor"). A score is
the width of an interval and 20 times what is outside of it, of logarithms.

--update writes both files, --check fails where they differ, and where fewer than
85 % of programs are inside (five of the traces are of one throttled machine, and
count as one, as they do in the fit). Without either, the table is printed.
"""
import argparse
import collections
import contextlib
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

import accuracy
import accuracy_families

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAWS = ROOT / "data/laws/jobs.json"
FIGURES = ROOT / "tests/accuracy/jobs.csv"
FIELDS = ["case", "group", "spread", "figure", "measured_us", "predicted_us",
          "low_us", "high_us", "inside", "score"]
Z90 = 1.645
# Per cent of programs inside that are promised, of either figure.
LEAST_INSIDE = 85
# Cases that begin so ran one program; others are groups by themselves.
PROGRAMS = ("resnet", "ranking", "torchrec", "linear",
            "particle-transformer", "Falconsai", "gaunernst", "qwen3",
            "timesformer", "sync-edges-a100/cuda_event")
GRID = [i / 200 for i in range(301)]
NOTHING = {"machine": {"slower": 0, "faster": 0}, "families": {}}


def group_of(case):
    return next((p for p in PROGRAMS if case.startswith(p)), case)


# ---- runs -----------------------------------------------------------------


@contextlib.contextmanager
def data_with(jobs):
    """The data folder with these spreads; None: without a file of them."""
    with tempfile.TemporaryDirectory() as folder:
        laws = pathlib.Path(folder) / "laws"
        laws.mkdir()
        for path in (ROOT / "data").iterdir():
            if path.name != "laws":
                (laws.parent / path.name).symlink_to(path)
        for path in LAWS.parent.iterdir():
            if path.name != LAWS.name:
                (laws / path.name).symlink_to(path)
        if jobs:
            (laws / LAWS.name).write_text(json.dumps(jobs), encoding="utf-8")
        old = os.environ.get("MSIM_DATA")
        os.environ["MSIM_DATA"] = folder
        try:
            yield
        finally:
            os.environ.pop("MSIM_DATA")
            if old:
                os.environ["MSIM_DATA"] = old


def job_of(binary, traces, name, inputs, platform):
    """A case as the fit reads it, from a run without spreads."""
    paths = [traces / i for i in inputs]
    model = accuracy.run(binary, "model", platform, paths)
    itself = accuracy.run(binary, "scaled", platform, paths, traced=platform)
    own = accuracy.run(binary, "measured", None, paths)
    families = accuracy_families.rows_of(name, model, itself)
    return {"case": name, "group": group_of(name),
            "measured": {f: own[f]["measured"]
                         for f in ("kernel_us", "iteration_us")},
            "families": {r["family"]: (float(r["measured_us"]),
                                       float(r["predicted_us"]),
                                       float(r["low_us"]),
                                       float(r["high_us"]))
                         for r in accuracy_families.judged(families)
                         if r["family"] != "collective"},
            "sums": {f["model"]: (f["predicted_us"], f["low_us"],
                                  f["high_us"])
                     for f in model["families"]
                     if f["model"] != "collective"}}


def jobs_of(binary, traces):
    with data_with(NOTHING):
        return [job_of(binary, traces, *case) for case in accuracy.CASES
                if case[2]]


def rows_with(jobs, spreads, word, binary, traces):
    """Lines of these jobs, predicted with these spreads."""
    inputs = {name: (paths, platform)
              for name, paths, platform in accuracy.CASES}
    rows = []
    with data_with(spreads):
        for job in jobs:
            paths, platform = inputs[job["case"]]
            model = accuracy.run(binary, "model", platform,
                                 [traces / p for p in paths])
            rows += [line(job, word, figure, model[figure])
                     for figure in job["measured"]]
    return rows


def line(job, word, figure, predicted):
    measured = job["measured"][figure]
    p, low, high = (predicted[k] for k in ("predicted", "low", "high"))
    outside = max(math.log(low / measured), math.log(measured / high), 0)
    return {"case": job["case"], "group": job["group"], "spread": word,
            "figure": figure, "measured_us": f"{measured:.3f}",
            "predicted_us": f"{p:.3f}", "low_us": f"{low:.3f}",
            "high_us": f"{high:.3f}", "inside": "n" if outside else "y",
            "score": f"{math.log(high / low) + 20 * outside:.3f}"}


# ---- the fit --------------------------------------------------------------


def log_total(job):
    return math.log(job["measured"]["kernel_us"] /
                    sum(p for p, _, _ in job["sums"].values()))


def mean_of_groups(values):
    """Of (group, value): every group counts as one."""
    groups = collections.defaultdict(list)
    for group, value in values:
        groups[group].append(value)
    return statistics.mean(statistics.mean(v) for v in groups.values())


def family_excess(job, family):
    """The square of what is off, less what the rows' interval stands for."""
    measured, predicted, low, high = job["families"][family]
    off = math.log(measured / predicted) - log_total(job)
    side = math.log(high / predicted) if off > 0 else math.log(predicted / low)
    return off ** 2 - (side / Z90) ** 2


def fit_families(jobs):
    found = {}
    for family in sorted({f for job in jobs for f in job["families"]}):
        of = [(job["group"], family_excess(job, family)) for job in jobs
              if family in job["families"]]
        variance = mean_of_groups(of)
        if variance > 0:
            found[family] = {"log_sd": round(math.sqrt(variance), 3),
                             "unit": "1", "groups": len({g for g, _ in of})}
    return found


def family_share(job, families, high):
    """What families deviate by together, over the sum of all kernels."""
    squares = 0
    for family, (p, low, up) in job["sums"].items():
        shared = Z90 * families.get(family, {"log_sd": 0})["log_sd"]
        squares += (p * math.expm1(math.hypot(math.log(up / p), shared)) if high
                    else p * -math.expm1(-math.hypot(math.log(p / low),
                                                     shared))) ** 2
    return math.sqrt(squares) / sum(p for p, _, _ in job["sums"].values())


def fit_machine(jobs, families):
    """Widths of both sides of greatest likelihood."""
    count = collections.Counter(job["group"] for job in jobs)
    known = [(log_total(job), family_share(job, families, False),
              family_share(job, families, True), 1 / count[job["group"]])
             for job in jobs]

    def loss(faster, slower):
        down, up = -math.expm1(-Z90 * faster), math.expm1(Z90 * slower)
        total = 0
        for off, family_down, family_up, weight in known:
            low = -math.log(max(1 - math.hypot(down, family_down), 0.01)) / Z90
            high = math.log1p(math.hypot(up, family_up)) / Z90
            total += weight * (math.log(low + high) +
                               (off / (high if off > 0 else low)) ** 2 / 2)
        return total

    faster = slower = None
    now = (0, 0)
    while now != (faster, slower):
        faster, slower = now
        up = min(GRID, key=lambda x: loss(faster, x))
        now = (min(GRID, key=lambda x: loss(x, up)), up)
    return {"slower": slower, "faster": faster, "unit": "1",
            "groups": len(count)}


def fit(jobs):
    families = fit_families(jobs)
    groups = sorted({job["group"] for job in jobs})
    return {"schema": "mystique-sim/jobs/1",
            "how": "scripts/accuracy/job_spread.py --update over real traces "
                   "under model costs: standard deviations of the logarithm "
                   "of measured / predicted between programs, of all kernels "
                   "of a job (machine) and of a family's beside these",
            "traces": len(jobs), "groups": groups,
            "machine": fit_machine(jobs, families), "families": families}


def left_out_rows(jobs, binary, traces):
    rows = []
    for group in sorted({job["group"] for job in jobs}):
        rest = fit([job for job in jobs if job["group"] != group])
        rows += rows_with([job for job in jobs if job["group"] == group], rest,
                          "left out", binary, traces)
    return rows


# ---- the table ------------------------------------------------------------

TEXTS = {"one factor": "one factor both ways, nothing between families",
         "left out": "both, fitted without the program"}
NAMES = {"kernel_us": "kernels", "iteration_us": "iteration"}


def rows_of(rows, word, figure):
    return [r for r in rows if r["spread"] == word and r["figure"] == figure]


def inside_left_out(rows, figure="kernel_us"):
    """Per cent of traces."""
    of = rows_of(rows, "left out", figure)
    return 100 * statistics.mean(r["inside"] == "y" for r in of)


def programs_inside(rows, figure):
    of = rows_of(rows, "left out", figure)
    return 100 * mean_of_groups([(r["group"], r["inside"] == "y") for r in of])


def table(rows):
    """Lines of Markdown."""
    lines = ["| spread between jobs | figure | traces inside | programs inside "
             "| median high / low | mean score | of programs |",
             "|---" * 7 + "|"]
    for figure, name in NAMES.items():
        for word, text in TEXTS.items():
            of = rows_of(rows, word, figure)
            inside = [(r["group"], r["inside"] == "y") for r in of]
            scores = [(r["group"], float(r["score"])) for r in of]
            width = statistics.median(float(r["high_us"]) / float(r["low_us"])
                                      for r in of)
            n = sum(y for _, y in inside)
            lines.append(
                f"| {text} | {name} | {n} of {len(of)} "
                f"({100 * n / len(of):.0f} %) "
                f"| {100 * mean_of_groups(inside):.0f} % | {width:.2f} "
                f"| {statistics.mean(s for _, s in scores):.2f} "
                f"| {mean_of_groups(scores):.2f} |")
    return lines


# ---- files ----------------------------------------------------------------


def text_of(rows):
    lines = [",".join(FIELDS)] + [",".join(r[f] for f in FIELDS) for r in rows]
    return "\n".join(lines) + "\n"


def check(made, rows):
    for path, text in made.items():
        if path.read_text(encoding="utf-8") != text:
            sys.exit(f"job_spread.py: '{path.relative_to(ROOT)}' is not what "
                     "the traces give: run with --update")
    for figure in NAMES:
        inside = programs_inside(rows, figure)
        if inside < LEAST_INSIDE:
            sys.exit(f"job_spread.py: {figure}: {inside:.0f} % inside, want "
                     f"{LEAST_INSIDE} at least")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--update", action="store_true")
    what.add_argument("--check", action="store_true")
    args = parser.parse_args()
    traces = args.traces / "traces"
    jobs = jobs_of(args.binary, traces)
    rows = rows_with(jobs, None, "one factor", args.binary, traces) + \
        left_out_rows(jobs, args.binary, traces)
    made = {LAWS: json.dumps(fit(jobs), indent="\t") + "\n",
            FIGURES: text_of(rows)}
    if args.check:
        check(made, rows)
    elif args.update:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
