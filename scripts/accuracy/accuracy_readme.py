#!/usr/bin/env python3
"""The tables of accuracy in the documentation, from the committed figures.

    scripts/accuracy/accuracy_readme.py [--check]

Rewrites the text between the marks "<!-- accuracy: NAME -->" and
"<!-- accuracy: end -->" by the table of that name. README.md has `headline`, of
five lines; docs/jobs.md has `training` and others, docs/whatif.md `parallel`,
docs/accuracy/README.md the rest. The tables come from files in tests/accuracy:

    headline            traces.csv, jobs.csv, op.csv and left_out.csv
    traces              traces.csv     (scripts/accuracy/accuracy.py --out)
    jobs                jobs.csv       (scripts/accuracy/job_spread.py --update)
    sm-use              sm_use.csv     (scripts/accuracy/sm_use.py --out)
    families            families.csv   (the same), and worst-families, a sentence
    operators           op.csv         (tests/accuracy/op.sh update)
    leave-one-gpu-out   left_out.csv   (tests/accuracy/left_out.sh update)
    parallel            parallel.csv   (scripts/accuracy/parallel_described.py --out)
    training            training.csv   (scripts/accuracy/training.sh)
    fits                fits.csv       (the same)

Where a table changed and gnuplot is there, the charts of the same files are
drawn again (scripts/accuracy/accuracy_charts.py). --check changes nothing, and fails where
a page differs from the files. Nothing is measured or fitted here: this takes a
moment.
"""
import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import accuracy
import accuracy_families
import job_spread
import op_table
import parallel_described
import reshaped
import sm_use

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {"README.md": ("headline",),
         "docs/jobs.md": ("training", "fits", "ladder", "fine-tuning"),
         "docs/whatif.md": ("parallel",),
         "docs/accuracy/README.md": ("traces", "jobs", "families",
                                     "worst-families", "sm-use", "reshaped",
                                     "operators",
                                     "leave-one-gpu-out")}
FIGURES = ROOT / "tests/accuracy"
MARKED = re.compile(r"(<!-- accuracy: (\S+) -->\n)(.*?)"
                    r"(<!-- accuracy: end -->\n)", re.DOTALL)
FAMILIES = {"gemm": "gemm", "attention": "attention", "conv": "conv",
            "vector": "vector", "moe": "moe (layers of experts)",
            "dispatch": "expert dispatch", "collective": "collective",
            "eager": "collective, launched one by one"}
KINDS = ("its own generation", "other generations")


