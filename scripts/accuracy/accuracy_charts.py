#!/usr/bin/env python3
"""Charts of how right predictions are, drawn by gnuplot.

    scripts/accuracy/accuracy_charts.py --tables FOLDER [--fit build/msim-fit]
    scripts/accuracy/accuracy_charts.py --rows ROWS.csv.gz...
    scripts/accuracy/accuracy_charts.py
    scripts/accuracy/accuracy_charts.py --check

write docs/accuracy/NAME.png and .svg (--out, --format). Each family of operators
has a chart of its held-out rows: predicted against measured times, errors by
size, and the share inside the 90 % interval by size. Two more charts come from
the files in tests/accuracy: predicted over measured times of real traces, and
the errors of all fits. FOLDER has the tables of measured times: they are fitted
again, with every group held out once, which takes minutes. ROWS is what
`msim-fit --rows` wrote of some or all tables; only their families are drawn.
With neither, only traces and fits are drawn. drawn.csv beside the charts says
what they show; --check draws nothing, and fails where drawn.csv differs from
tests/accuracy/op.csv.
"""
import argparse
import collections
import csv
import gzip
import math
import pathlib
import subprocess
import sys
import tempfile

import accuracy_readme
import chart_fits
import op_table
from chart_page import (BLUE, GREEN, INK, ORANGE, SOFT, Page, quoted,
                        time_text)

ROOT = pathlib.Path(__file__).resolve().parents[2]
# size: its column, what it is and its unit; wanted: whether a cell counts
Family = collections.namedtuple("Family", "name title held size wanted")
SHAPES = "whole shapes held out"
WORK = ("flops", "arithmetic of the operator", "FLOP")
MOVED = ("bytes", "bytes moved", "B")
SENT = ("bytes", "bytes sent", "B")


def inside_node(cell):
    return "nodes" not in cell


FAMILIES = [
    Family("gemm", "Matrix products", SHAPES, WORK, None),
    Family("attention", "Attention", "whole head layouts held out", WORK,
           None),
    Family("conv", "Convolutions", SHAPES, WORK, None),
    Family("vector", "Vector operators", SHAPES, MOVED, None),
    Family("moe", "Layers of experts", "whole models held out", WORK, None),
    Family("dispatch", "Expert dispatch", "whole groups held out", SENT,
           None),
    Family("collective", "Collectives in a node", "rank counts held out",
           SENT, inside_node),
    Family("collective_sizes", "Collectives in a node", "sizes held out",
           SENT, inside_node),
    Family("collective_nodes", "Collectives between nodes", "sizes held out",
           SENT, lambda cell: not inside_node(cell)),
]
# The family whose rows a chart is of, where it is not the one of its name.
TABLE_OF = {"collective_nodes": "collective_sizes"}
# And in the table of op_table.py.
IN_TABLE = {"collective_nodes": "collective_sizes_nodes"}
STALE = 0.3           # percentage points

WIDTH, HEIGHT = 1100, 500
GRID = 120            # dots a side of the scatter, of three pixels
BINS_A_DECADE = 2     # of size
LEAST_ROWS = 30       # of a bin
MEDIAN, P90, INSIDE = BLUE, ORANGE, GREEN


# ---- rows -----------------------------------------------------------------


class Rows:
    """One family's rows: (measured, predicted, size, inside) and by cell."""

    def __init__(self):
        self.rows = []
        self.cells = collections.defaultdict(list)

    def add(self, row, size, number):
        us, guess = float(row["measured_us"]), float(row["predicted_us"])
        inside = float(row["low_us"]) <= us <= float(row["high_us"])
        self.rows.append((us, guess, size, inside))
        self.cells[op_table.key_of(row, number)].append(abs(guess / us - 1))


def read_rows(paths):
    """Rows by the name of their chart; exits where a file is none of ours."""
    try:
        return read_files(paths)
    except (OSError, EOFError, KeyError, ValueError) as e:
        sys.exit(f"accuracy_charts.py: {', '.join(map(str, paths))}: not what "
                 f"msim-fit --rows writes: {e!r}")


