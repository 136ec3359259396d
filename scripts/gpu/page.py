#!/usr/bin/env python3
"""The figures of docs/gpu.md, from the files in tests/accuracy/gpu.

    scripts/gpu/page.py [--check] [ROOT]

rewrites the text between the marks "<!-- gpu: figures -->" and "<!-- gpu: end -->"
of ROOT/docs/gpu.md and draws the chart beside it; --check changes nothing, and
fails where the text differs from the files. Where no GPU was measured there are
the predictions that were made before.
"""

import argparse
import csv
import json
import pathlib
import re
import shutil
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "accuracy"))
import chart_page  # noqa: E402

MARKED = re.compile(r"(<!-- gpu: figures -->\n)(.*?)(<!-- gpu: end -->\n)",
                    re.DOTALL)
FIGURES = {"iteration_us": "step, ms", "kernel_us": "kernels, ms",
           "memory_bytes": "memory, GB"}
UNITS = {"iteration_us": 1e3, "kernel_us": 1e3, "memory_bytes": 1e9}


class Files:
    """tests/accuracy/gpu below a root."""

    def __init__(self, root):
        self.folder = root / "tests" / "accuracy" / "gpu"

    def rows(self, name):
        path = self.folder / f"{name}.csv"
        if not path.exists():
            return []
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def text(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|",
            *("| " + " | ".join(str(c) for c in row) + " |" for row in rows), ""]


def scaled(figure, number):
    return f"{float(number) / UNITS[figure]:.2f}" if number else ""


def interval(r):
    if not r["low"]:
        return ""
    return " to ".join(scaled(r["figure"], r[k]) for k in ("low", "high"))


# ---- sections ----------------------------------------------------------------

def predicted_only(files):
    """What was predicted, where nothing was measured yet."""
    rows = files.rows("blind")
    platforms = list(dict.fromkeys(r["platform"] for r in rows))
    found = {(r["job"], r["figure"], r["platform"]): r for r in rows}
    cells = []
    for job, figure in dict.fromkeys((r["job"], r["figure"]) for r in rows):
        cells.append([job, FIGURES[figure]])
        for r in (found[job, figure, p] for p in platforms):
            within = interval(r)
            cells[-1].append(scaled(figure, r["predicted"])
                             + (f" ({within})" if within else ""))
    if not rows:
        return ["No GPU was measured yet.", ""]
    return ["No GPU was measured yet. Of the jobs in",
            "[jobs.txt](../scripts/gpu/jobs.txt) and",
            "[jobs_small.txt](../scripts/gpu/jobs_small.txt) the shipped platforms",
            "predict, from shapes alone, with 90 % intervals (commit",
            f"{rows[0]['commit']}, {rows[0]['date']}, recorded by PyTorch",
            f"{rows[0]['torch']} on the meta device):", "",
            *table(["job", "figure", *platforms], cells)]


def machine(files):
    about = json.loads(files.text("about.json"))
    lines = []
    if about["kind"] != "cuda":
        lines += ["**A rehearsal without a GPU: none of these figures means "
                  "anything.**", ""]
    names = {"cuda": "CUDA", "cudnn": "cuDNN", "nccl": "NCCL", "torch": "PyTorch",
             "driver": "driver", "power_limit": "power limit"}
    versions = ", ".join(f"{text} {about[k]}" for k, text in names.items()
                         if about.get(k))
    return lines + [
        f"Measured on {about['date'][:10]} on one {about['device']} ({versions}; "
        f"{about['processor']}, {about['cpus']} threads), commit "
        f"{about['measured_commit'] or 'unknown'}.", ""]


