#!/usr/bin/env python3
"""Every verb on every trace: figures that cannot be.

    scripts/accuracy/every_verb.py --traces FOLDER [--binary build/mystique-sim]
                                   [--only TEXT] [--list] [--quick]

FOLDER holds traces/ (see docs/accuracy/README.md). Each trace, and each folder
of ranks, goes through info, predict (every cost mode that it allows; as text,
JSON, CSV, timeline), compare and convert. The script knows nothing of the right
figures. It looks for what is wrong in any report:

* a NaN or an infinity; a command that ends with other than 0, 2 or 3
* an interval that does not hold its figure, or begins below zero
* a share above 1, and an MFU above 1 unless a warning says Winograd
* parts that do not sum to their total: the breakdown, kernels over operators,
  iterations, the critical path, collectives over ranks
* a period below what the busiest resource needs
* two rows of one table that read alike; a line of text over 100 columns

Exit 1 if there is one.
"""
import argparse
import collections
import concurrent.futures
import csv
import gzip
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# A model per generation, one of another maker, one without rows of its own.
PLATFORMS = ("a100", "h100", "t4", "l40s", "mi300x")
COLUMNS = 100
# Sums of figures that were rounded to a nanosecond each.
ROUNDING_US = 0.01
NUMBER = re.compile(r"[-+]?(\d[\d,.]*|-)(e[-+]?\d+)?( ?(%|ps|ns|us|ms|s|x|"
                    r"[kMGTP]?(B|FLOP|FLOPS|FLOP/s|B/s)))?(?![\w.])")


def jobs(folder):
    """Each file by itself, and each folder of files: name and paths."""
    traces = folder / "traces"
    files = sorted(p for p in traces.rglob("*.gz"))
    for path in files:
        yield str(path.relative_to(traces)), [path]
    for parent in sorted({p.parent for p in files}):
        inside = [p for p in files if p.parent == parent]
        if len(inside) > 1 and all("rank" in p.name for p in inside):
            yield str(parent.relative_to(traces)) + "/", [parent]
    for et in sorted(traces.glob("*/et")):
        kineto = et.parent / "kineto"
        if kineto.is_dir() and len(list(et.glob("rank-*"))):
            yield str(et.parent.relative_to(traces)) + "/ (both)", [et, kineto]


class Found:
    def __init__(self, name):
        self.name, self.faults = name, []

    def say(self, where, text):
        self.faults.append(f"{self.name}: {where}: {text}")


def run(args, command, found):
    done = subprocess.run([str(args.binary)] + [str(c) for c in command],
                          capture_output=True, check=False, timeout=300)
    where = " ".join(str(c) for c in command if not isinstance(c, pathlib.Path))
    if done.returncode not in (0, 2, 3):
        found.say(where, f"exit {done.returncode}")
    return done, where


def strict_number(text):
    raise ValueError(f"not a JSON number: {text}")


def parse_json(text, where, found):
    try:
        return json.loads(text, parse_constant=strict_number)
    except ValueError as e:
        found.say(where, f"no JSON: {e}")
        return None


def finite(value, where, found, path=""):
    """No infinity may hide behind a large exponent either."""
    if isinstance(value, dict):
        for k, v in value.items():
            finite(v, where, found, f"{path}.{k}")
    elif isinstance(value, list):
        for i, v in enumerate(value):
            finite(v, where, found, f"{path}[{i}]")
    elif isinstance(value, float) and not math.isfinite(value):
        found.say(where, f"{path} is {value}")


def near(a, b, parts=1):
    return abs(a - b) <= ROUNDING_US * max(parts, 1) + 1e-6 * max(abs(a), abs(b))


def figure(f, suffix, where, what, found):
    mid, low, high = (f.get(k + suffix) for k in ("predicted", "low", "high"))
    if mid is None:
        return
    if mid < 0:
        found.say(where, f"{what} is {mid}")
    if low is not None and not (0 <= low <= mid + ROUNDING_US
                                and mid <= high + ROUNDING_US):
        found.say(where, f"{what}: {mid} is not between {low} and {high}")


def figures(value, where, found, path=""):
    if isinstance(value, dict):
        figure(value, "", where, path, found)
        figure(value, "_us", where, f"{path} {value.get('name', '')}", found)
        for k, v in value.items():
            figures(v, where, found, f"{path}.{k}")
    elif isinstance(value, list):
        for v in value:
            figures(v, where, found, path)