def read_files(paths):
    found = {f.name: Rows() for f in FAMILIES}
    by_table = collections.defaultdict(list)
    for f in FAMILIES:
        by_table[TABLE_OF.get(f.name, f.name)].append(f)
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                number = (row["platform"], row["table_gpu"], row["framework"],
                          row["cell"])
                for f in by_table[row["family"]]:
                    if not f.wanted or f.wanted(row["cell"]):
                        found[f.name].add(row, float(row[f.size[0]]), number)
    found = {name: rows for name, rows in found.items() if rows.rows}
    if not found:
        raise ValueError("no rows")
    return found


def quantile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))]


def bins_of(rows):
    """By size: (size, median, p90 of the error, share inside), in %."""
    bins = collections.defaultdict(list)
    for us, guess, size, inside in rows:
        if size > 0:
            bins[math.floor(math.log10(size) * BINS_A_DECADE)].append(
                (abs(guess / us - 1), inside))
    result = []
    for at, of in sorted(bins.items()):
        if len(of) < LEAST_ROWS:
            continue
        errors = sorted(e for e, _ in of)
        result.append((10 ** ((at + 0.5) / BINS_A_DECADE),
                       100 * quantile(errors, 0.5), 100 * quantile(errors, 0.9),
                       100 * sum(i for _, i in of) / len(of)))
    return result


# ---- one family -----------------------------------------------------------


def time_tics(low, high):
    """Powers of ten in words; of many every other, as they need room."""
    step = 1 if high - low <= 6 else 2
    return ", ".join(f"'{time_text(10.0 ** d)}' {d}"
                     for d in range(low, high + 1, step))


def density(rows, low, high):
    """Rows a dot, on a grid of logarithms."""
    counts = collections.Counter()
    scale = GRID / (high - low)
    for us, guess, _, _ in rows:
        x = min(GRID - 1, max(0, int((math.log10(us) - low) * scale)))
        y = min(GRID - 1, max(0, int((math.log10(guess) - low) * scale)))
        counts[x, y] += 1
    return [(low + (x + 0.5) / scale, low + (y + 0.5) / scale, n)
            for (x, y), n in sorted(counts.items())]


def put_scatter(page, rows):
    low = math.floor(math.log10(min(min(r[:2]) for r in rows)))
    high = math.ceil(math.log10(max(r[0] for r in rows)))
    low = max(low, math.floor(math.log10(min(r[0] for r in rows))))
    dots = density(rows, low, high)
    page.data("dots", dots)
    page.panel(80, 92, 440, 452)
    tics = time_tics(low, high)
    page.put(f"set xrange [{low}:{high}]", f"set yrange [{low}:{high}]",
             f"set xtics ({tics})", f"set ytics ({tics})",
             "set xlabel 'measured' offset 0,0.3",
             "set ylabel 'predicted' offset 0.5,0",
             f"set cbrange [1:{max(10, *(d[2] for d in dots))}]", "set logscale cb",
             "set palette defined (0 '#c6dbef', 0.35 '#6baed6', "
             "0.7 '#2171b5', 1 '#08306b')",
             "set colorbox user origin screen "
             f"{300 / page.width:.4f}, screen {1 - 420 / page.height:.4f} "
             f"size screen {110 / page.width:.4f}, screen "
             f"{8 / page.height:.4f} horizontal",
             "set cbtics format '%.0s%c' scale 0.3 offset 0,0.4 font "
             f"'{page.font},{page.points(10)}'")
    page.text(355, 404, "rows a dot", 10, SOFT, "center")
    for y, dash, text in ((104, 1, "predicted = measured"),
                          (122, 2, "10 % off"), (140, 3, "25 % off")):
        page.put(f"set arrow from screen {92 / page.width:.4f}, screen "
                 f"{1 - y / page.height:.4f} to screen "
                 f"{116 / page.width:.4f}, screen {1 - y / page.height:.4f} "
                 f"nohead lc rgb '{INK}' dt {dash} front")
        page.text(122, y, text, 11, SOFT)
    guides = "".join(
        f", x + {math.log10(f):.5f} with lines lc rgb '{INK}' lw 0.8 dt {dash}"
        for f, dash in ((1, 1), (1.1, 2), (0.9, 2), (1.25, 3), (0.75, 3)))
    half = (high - low) / GRID / 2
    page.plot(f"$dots using 1:2:({half}):({half}):3 with boxxyerror fillstyle "
              "solid 1 noborder fc palette" + guides)
    page.put("unset colorbox", "unset logscale cb")


