#!/usr/bin/env python3
"""README.md's tables of accuracy, from the committed figures.

    scripts/accuracy_readme.py [--check]

Rewrites what stands between the marks "<!-- accuracy: NAME -->" and
"<!-- accuracy: end -->" by the table of that name, made of a file in
tests/accuracy:

    traces     traces.csv     (scripts/accuracy.py --out)
    families   families.csv   (the same), and worst-families, a sentence
    operators  op.csv         (tests/accuracy/op.sh update)
    left-out   left_out.csv   (tests/accuracy/left_out.sh update)

and, where that changed something and gnuplot is there, draws the charts of the
same files (scripts/accuracy_charts.py). --check changes nothing, and fails where
README.md says something else. Nothing is measured or fitted here: this takes a
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
import op_table

ROOT = pathlib.Path(__file__).parent.parent
FIGURES = ROOT / "tests/accuracy"
MARKED = re.compile(r"(<!-- accuracy: (\S+) -->\n)(.*?)"
                    r"(<!-- accuracy: end -->\n)", re.DOTALL)
FAMILIES = {"gemm": "gemm", "attention": "attention", "conv": "conv",
            "vector": "vector", "moe": "moe (layers of experts)",
            "dispatch": "expert dispatch", "collective": "collective",
            "eager": "collective, launched one by one"}


def rows_of(name):
    with open(FIGURES / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


# ---- GPUs left out --------------------------------------------------------


def left_out_kind(row):
    """What was left out, or None: a GPU that no kin of its generation answers
    for is judged with its generation."""
    if row["left_out"] == "its generation":
        return "other generations"
    return "its own generation" if row["same_generation"] == "yes" else None


def left_out_table():
    """As tests/accuracy/left_out.sh counts: every line is a cell."""
    cells = {}
    for row in rows_of("left_out.csv"):
        eager = row["cell"].endswith("_eager")
        key = ("eager" if eager else row["family"], left_out_kind(row))
        cells.setdefault(key, []).append(row)
    lines = ["| family | predicted from | GPUs | cells | mean error | median "
             "| p90 | worst row | inside 90 % interval | high / low "
             "| score / error | worst cell |", "|---" * 12 + "|"]
    for family, name in FAMILIES.items():
        for kind in ("its own generation", "other generations"):
            lines += left_out_line(name, kind, cells.get((family, kind), []))
    return lines


def left_out_line(name, kind, cells):
    def mean(column):
        return sum(float(c[column]) for c in cells) / len(cells)
    if not cells:
        return []
    last = max(cells, key=lambda c: float(c["mean_pct"]))
    return [f"| {name} | {kind} | {len({c['platform'] for c in cells})} "
            f"| {len(cells)} | {mean('mean_pct'):.1f} % "
            f"| {mean('median_pct'):.1f} % | {mean('p90_pct'):.1f} % "
            f"| {max(float(c['worst_pct']) for c in cells):.0f} % "
            f"| {mean('interval_coverage_pct'):.0f} % "
            f"| {mean('interval_high_over_low'):.2f} "
            f"| {mean('interval_score_over_error'):.1f} "
            f"| {float(last['mean_pct']):.1f} %: {last['platform']} "
            f"{last['framework']} {last['cell']} |"]


# ---- the page -------------------------------------------------------------

TABLES = {
    "traces": lambda: accuracy.table(rows_of("traces.csv")),
    "families": lambda: accuracy_families.table(rows_of("families.csv")),
    "worst-families": lambda: accuracy_families.worst(rows_of("families.csv")),
    "operators": lambda: op_table.table(FIGURES / "op.csv"),
    "left-out": left_out_table,
}


def wrapped(lines):
    """Sentences fill lines; rows of tables stay as they are."""
    return [part for line in lines
            for part in ([line] if line.startswith("|") else
                         textwrap.wrap(line, 80, break_on_hyphens=False))]


def filled(text):
    """The page with every marked table made again."""
    met = set()

    def fill(match):
        name = match.group(2)
        if name not in TABLES:
            sys.exit(f"accuracy_readme.py: README.md: no table '{name}', want "
                     f"one of {', '.join(TABLES)}")
        met.add(name)
        return (match.group(1) + "\n".join(wrapped(TABLES[name]())) + "\n" +
                match.group(4))

    text = MARKED.sub(fill, text)
    if met != set(TABLES):
        sys.exit("accuracy_readme.py: README.md: no mark "
                 f"'<!-- accuracy: {min(set(TABLES) - met)} -->'")
    return text


def draw():
    """The charts of the same files."""
    if shutil.which("gnuplot"):
        subprocess.run([sys.executable, ROOT / "scripts/accuracy_charts.py"],
                       check=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = ROOT / "README.md"
    old = page.read_text(encoding="utf-8")
    new = filled(old)
    if args.check:
        was = set(old.splitlines())
        for line in new.splitlines():
            if line not in was:
                print(f"not in README.md: {line}")
        if new != old:
            sys.exit("accuracy_readme.py: README.md does not say what "
                     "tests/accuracy/*.csv do: run scripts/accuracy_readme.py")
    elif new != old:
        page.write_text(new, encoding="utf-8")
        draw()


if __name__ == "__main__":
    main()