def shares(value, where, found, path=""):
    if isinstance(value, dict):
        for k, v in value.items():
            if ("share" in k or path.endswith(".coverage")) and isinstance(
                    v, (int, float)) and not -1e-9 <= v <= 1 + 1e-9:
                found.say(where, f"{path}.{k} is {v}")
            shares(v, where, found, f"{path}.{k}")
    elif isinstance(value, list):
        for v in value:
            shares(v, where, found, path)


def total(name, parts, whole, where, found):
    if whole is not None and not near(sum(parts), whole, len(parts)):
        found.say(where, f"{name}: parts sum to {sum(parts):.3f}, "
                         f"the whole is {whole:.3f}")


def unique(rows, where, what, found):
    for key, n in collections.Counter(rows).items():
        if n > 1:
            found.say(where, f"{what}: {n} rows are {key}")


def check_sums(p, where, found):
    iterations = p["iterations"]
    mean = sum(i["predicted_us"] for i in iterations) / max(len(iterations), 1)
    if iterations and not near(mean, p["iteration_us"]["predicted"]):
        found.say(where, "iteration_us is not the mean of iterations")
    for i in iterations:
        total(f"breakdown of {i['name']}", list(i["breakdown_us"].values()),
              i["predicted_us"], where, found)
    for r in p["ranks_detail"]:
        total(f"breakdown of rank {r['rank']}",
              list(r["breakdown_us"].values()),
              r["iteration_us"]["predicted"], where, found)
    total("kernels over operators",
          [o["predicted_us"] for o in p["ops"] if not o["communication"]],
          p["kernel_us"]["predicted"], where, found)
    path = p["critical_path_of"]
    if path:
        total("critical path", [c["us"] for c in p["critical_path"]],
              path["us"], where, found)


def check_prediction(p, where, found):
    finite(p, where, found)
    figures(p, where, found)
    shares(p, where, found)
    check_sums(p, where, found)
    unique([(o["name"], o["communication"]) for o in p["ops"]], where, "ops",
           found)
    unique([(c["name"], c["group"], c["bytes"], c["ranks"])
            for c in p["collectives"]], where, "collectives", found)
    mfu = p.get("mfu")
    if mfu is not None and not 0 <= mfu <= 1 and not any(
            "Winograd" in w for w in p["warnings"]):
        found.say(where, f"MFU is {mfu}")
    period = p.get("period_us")
    if period and period["predicted"] is not None:
        bound = p["period_of"]["busiest_us"]
        if bound is not None \
                and bound > period["predicted"] * (1 + 1e-6) + ROUNDING_US:
            found.say(where, f"the period {period['predicted']} is below "
                             f"a bound of {bound}")


def row_text(line):
    """A row's name and words, without its figures."""
    name, *cells = re.split(r"\s{2,}", line.strip())
    return " ".join([name] + [c for c in cells if not NUMBER.match(c)])


def is_file_row(line):
    """A path is shown whole, behind what is said of its file."""
    name = re.split(r"\s{2,}", line)[-1]
    return "/" in name and len(line) - len(name) <= COLUMNS


def tables_of(comparison):
    """Without the heading, in which A and B may read alike."""
    return comparison.partition("\n\n")[2]


def check_text(text, where, found):
    for bad in re.findall(r".*(?<![\w.:/-])[-+]?(?:nan|inf)(?![\w.:/-]).*", text):
        found.say(where, f"not a number: {bad.strip()}")
    table = []
    wide = [line for line in text.splitlines() if len(line) > COLUMNS
            and "warning:" not in line and "/" not in line.split("  ")[0]
            and not is_file_row(line)]
    if wide:
        found.say(where, f"{len(wide)} lines over {COLUMNS} columns, such as "
                         f"{max(wide, key=len)[:60].strip()}...")
    for line in text.splitlines() + [""]:
        if not line.strip():
            unique([t for t in table if t], where, "a table", found)
            table = []
        elif len(re.findall(NUMBER, line)) >= 2:
            table.append(row_text(line)
                         if re.match(r"\s+[^\d\s]", line) else "")