def rows_of(name):
    with open(FIGURES / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


# ---- GPUs left out of the fit ---------------------------------------------


def left_out_kind(row):
    """What the prediction came from, or None: a GPU without another one of its
    generation counts with its generation."""
    if row["left_out"] == "its generation":
        return "other generations"
    return "its own generation" if row["same_generation"] == "yes" else None


def left_out_fits():
    """As tests/accuracy/left_out.sh counts: every line is a fit."""
    fits = {}
    for row in rows_of("left_out.csv"):
        eager = row["cell"].endswith("_eager")
        key = ("eager" if eager else row["family"], left_out_kind(row))
        fits.setdefault(key, []).append(row)
    return fits


def left_out_table():
    fits = left_out_fits()
    lines = ["| family | predicted from | GPUs | fits | mean error | median "
             "| p90 | worst row | inside 90 % interval | high / low "
             "| score / error | worst fit |", "|---" * 12 + "|"]
    for family, name in FAMILIES.items():
        for kind in KINDS:
            lines += left_out_line(name, kind, fits.get((family, kind), []))
    return lines


def mean_of(fits, column):
    return sum(float(f[column]) for f in fits) / len(fits)


def left_out_line(name, kind, fits):
    if not fits:
        return []
    last = max(fits, key=lambda f: float(f["mean_pct"]))
    return [f"| {name} | {kind} | {len({f['platform'] for f in fits})} "
            f"| {len(fits)} | {mean_of(fits, 'mean_pct'):.1f} % "
            f"| {mean_of(fits, 'median_pct'):.1f} % "
            f"| {mean_of(fits, 'p90_pct'):.1f} % "
            f"| {max(float(f['worst_pct']) for f in fits):.0f} % "
            f"| {mean_of(fits, 'interval_coverage_pct'):.0f} % "
            f"| {mean_of(fits, 'interval_high_over_low'):.2f} "
            f"| {mean_of(fits, 'interval_score_over_error'):.1f} "
            f"| {float(last['mean_pct']):.1f} %: {last['platform']} "
            f"{last['framework']} {last['cell']} |"]


# ---- the five figures of README.md ----------------------------------------


def headline_line(what, cases, mean, median, inside):
    return (f"| {what} | {cases} | {mean:.1f} % | {median:.1f} % "
            f"| {inside:.0f} % |")


def headline_of_traces(what, costs, only):
    n, mean, median, _, _, inside = accuracy.summary(
        rows_of("traces.csv"), costs, "kernel_us", only)
    return headline_line(what, f"{n} traces", mean, median, inside)


def headline_of_jobs(what):
    """Inside of intervals that were not fitted on the program."""
    n, mean, median, *_ = accuracy.summary(rows_of("traces.csv"), "model",
                                           "kernel_us", ())
    return headline_line(what, f"{n} traces", mean, median,
                         job_spread.inside_left_out(rows_of("jobs.csv")))


def headline_of_fits(what, fits):
    return headline_line(what, f"{len(fits)} fits",
                         *(mean_of(fits, column) for column in (
                             "mean_pct", "median_pct",
                             "interval_coverage_pct")))


def headline_table():
    fits = left_out_fits()
    products = [f for key, f in op_table.cells_of(FIGURES / "op.csv").items()
                if key[0] == "gemm"]
    return ["| predicted | cases | mean error | median | inside the 90 % "
            "interval |", "|---" * 5 + "|",
            headline_of_jobs("all kernels of a traced job, from shapes or "
                             "launches"),
            headline_of_traces("the same, from times on another GPU (H100, "
                               "MI300X)", "scaled", accuracy.SAME_MODEL),
            headline_of_fits("a matrix product, held-out shapes", products),
            headline_of_fits("a matrix product, GPU left out of the fit",
                             fits["gemm", KINDS[0]]),
            headline_of_fits("a matrix product, whole generation left out",
                             fits["gemm", KINDS[1]])]


# ---- the pages ------------------------------------------------------------

def training_table():
    lines = ["| figure | source | constants | jobs | mean error | median | p90 "
             "| worst | inside | score |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in sorted(rows_of("training.csv"),
                      key=lambda row: (row["figure"] != "step", row["source"])):
        lines.append("| {figure} | {source} | {split} | {rows} | {mean} % | {median} % "
                     "| {p90} % | {worst} % | ".format(**row) +
                     ("{inside} % | {score} |".format(**row) if row["inside"]
                      else "| |"))
    return lines


def fits_table():
    """Whether measured jobs are called fitting: those that ran, those that failed."""
    lines = ["| jobs | source | constants | rows | yes | edge | no | refused |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows_of("fits.csv"):
        if row["split"] == "fit on all" or row["source"] == "nanotron":
            lines.append("| {jobs} | {source} | {split} | {rows} | {yes} | {edge} | {no} "
                         "| {refused} |".format(**row))
    return lines


def technique_of(row):
    return row["technique"].removeprefix("cumulative:")


def ladder_table():
    """What each technique changes, measured and predicted."""
    lines = ["| technique | peak GiB | predicted | change | predicted | tokens/s | "
             "predicted | change | predicted |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows_of("ladder.csv"):
        if not row["technique"].startswith("cumulative:"):
            continue
        changes = {key: (f"{float(value):+.1f} %" if value else "")
                   for key, value in row.items() if key.endswith("_change")}
        lines.append(
            f"| {technique_of(row)} | {row['measured_gib']} | {row['predicted_gib']} | "
            f"{changes['measured_memory_change']} | "
            f"{changes['predicted_memory_change']} | {row['measured_tokens_s']} | "
            f"{row['predicted_tokens_s']} | {changes['measured_tokens_change']} | "
            f"{changes['predicted_tokens_change']} |")
    return lines


def fine_tuning_table():
    lines = ["| model | method | GPU | peak GiB | predicted | error | tokens/s | "
             "predicted | error |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows_of("ladder.csv"):
        if not row["technique"].startswith("cumulative:"):
            lines.append("| {model} | {method} | {gpu} | {measured_gib} | "
                         "{predicted_gib} | {memory_error} % | {measured_tokens_s} | "
                         "{predicted_tokens_s} | {tokens_error} % |".format(**row))
    return lines


TABLES = {
    "training": training_table,
    "fits": fits_table,
    "ladder": ladder_table,
    "fine-tuning": fine_tuning_table,
    "headline": headline_table,
    "traces": lambda: accuracy.table(rows_of("traces.csv")),
    "sm-use": lambda: sm_use.table(rows_of("sm_use.csv")),
    "jobs": lambda: job_spread.table(rows_of("jobs.csv")),
    "families": lambda: accuracy_families.table(rows_of("families.csv")),
    "worst-families": lambda: accuracy_families.worst(rows_of("families.csv")),
    "operators": lambda: op_table.table(FIGURES / "op.csv"),
    "leave-one-gpu-out": left_out_table,
    "parallel": lambda: parallel_described.table(rows_of("parallel.csv")),
    "reshaped": lambda: reshaped.table(rows_of("reshaped.csv")),
}


def wrapped(lines):
    """Sentences fill lines; rows of tables stay as they are."""
    return [part for line in lines
            for part in ([line] if line.startswith("|") else
                         textwrap.wrap(line, 80, break_on_hyphens=False))]


def filled(page, text):
    """The page with every marked table made again."""
    met = set()

    def fill(match):
        name = match.group(2)
        if name not in PAGES[page]:
            sys.exit(f"accuracy_readme.py: {page}: no table '{name}', want "
                     f"one of {', '.join(PAGES[page])}")
        met.add(name)
        return (match.group(1) + "\n".join(wrapped(TABLES[name]())) + "\n" +
                match.group(4))

    text = MARKED.sub(fill, text)
    if met != set(PAGES[page]):
        sys.exit(f"accuracy_readme.py: {page}: no mark "
                 f"'<!-- accuracy: {min(set(PAGES[page]) - met)} -->'")
    return text


def draw():
    """The charts of the same files."""
    if shutil.which("gnuplot"):
        subprocess.run([sys.executable, ROOT / "scripts/accuracy/accuracy_charts.py"],
                       check=True)


def print_missing(page, old, new):
    was = set(old.splitlines())
    for line in new.splitlines():
        if line not in was:
            print(f"not in {page}: {line}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    stale = False
    for page in PAGES:
        old = (ROOT / page).read_text(encoding="utf-8")
        new = filled(page, old)
        stale |= new != old
        if args.check:
            print_missing(page, old, new)
        else:
            (ROOT / page).write_text(new, encoding="utf-8")
    if stale and args.check:
        sys.exit("accuracy_readme.py: the pages differ from "
                 "tests/accuracy/*.csv: run scripts/accuracy/accuracy_readme.py")
    if stale:
        draw()


if __name__ == "__main__":
    main()
