#!/usr/bin/env python3
"""Predicted against measured, over what scripts/capture.py recorded here.

    scripts/capture/compare_captures.py --platform FILE [--platform FILE ...]
        [--host FILE] [--shipped NAME] [--journal JOURNAL]
        [--binary build/mystique-sim] [--out CSV] DIR...

Each DIR is a capture. Its execution traces alone, which hold no times, are
predicted on each platform, a file that calibrate wrote on this machine; beside
it stands what was measured in the same run: the iteration is the median of the
steps that ran without the profiler (meta.json), kernels are those that the
Kineto trace has, where it has any. --host is the host file that calibrate wrote
beside it: what operators take of this machine's host.

--shipped names a platform of data/platforms that is compared, too: how well it
predicts the same captures, and, with the journal of the calibration, what it
says of the experiments that were timed here, a line per table and kind.
"""
import argparse
import collections
import csv
import io
import json
import math
import pathlib
import statistics
import subprocess
import sys

# Figures of a prediction are read as all tables of accuracy read them.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "accuracy"))
import accuracy  # noqa: E402

FIELDS = ["platform", "what", "figure", "cases", "measured_us", "predicted_us",
          "low_us", "high_us", "error_percent", "inside"]
# Columns of tables of rows that `op` reads; "dtype" may have a default.
COLUMNS = {"gemm": ["m", "n", "k", "batch", "layout", "dtype"],
           "vector": ["op", "dtype", "shape", "bytes", "table_rows"],
           "conv": ["op", "n", "c", "h", "w", "k", "r", "s", "stride", "pad",
                    "groups", "dtype"],
           "attention": ["phase", "batch", "heads", "kv_heads", "q_len",
                         "kv_len", "head_dim", "dtype"]}


def run(binary, arguments, text=None):
    done = subprocess.run([str(binary), *map(str, arguments)], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit "
                           f"{done.returncode}: {done.stderr.strip()}")
    return done.stdout


def measured(binary, folder):
    """Figure -> microseconds."""
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    out = {"iteration_us": 1e3 * meta["step_ms_median"]}
    if meta["device"] != "cpu":
        own = json.loads(run(binary, ["--costs", "measured", "--json",
                                      folder / "kineto"]))
        if own["kernel_us"]["measured"]:
            out["kernel_us"] = own["kernel_us"]["measured"]
    return out


def captures(binary, platform, host, folders):
    rows = []
    of_host = ["--host", host] if host else []
    for folder in folders:
        try:
            there = measured(binary, folder)
            here = json.loads(run(binary, [
                "--platform", platform, *of_host, "--costs", "model",
                "--json", folder / "et"]))
        except (OSError, RuntimeError, ValueError, KeyError) as why:
            print(f"compare_captures.py: {folder}: {why}", file=sys.stderr)
            continue
        for figure, us in there.items():
            rows.append(row(platform, folder.name, figure, us, here[figure]))
    return rows


def row(platform, what, figure, us, predicted):
    p, low, high = (predicted[k] for k in ("predicted", "low", "high"))
    return {"platform": pathlib.Path(platform).name, "what": what,
            "figure": figure, "cases": 1, "measured_us": f"{us:.3f}",
            "predicted_us": f"{p:.3f}", "low_us": f"{low:.3f}",
            "high_us": f"{high:.3f}",
            "error_percent": f"{100 * (p / us - 1):.1f}",
            "inside": "y" if low <= us <= high else "n"}


# ---- the shipped platform on what was timed here ---------------------------

def experiments(journal):
    """(table, kind) -> [(experiment, microseconds)]"""
    found = collections.defaultdict(list)
    with open(journal, encoding="utf-8") as f:
        for line in f:
            if not line.endswith("}\n"):
                continue  # cut off by a kill
            entry = json.loads(line)
            e, a = entry.get("experiment"), entry.get("answer", {})
            if not e or e["table"] not in COLUMNS or "time_us" not in a:
                continue
            kind = ":".join(e[k] for k in ("op", "phase", "dtype") if k in e)
            found[e["table"], f"{entry['backend']}:{kind}"].append(
                (e, a["time_us"]))
    return found


def shipped_rows(binary, platform, journal):
    rows = []
    for (table, kind), timed in sorted(experiments(journal).items()):
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS[table], extrasaction="ignore",
                                lineterminator="\n")
        writer.writeheader()
        writer.writerows(e for e, _ in timed)
        answers = csv.DictReader(io.StringIO(
            run(binary, ["op", "--platform", platform, "-"], text.getvalue())))
        ratios = [(float(a["predicted_us"]) / us,
                   float(a["low_us"]) <= us <= float(a["high_us"]))
                  for a, (_, us) in zip(answers, timed) if a["predicted_us"]]
        if ratios:
            rows.append(ratio_row(platform, f"{table} {kind}", ratios))
    return rows


def ratio_row(platform, what, ratios):
    """Of many: the median error, and of how many the interval holds."""
    return {"platform": platform, "what": what, "figure": "median of rows",
            "cases": len(ratios), "measured_us": "", "predicted_us": "",
            "low_us": "", "high_us": "",
            "error_percent":
                f"{100 * (statistics.median(r for r, _ in ratios) - 1):.1f}",
            "inside": f"{sum(i for _, i in ratios) / len(ratios):.2f}"}


# ---- the program -----------------------------------------------------------

def print_means(rows):
    groups = collections.defaultdict(list)
    for r in rows:
        if r["measured_us"]:
            groups[r["platform"], r["figure"]].append(r)
    for (platform, figure), some in groups.items():
        errors = [abs(float(r["error_percent"])) for r in some]
        bias = statistics.mean(math.log(float(r["predicted_us"])
                                        / float(r["measured_us"]))
                               for r in some)
        inside = sum(r["inside"] == "y" for r in some)
        print(f"{platform}: {figure}: mean error "
              f"{statistics.mean(errors):.1f} % of {len(some)} captures "
              f"(worst {max(errors):.1f} %, all x {math.exp(bias):.2f}), "
              f"{inside} inside their intervals")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--platform", action="append", default=[],
                        required=True)
    parser.add_argument("--host")
    parser.add_argument("--shipped")
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    rows = []
    for platform in args.platform + [args.shipped] * bool(args.shipped):
        rows += captures(args.binary, platform, args.host, args.folders)
    if args.shipped and args.journal:
        rows += shipped_rows(args.binary, args.shipped, args.journal)
    if args.out:
        accuracy.write_csv(args.out, FIELDS, rows)
    for r in rows:
        print(f"{r['platform']:24} {r['what']:32} {r['figure']:16} "
              f"{r['error_percent']:>8} %  {r['inside']}")
    print_means(rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