def put_errors(page, bins):
    left, right, top, bottom = 540, 1000, 92, 300
    most = max(20, 1.12 * max(b[2] for b in bins))
    decades = math.log10(bins[-1][0] / bins[0][0])
    page.data("bins", bins)
    page.panel(left, top, right, bottom)
    page.put("set logscale x",
             f"set xrange [{bins[0][0] / 2:.4g}:{bins[-1][0] * 2:.4g}]",
             f"set yrange [0:{most:.4g}]",
             f"set xtics 1, {10 ** max(1, math.ceil(decades / 5))} format ''",
             "set ytics auto", "unset xlabel", "unset ylabel")
    page.text(left, top - 14, "error by size, over rows, in %", 13)
    # The names stand at the lines' ends, and not on each other.
    line = 16 * most / (bottom - top)
    at = max(bins[-1][1], line / 2)
    for name, y, color in (("median", at, MEDIAN),
                           ("90th percentile", max(bins[-1][2], at + line),
                            P90)):
        page.put(f"set label {quoted(name)} at first {bins[-1][0]:.5g}, first "
                 f"{y:.5g} left offset 0.8,0 tc rgb '{color}'")
    page.plot(f"$bins using 1:3 with linespoints lc rgb '{P90}' lw 2 pt 7 "
              f"ps 0.6, $bins using 1:2 with linespoints lc rgb '{MEDIAN}' "
              "lw 2 pt 7 ps 0.6")


def put_coverage(page, family, bins):
    left, right = 540, 1000
    least = min(80, 10 * math.floor((min(b[3] for b in bins) - 2) / 10))
    page.panel(left, 348, right, 452)
    page.put(f"set yrange [{least}:100]",
             f"set ytics {5 if least >= 75 else 10 if least >= 40 else 20}",
             f"set xtics format '%.0s %c{family.size[2]}'",
             f"set xlabel {quoted(family.size[1])} offset 0,0.3",
             "set object rectangle from graph 0, first 85 to graph 1, first "
             f"95 fc rgb '{INSIDE}' fillstyle solid 0.12 noborder behind",
             f"set label '85 to 95 %' at graph 1, first 90 left offset 0.8,0 "
             f"tc rgb '{INSIDE}'")
    page.text(left, 334, "share of rows inside their 90 % interval, in %", 13)
    page.plot(f"90 with lines lc rgb '{INSIDE}' lw 0.8 dt 2, $bins using 1:4 "
              f"with linespoints lc rgb '{INSIDE}' lw 2 pt 7 ps 0.6")


def draw_family(family, rows, path, png):
    page = Page(png, WIDTH, HEIGHT)
    errors = [sum(c) / len(c) for c in rows.cells.values()]
    medians = [quantile(sorted(c), 0.5) for c in rows.cells.values()]
    inside = sum(r[3] for r in rows.rows) / len(rows.rows)
    page.text(20, 24, f"{family.title}, {family.held}: predicted against "
              "measured", 17)
    page.text(20, 48, f"{len(rows.rows):,} rows in {len(errors)} fits (a GPU, "
              "stack and kind each); means over fits: mean error "
              f"{100 * sum(errors) / len(errors):.1f} %, median "
              f"{100 * sum(medians) / len(medians):.1f} %; "
              f"{100 * inside:.0f} % of rows inside their 90 % interval", 12,
              SOFT)
    put_scatter(page, rows.rows)
    mean_pct = 100 * sum(errors) / len(errors)
    bins = bins_of(rows.rows)
    if bins:
        put_errors(page, bins)
        put_coverage(page, family, bins)
    page.draw(path)
    return {"family": family.name, "fits": len(errors),
            "rows": len(rows.rows), "mean_pct": f"{mean_pct:.2f}"}


