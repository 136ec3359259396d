"""Kernels of a trace summed per family of operators, predicted and measured.

Used by accuracy.py, which runs the program, and accuracy_readme.py, which shows
the figures. What a kernel took in the trace is told by scaled costs from the
GPU that was traced to itself: they leave every time as it was, and say which
family's law stands for it, as model costs do for the same kernels.
"""
import statistics

FIELDS = ["case", "family", "calls", "share", "measured_us", "predicted_us",
          "low_us", "high_us", "error_percent", "inside"]
# Traces whose shapes cover less of the kernels' time are not judged.
LEAST_COVERED = 0.9
# Of a family, the share of a trace's kernel time below which it says nothing.
LEAST_SHARE = 0.01
# Kernels without an operator or shapes: no law stands for them.
UNKNOWN = ("bound", "class")
WORST = 3


def rows_of(case, model, itself):
    """Lines of one case, from JSON reports under model costs, and under costs
    scaled from the GPU that was traced to itself."""
    # What launches tell covers kernels without shapes under model costs alone.
    if itself["coverage"]["device_time"] < LEAST_COVERED:
        return []
    measured = {f["model"]: f for f in itself["families"]}
    # Where ranks are missing, collectives also waited for these.
    alone = any(w.startswith("traces of ") for w in model["warnings"])
    total = sum(f["predicted_us"] for name, f in measured.items()
                if name != "collective")
    return [line(case, f, measured[f["model"]]["predicted_us"], total)
            for f in sorted(model["families"], key=lambda f: f["model"])
            if f["model"] in measured and f["model"] not in UNKNOWN
            and not (alone and f["model"] == "collective")]


def line(case, predicted, us, total):
    p, low, high = (predicted[k] for k in ("predicted_us", "low_us",
                                           "high_us"))
    return {"case": case, "family": predicted["model"],
            "calls": f"{predicted['calls']:.0f}",
            "share": f"{us / total:.4f}", "measured_us": f"{us:.3f}",
            "predicted_us": f"{p:.3f}", "low_us": f"{low:.3f}",
            "high_us": f"{high:.3f}",
            "error_percent": f"{100 * (p / us - 1):.3f}",
            "inside": "y" if low <= us <= high else "n"}


def judged(rows):
    return [r for r in rows if float(r["share"]) >= LEAST_SHARE]


def error(row):
    return abs(float(row["error_percent"]))


def cost(row):
    """The error as a share of all kernels of the trace."""
    return error(row) * float(row["share"])


def named(row):
    return f"{row['case']} ({float(row['error_percent']):+.0f} %)"


def of_each_set(rows):
    """The first of each set of traces: runs of one program go together."""
    found = {}
    for row in rows:
        found.setdefault(row["case"].split("/")[0].split(" ")[0], row)
    return list(found.values())


def table(rows):
    """Lines of Markdown; errors with their sign in the last column."""
    rows = judged(rows)
    lines = ["| family | traces | mean error | median | inside the interval "
             "| worst three traces |", "|---" * 6 + "|"]
    for family in sorted({r["family"] for r in rows}):
        of = sorted((r for r in rows if r["family"] == family), key=error,
                    reverse=True)
        errors = [error(r) for r in of]
        inside = sum(r["inside"] == "y" for r in of)
        lines.append(
            f"| {family} | {len(of)} | {statistics.mean(errors):.1f} % "
            f"| {statistics.median(errors):.1f} % | {inside} of {len(of)} "
            f"| {', '.join(named(r) for r in of_each_set(of)[:WORST])} |")
    return lines


def worst(rows):
    """A sentence that names where the most of a trace's time is missed."""
    text = "; ".join(
        f"{r['family']} of {r['case']} ({float(r['error_percent']):+.0f} % of "
        f"{100 * float(r['share']):.0f} % of its kernels)"
        for r in of_each_set(sorted(judged(rows), key=cost,
                                    reverse=True))[:WORST])
    return [f"The worst three, by what they miss of their trace: {text}."]
