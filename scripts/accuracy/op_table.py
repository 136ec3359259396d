#!/usr/bin/env python3
"""The table of how well single operators are predicted.

    scripts/accuracy/op_table.py [tests/accuracy/op.csv]

prints it; scripts/accuracy/accuracy_readme.py writes it into docs/accuracy/README.md.

Means over fits on their held-out rows, from the table that tests/accuracy/op.sh
makes: a fit is of one GPU, stack and kind of work. Layers of experts and their
dispatch are fitted by kernel; here a fit of theirs is a GPU, stack and type, its
kernels weighted by rows; one of collectives is a GPU, stack and link.
"""
import csv
import pathlib
import sys

COLUMNS = ("law_alone_mean_pct", "mean_pct", "median_pct", "p90_pct",
           "interval_coverage_pct", "interval_high_over_low",
           "interval_score_over_error")
NAMES = {"gemm": "gemm", "attention": "attention", "conv": "conv",
         "vector": "vector", "moe": "moe (layers of experts)",
         "dispatch": "expert dispatch",
         "collective": "collective in a node, rank counts held out",
         "collective_sizes": "the same, sizes held out",
         "collective_gpu": "the same, the whole GPU held out",
         "collective_nodes": "between nodes, rank counts held out",
         "collective_sizes_nodes": "the same, sizes held out",
         "collective_cluster_nodes": "the same, the whole cluster held out"}

# Families of which every line of op.csv is a cell.
WHOLE = ("gemm", "attention", "conv", "vector")


def key_of(row, number):
    family, cell = row["family"], row["cell"]
    if family.startswith("collective"):
        return (family + "_nodes" * ("nodes" in cell), row["table_gpu"],
                row["framework"], cell.split("/")[0])
    if family == "moe":
        return (family, row["table_gpu"], row["framework"],
                cell.split("/")[0])
    if family == "dispatch":
        return (family, row["table_gpu"], row["framework"])
    return (family, number)


def name_of(row):
    """How people call the fit."""
    words = [row["platform"], row["framework"]]
    if row["family"] != "dispatch":
        words.append(row["cell"] if row["family"] in WHOLE
                     else row["cell"].split("/")[0])
    return " ".join(w for w in words if w)


def cells_of(path):
    """Per cell: rows, worst row, and means over rows of the columns."""
    cells = {}
    with open(path, newline="", encoding="utf-8") as f:
        for number, row in enumerate(csv.DictReader(f)):
            rows = int(row["rows"])
            cell = cells.setdefault(key_of(row, number),
                                    {"rows": 0, "worst": 0, "name": name_of(row),
                                     **dict.fromkeys(COLUMNS, 0)})
            cell["rows"] += rows
            cell["worst"] = max(cell["worst"], float(row["worst_pct"]))
            for c in COLUMNS:
                cell[c] += rows * float(row[c])
    for cell in cells.values():
        for c in COLUMNS:
            cell[c] /= cell["rows"]
    return cells


def table(path):
    """Lines of Markdown."""
    cells = cells_of(path)
    lines = ["| family | fits | rows | law alone | with correction | median "
             "| p90 | worst row | inside 90 % interval | high / low "
             "| score / error | worst fit |", "|---" * 12 + "|"]
    for family, name in NAMES.items():
        of = [c for k, c in cells.items() if k[0] == family]
        if not of:
            continue
        last = max(of, key=lambda x: x["mean_pct"])
        mean = {c: sum(x[c] for x in of) / len(of) for c in COLUMNS}
        lines.append(
            f"| {name} | {len(of)} | {sum(x['rows'] for x in of):,} "
            f"| {mean['law_alone_mean_pct']:.1f} % "
            f"| {mean['mean_pct']:.1f} % | {mean['median_pct']:.1f} % "
            f"| {mean['p90_pct']:.1f} % "
            f"| {max(x['worst'] for x in of):.0f} % "
            f"| {mean['interval_coverage_pct']:.0f} % "
            f"| {mean['interval_high_over_low']:.2f} "
            f"| {mean['interval_score_over_error']:.1f} "
            f"| {last['mean_pct']:.1f} %: {last['name']} |")
    return lines


def main():
    default = pathlib.Path(__file__).resolve().parents[2] / "tests/accuracy/op.csv"
    print("\n".join(table(sys.argv[1] if len(sys.argv) > 1 else default)))


if __name__ == "__main__":
    main()