# ---- traces ---------------------------------------------------------------


def read_traces(path):
    """Case: figure: (measured, predicted, low, high) under model costs."""
    cases = {}
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["costs"] == "model" and row["figure"] in (
                    "kernel_us", "iteration_us"):
                cases.setdefault(row["case"], {})[row["figure"]] = tuple(
                    float(row[k]) for k in ("measured_us", "predicted_us",
                                            "low_us", "high_us"))
    return cases


def put_trace_panel(page, cases, figure, title, left, right, bottom):
    rows, inside, errors = [], 0, []
    for at, case in enumerate(cases, 1):
        if figure not in cases[case]:
            continue
        us, guess, low, high = cases[case][figure]
        rows.append((guess / us, at, low / us, high / us,
                     int(low <= us <= high)))
        inside += low <= us <= high
        errors.append(abs(guess / us - 1))
        page.small(time_text(us), f"graph 1.015, first {at} left")
    page.data(figure, rows)
    page.panel(left, 112, right, bottom)
    page.text(left, 80, title, 13)
    page.text(left, 98, f"mean error {100 * sum(errors) / len(errors):.1f} %, "
              f"{inside} of {len(rows)} inside the interval", 11, SOFT)
    page.text(right + 6, 98, "measured", 11, SOFT)
    for factor, color in ((0.75, "#cccccc"), (0.9, "#999999"), (1, INK),
                          (1.1, "#999999"), (1.25, "#cccccc")):
        page.put(f"set arrow from first {factor}, graph 0 to first {factor}, "
                 f"graph 1 nohead lc rgb '{color}' lw 0.8 dt solid back")
    style = f"lc rgb '{MEDIAN}' pt 7 ps 0.9 lw 1.6"
    other = f"lc rgb '{P90}' pt 7 ps 0.9 lw 1.6"
    page.plot("".join(
        f"{', ' * bool(i)}${figure} using ($5 == {1 - i} ? $1 : NaN):2:3:4 "
        f"with xerrorbars {s}" for i, s in enumerate((style, other))))


def draw_traces(cases, path, png):
    height = 160 + 22 * len(cases)
    page = Page(png, WIDTH, height)
    page.text(20, 24, "Real traces: predicted over measured, from shapes alone "
              "(--costs model)", 17)
    page.text(20, 48, f"{len(cases)} traces; bars are 90 % intervals, orange "
              "where they miss what was measured; lines are 10 and 25 % off; "
              "host times are the traces'", 12, SOFT)
    page.put("set logscale x 2", "set xrange [0.22:4.5]",
             f"set yrange [{len(cases) + 0.6}:0.4]",
             "set xtics ('1/4' 0.25, '1/2' 0.5, '1' 1, '2' 2, '4' 4)",
             "unset ytics", "set border 1", "set bars 0.4",
             "set xlabel 'predicted / measured' offset 0,0.3")
    for at, case in enumerate(cases, 1):
        page.put(f"set label {quoted(case)} at graph -0.02, first {at} right")
    put_trace_panel(page, cases, "kernel_us", "kernels", 320, 610,
                    height - 50)
    put_trace_panel(page, cases, "iteration_us", "iteration", 715, 1005,
                    height - 50)
    page.draw(path)


# ---- fits -----------------------------------------------------------------