def check_csv(text, where, found):
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for k, v in row.items():
            if v and v.strip().lower() in ("nan", "inf", "-nan", "-inf"):
                found.say(where, f"{k} is {v}")
    if rows and None in rows[0]:
        found.say(where, "a row has more cells than the header")


def check_timeline(path, where, found):
    with gzip.open(path, "rt") as f:
        whole = parse_json(f.read(), where, found)
    if whole is None:
        return
    starts = {}
    for e in whole["traceEvents"]:
        if e.get("dur", 0) < 0 or e.get("ts", 0) < 0:
            found.say(where, f"{e['name']} at {e.get('ts')} takes {e.get('dur')}")
        if e["ph"] == "s":
            starts[e["id"]] = e["ts"]
        elif e["ph"] == "f" and e["ts"] < starts.get(e["id"], e["ts"]) - 0.001:
            found.say(where, f"an arrow goes back in time at {e['ts']}")


def predict(args, found, paths, options, forms):
    saved = None
    for form in forms:
        command = [*options, *form, *paths]
        done, where = run(args, command, found)
        text = done.stdout.decode("utf-8", "replace")
        if done.returncode:
            return None
        if "--json" in form:
            saved = parse_json(text, where, found)
            if saved:
                check_prediction(saved, where, found)
        elif "--csv" in form:
            check_csv(text, where, found)
        else:
            check_text(text, where, found)
    return saved


def check_info(args, found, paths):
    done, where = run(args, ["info", "--json", *paths], found)
    if done.returncode == 0:
        got = parse_json(done.stdout.decode(), where, found)
        finite(got, where, found)
        for f in got["files"]:
            if f["linked"] is not None and not 0 <= f["linked"] <= 1:
                found.say(where, f"linked is {f['linked']}")
    done, where = run(args, ["info", *paths], found)
    check_text(done.stdout.decode(), where, found)


def check_quickly(args, found, paths):
    predict(args, found, paths, ["--costs", "measured"], [[], ["--json"]])
    predict(args, found, paths, ["--costs", "model", "--platform",
                                 PLATFORMS[0]], [["--json"]])
    predict(args, found, paths, ["--costs", "auto", "--platform",
                                 PLATFORMS[0]], [[]])


def check_job(args, job):
    name, paths = job
    found = Found(name)
    text, js, table = [], ["--json"], ["--csv"]
    if args.quick:
        check_quickly(args, found, paths)
        return found.faults
    check_info(args, found, paths)
    with tempfile.TemporaryDirectory() as tmp:
        line = pathlib.Path(tmp) / "line.json.gz"
        base = predict(args, found, paths, ["--costs", "measured"],
                       [text, js, table, ["--timeline", line]])
        if base and line.exists():
            check_timeline(line, "timeline", found)
        for change in (["--scale", "kernels=0.5"], ["--scale", "host=0.5"],
                       ["--scale", "communication=0"], ["--peers", "follow"]):
            predict(args, found, paths, ["--costs", "measured", *change],
                    [text, js])
        for platform in PLATFORMS:
            for costs in ("model", "auto"):
                predict(args, found, paths,
                        ["--costs", costs, "--platform", platform],
                        [text, js, table] if platform == PLATFORMS[0] else [js])
        for b in (["--costs", "measured"],
                  ["--costs", "model", "--platform", "h100"]):
            done, where = run(args, ["compare", *b, paths[0], paths[-1]], found)
            check_text(tables_of(done.stdout.decode()), where, found)
            done, where = run(args, ["compare", *b, "--json", paths[0],
                                     paths[-1]], found)
            if done.returncode == 0:
                finite(parse_json(done.stdout.decode(), where, found), where,
                       found)
        run(args, ["convert", "-o", pathlib.Path(tmp) / "out", *paths], found)
    return found.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default="build/mystique-sim")
    parser.add_argument("--only", default="", help="jobs whose name holds this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true",
                        help="three predictions a job, as text and JSON")
    args = parser.parse_args()

    chosen = [j for j in jobs(args.traces) if args.only in j[0]]
    if args.list or not chosen:
        print("\n".join(n for n, _ in chosen) or "no such job")
        return 0 if chosen else 2
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [f for found in pool.map(lambda j: check_job(args, j), chosen)
                  for f in found]
    for f in faults:
        print(f)
    print(f"{len(chosen)} jobs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