def before_and_after(files):
    rows = files.rows("jobs")
    if not rows:
        return []
    blind = files.rows("blind")
    means = []
    for figure, name in FIGURES.items():
        errors = [abs(float(r["error_percent"])) for r in rows
                  if r["figure"] == figure]
        inside = [r["inside"] == "y" for r in rows
                  if r["figure"] == figure and r["inside"]]
        if errors:
            means.append(f"{name.split(',')[0]} {statistics.mean(errors):.1f} %"
                         + (f" ({sum(inside)} of {len(inside)} inside their "
                            "intervals)" if inside else ""))
    return ["### Predicted before, measured after", "",
            f"By `{rows[0]['platform']}`, commit {blind[0]['commit']}; bare steps,",
            "kernels of the recorded ones. Mean errors: " + "; ".join(means) + ".",
            "",
            *table(["job", "figure", "measured", "predicted", "90 % interval",
                    "error"],
                   [[r["job"], FIGURES[r["figure"]],
                     scaled(r["figure"], r["measured"]),
                     scaled(r["figure"], r["predicted"]), interval(r),
                     f"{float(r['error_percent']):+.1f} %"] for r in rows]),
            "![Predicted before over measured after](gpu/blind.svg)", ""]


def by_platforms(files):
    rows = [r for r in files.rows("compare") if r["measured_us"]]
    cells = []
    for key in dict.fromkeys((r["platform"], r["figure"]) for r in rows):
        some = [r for r in rows if (r["platform"], r["figure"]) == key]
        errors = [abs(float(r["error_percent"])) for r in some]
        cells.append([key[0].removesuffix(".json"),
                      FIGURES[key[1]].split(",")[0], len(some),
                      f"{statistics.mean(errors):.1f} %", f"{max(errors):.1f} %",
                      sum(r["inside"] == "y" for r in some)])
    return cells and [
        "### Jobs by other platforms", "",
        "`here` is calibrated on this GPU, `learned` from its kernels on top of the",
        "shipped platform, `learned-here` on top of `here`. None of them saw a job.",
        "", *table(["platform", "figure", "jobs", "mean error", "worst",
                "inside 90 %"], cells)]


def operators(files):
    """By backend and table; held.csv has each kind."""
    rows = [r for r in files.rows("held") if not r["what"].startswith("job ")]
    cells = []
    for of in dict.fromkeys(" ".join(r["what"].split()[:2]) for r in rows):
        some = [r for r in rows if r["what"].startswith(of + " ")]
        cases = sum(int(r["cases"]) for r in some)

        def mean(name):
            return sum(int(r["cases"]) * float(r[name]) for r in some) / cases
        worst = max(some, key=lambda r: float(r["mean_percent"]))
        cells.append([of, len(some), cases, f"{mean('mean_percent'):.1f} %",
                      f"{mean('inside_percent'):.0f} %",
                      f"{worst['what'].split(' ', 2)[2]}, "
                      f"{worst['mean_percent']} %"])
    return rows and [
        f"### Single operators by `{rows[0]['platform']}`, which saw none of them",
        "", *table(["backend, table", "kinds", "rows", "mean error", "inside 90 %",
                    "worst kind"], cells),
        "[held.csv](../tests/accuracy/gpu/held.csv) has each kind.", ""]


def calibrated(files):
    text = files.text("fits.txt")
    return ["### Calibrated on it", "",
            "Fitted on what was timed, scored on rows that a fit did not see:", "",
            "```", *text.rstrip().splitlines(), "```", ""] if text else []


def learned(files):
    rows = files.rows("learned")
    return rows and [
        "### Learned from its kernels", "",
        "PyTorch's own kernels ([calibrate.md](calibrate.md#traces-made-for-it)); a",
        "trace that is held out is predicted from the others.", "",
        *table(["law", "traces", "kernels", "shipped", "learned", "held out"],
               [[r["law"], r["traces"], r["kernels"],
                 *(f"{r[k]} %" for k in ("base_percent", "learned_percent",
                                         "held_out_percent"))] for r in rows])]


def ratio(new, old):
    return f" ({float(new) / float(old):.3f})" if new and old and float(old) else ""


def evaluated(files):
    rows = files.rows("evaluation")
    cells, original = [], {}
    names = {"step_ms": "step, ms", "kernel_ms": "kernels, ms",
             "sm_util": "SMs busy", "tensor_util": "tensor cores",
             "dram_util": "bandwidth", "power_w": "power, W",
             "peak_bytes": "peak memory, GB"}
    for r in rows:
        if r["program"] == "original":
            original = r
        cells.append([r["job"], r["program"]])
        for name in names:
            value = r[name]
            if value and name == "peak_bytes":
                value = f"{float(value) / 1e9:.3f}"
            if r is not original:
                value += ratio(r[name], original[name])
            cells[-1].append(value)
        cells[-1].append({"y": "yes", "n": "no"}.get(r["equal"], ""))
    return rows and [
        "### Benchmarks and replays beside their originals", "",
        "In brackets: over the original. A replay runs operators one by one, so that",
        "it has kernels and no step. Utilisation and power are of steps in a row.",
        "", *table(["job", "program", *names.values(), "equal operators"], cells)]