CELLS = {"gemm": "matrix products", "attention": "attention",
         "conv": "convolutions", "vector": "vector operators",
         "moe": "layers of experts", "dispatch": "expert dispatch",
         "collective": "collectives, rank counts",
         "collective_sizes": "collectives, sizes",
         "collective_sizes_nodes": "the same between nodes"}


def held_cells():
    """Family: errors of its fits in %, from op.csv."""
    cells = op_table.cells_of(ROOT / "tests/accuracy/op.csv")
    return [(name, [c["mean_pct"] for key, c in cells.items()
                    if key[0] == family]) for family, name in CELLS.items()]


def left_out_cells():
    """Family: errors where the generation is known, and where it is not."""
    found = collections.defaultdict(list)
    for row in accuracy_readme.rows_of("left_out.csv"):
        if not row["cell"].endswith("_eager"):
            found[row["family"], accuracy_readme.left_out_kind(row)].append(
                float(row["mean_pct"]))
    return [(CELLS[f].split(",")[0], found[f, "its own generation"],
             found[f, "other generations"]) for f in CELLS
            if (f, "other generations") in found]


# ---- all of it ------------------------------------------------------------


def fit(program, tables, folder):
    """Every row held back once, by fitting all tables into `folder`."""
    rows = folder / "rows.csv.gz"
    done = subprocess.run(
        [str(program), "--rows", str(rows), str(tables),
         str(ROOT / "data/platforms/src/datasheets.json"), str(folder)],
        check=False)
    if done.returncode:
        sys.exit(f"accuracy_charts.py: {program}: exit {done.returncode}")
    return [rows]


def read_drawn(out):
    """Lines of drawn.csv by family."""
    path = out / "drawn.csv"
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as f:
        return {row["family"]: row for row in csv.DictReader(f)}


def check(out):
    """Are charts of the fit that op.csv is of? Its means by family."""
    cells = op_table.cells_of(ROOT / "tests/accuracy/op.csv")
    stale = 0
    for name, row in read_drawn(out).items():
        of = [c["mean_pct"] for key, c in cells.items()
              if key[0] == IN_TABLE.get(name, name)]
        mean = sum(of) / len(of) if of else float("nan")
        if abs(mean - float(row["mean_pct"])) > STALE:
            stale += 1
            print(f"{name}: drawn with a mean error of {row['mean_pct']} %, "
                  f"op.csv has {mean:.2f} %")
    return f"{stale} charts in {out} are of another fit" if stale else 0


def draw_all(paths, out, suffix):
    found = read_rows(paths)
    drawn = read_drawn(out)
    for family in FAMILIES:
        if family.name in found:
            drawn[family.name] = draw_family(
                family, found[family.name],
                out / (family.name.replace("_", "-") + suffix),
                suffix == ".png")
    with open(out / "drawn.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, ["family", "fits", "rows", "mean_pct"],
                                lineterminator="\n")
        writer.writeheader()
        writer.writerows(drawn[f.name] for f in FAMILIES if f.name in drawn)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--tables", type=pathlib.Path)
    source.add_argument("--rows", type=pathlib.Path, nargs="+")
    parser.add_argument("--fit", type=pathlib.Path,
                        default=pathlib.Path("build/msim-fit"))
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "docs/accuracy")
    parser.add_argument("--format", choices=("png", "svg"))
    source.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        sys.exit(check(args.out))
    dots, lines = ("." + (args.format or of) for of in ("png", "svg"))
    with tempfile.TemporaryDirectory() as folder:
        if args.tables:
            args.rows = fit(args.fit, args.tables, pathlib.Path(folder))
        args.out.mkdir(parents=True, exist_ok=True)
        if args.rows:
            draw_all(args.rows, args.out, dots)
    chart_fits.draw([c for c in held_cells() if c[1]], left_out_cells(),
                     args.out / ("fits" + lines), lines == ".png")
    draw_traces(read_traces(ROOT / "tests/accuracy/traces.csv"),
                args.out / ("traces" + lines), lines == ".png")


if __name__ == "__main__":
    main()
