"""Times that others measured, beside predictions: what the programs of several
such tables share.

A row is a dict, from a table or from a CSV file; `judged` is "y" where it
counts. An interval is from low_us to high_us.
"""
import csv
import statistics


def answer_of(report):
    """What a report (--json) says of the GPU's time: kernels and copies."""
    copies = report["breakdown_us"]["memory_copy"]
    kernels = report["kernel_us"]
    return {"predicted_us": kernels["predicted"] + copies,
            "low_us": kernels["low"] + copies,
            "high_us": kernels["high"] + copies,
            "launches": next((e["count"] for e in report["edges"]
                              if e["kind"] == "launch"), 0)}


def write(path, columns, rows):
    """Members beyond the columns are left out."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, lineterminator="\n",
                             extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


def shown(row):
    """With numbers that are easy to read and to compare."""
    return {name: f"{value:.3f}" if isinstance(value, float) else value
            for name, value in row.items()}


def cells(rows, *by):
    """Judged rows, those together whose members `by` are the same."""
    found = {}
    for row in rows:
        if row["judged"] == "y":
            found.setdefault(tuple(row[b] for b in by), []).append(row)
    return sorted(found.items())


def print_errors(rows, *by):
    """A table of errors in percent, a line a cell."""
    print(f"| {' | '.join(by)} | rows | mean | median | bias | worst | inside |")
    print("|---" * (len(by) + 6) + "|")
    for key, cell in cells(rows, *by):
        errors = [float(r["error_percent"]) for r in cell]
        sizes = [abs(e) for e in errors]
        inside = statistics.mean(
            float(r["low_us"]) <= float(r["measured_us"]) <=
            float(r["high_us"]) for r in cell)
        print(f"| {' | '.join(key)} | {len(cell)} | "
              f"{statistics.mean(sizes):.1f} | {statistics.median(sizes):.1f}"
              f" | {statistics.median(errors):+.1f} | "
              f"{max(errors, key=abs):+.1f} | {100 * inside:.0f} |")
    print()