def validated(files):
    rows = [r for r in files.rows("validated") if r["name"] == "operators"]

    def over(r, name, base):
        return f"{float(r[name]) / float(r[base]):.3f}" if r[name] and \
            float(r[base] or 0) else ""
    return rows and [
        "### Operators, traced, replayed one by one and predicted", "",
        *table(["job", "operators", "traced, ms", "replayed over traced",
                "predicted over replayed"],
               [[r["job"], r["operators"], f"{float(r['measured_us']) / 1e3:.3f}",
                 over(r, "replayed_us", "measured_us"),
                 over(r, "predicted_us", "replayed_us")] for r in rows])]


def twice(files):
    rows = files.rows("repeats")
    return rows and [
        "### Twice", "",
        "The same experiments and jobs once more, minutes later: what no error below",
        "can be told from.", "",
        *table(["what", "cases", "second over first", "apart, median",
                "apart, 90th percentile"],
               [[r["what"], r["cases"], r["second_over_first"],
                 f"{r['apart_median_percent']} %", f"{r['apart_p90_percent']} %"]
                for r in rows])]


def in_a_row(files):
    rows = files.rows("sustained")
    return rows and [
        "### Products in a row", "",
        "One at a time, and for 0.4 s: what the power limit and the clock cost.", "",
        *table(["product", "alone, us", "in a row, us", "ratio", "SM, MHz",
                "power, W"], [list(r.values()) for r in rows])]


SECTIONS = (machine, before_and_after, by_platforms, operators, calibrated,
            learned, evaluated, validated, twice, in_a_row)


def figures(files):
    if not files.text("about.json"):
        return predicted_only(files)
    return [line for section in SECTIONS for line in section(files)]


# ---- chart -------------------------------------------------------------------

def draw(files, path):
    """Predicted over measured, with its interval, a line a job and figure."""
    rows = [r for r in files.rows("jobs") if r["low"]]
    if not rows:
        return
    height = 90 + 24 * len(rows)
    page = chart_page.Page(False, 900, height)
    page.text(20, 28, "Predicted before over measured after, 90 % intervals", 16)
    page.data("rows", [[i, *(float(r[k]) / float(r["measured"])
                             for k in ("predicted", "low", "high"))]
                       for i, r in enumerate(rows)])
    page.panel(230, 50, 870, height - 40)
    names = ", ".join(
        f"{chart_page.quoted(r['job'] + ', ' + FIGURES[r['figure']].split(',')[0])} {i}"
        for i, r in enumerate(rows))
    page.put("set logscale x 2", f"set ytics ({names})",
             f"set yrange [{len(rows) - 0.5}:-0.5]",
             f"set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "
             f"'{chart_page.INK}'")
    page.plot("$rows using 2:1:3:4 with xerrorbars pt 7 ps 0.8 lw 2 lc rgb "
              f"'{chart_page.BLUE}'")
    path.parent.mkdir(parents=True, exist_ok=True)
    page.draw(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
    args = parser.parse_args()
    files, path = Files(args.root), args.root / "docs" / "gpu.md"
    text = path.read_text(encoding="utf-8")
    body = "\n" + "\n".join(figures(files)).rstrip() + "\n\n"
    new, times = MARKED.subn(lambda m: m[1] + body + m[3], text)
    if times != 1:
        print(f"page.py: {path}: found {times} pairs of marks, want one",
              file=sys.stderr)
        return 1
    if args.check:
        if new != text:
            print(f"page.py: {path} is not what tests/accuracy/gpu says: run "
                  "scripts/gpu/page.py", file=sys.stderr)
        return int(new != text)
    draft = path.with_suffix(".part")
    draft.write_text(new, encoding="utf-8")
    draft.replace(path)
    if shutil.which("gnuplot"):
        draw(files, args.root / "docs" / "gpu" / "blind.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
