#!/usr/bin/env python3
"""How busy the SMs are, predicted against recorded, over the real traces.

    scripts/accuracy/sm_use.py --traces FOLDER [--binary build/mystique-sim]
                      [--out tests/accuracy/sm_use.csv | --check | --table |
                       --curves DIR]

FOLDER holds traces/ (see docs/accuracy/README.md). Kineto writes beside a
kernel how many blocks of it there are for each SM, and how many of the warps
that an SM can hold ("est. achieved occupancy %"). Here that is made the share
of all SMs that hold a block, and of the warps that all SMs can hold, on average
over the time of the iterations (docs/predict.md has the definition), with the
trace's own times: `recorded`. It reads the trace by itself, not by way of the
program. Against it stand, of `mystique-sim predict --usage`,

    traced    measured costs: the simulated run, launches as recorded
    model     model costs: times from the platform's models
    by works  the same where no launch is recorded: grids are taken out of the
              trace, and are estimated by what operators ask for


Of traces of a GPU whose clock was held down (particle-transformer: its kernels
take three times as long as elsewhere) `learned` is `model` at the clock that
another trace of that machine shows (--source-trace), the next larger batch.

Kineto's occupancy is 0 for kernels with more than 48 KiB of shared memory, which
ask the driver for that; traces in which those are more than a twentieth of the
kernels' time have no `recorded_occupancy`.

--out writes the table that is committed; --check compares with it, and fails
where `model` (or `learned`) is further than 3 points from `recorded`, on average
over the traces whose operators have shapes; --table prints the summary that
docs/accuracy shows; --curves writes the curves of each trace as DIR/*.csv, and
as pictures where gnuplot is installed.
"""
import argparse
import csv
import gzip
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from accuracy import CASES, KERNEL_SETS, SHAPELESS, belongs

MEAN = 3.0  # points
SIDES = ("traced", "model", "learned", "works")
FIELDS = ["case", "rank"] + [
    f"{side}_{what}" for what in ("sms", "occupancy")
    for side in ("recorded",) + SIDES]
PARTICLES = "particle-transformer-a100/kineto/batch-"
LARGER = {"2": "8", "8": "32", "32": "128", "128": "512", "512": "128"}
TABLE = pathlib.Path(__file__).parents[2] / "tests/accuracy/sm_use.csv"
LAUNCH = re.compile(
    r'"(?:(?:registers per thread|shared memory|blocks per SM|warps per SM|'
    r'est\. achieved occupancy %)"\s*:\s*[-+.\w]+|(?:grid|block)"\s*:\s*'
    r'\[[^\]]*\])\s*,?')
WARP = 32
LARGE = 48 * 1024
BINS = 200


def text_of(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8", "replace")


def files_of(paths):
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*.json*") if p.is_file())
        else:
            yield path


def load(text):
    try:
        d = json.loads(text, strict=False)
    except ValueError:  # what PyTorch writes and JSON forbids
        d = json.loads(re.sub(r'(?<=[:\[,\s])(?:nan|-?inf|NaN|Infinity)\b',
                              "null", text), strict=False)
    return d if isinstance(d, dict) else {"traceEvents": d}


def fillings(a, sms, device):
    """(share of the time, share of the SMs, share of the warps or None)."""
    blocks = float(a["blocks per SM"])
    warps = float(a["warps per SM"]) / blocks if blocks else 0  # of a block
    most = device["maxThreadsPerMultiprocessor"] / WARP
    large = float(a.get("shared memory", 0)) > LARGE
    if large:
        at_once = device["sharedMemPerMultiprocessor"] // (
            float(a["shared memory"]) + 1024)
    else:
        at_once = round(float(a["est. achieved occupancy %"]) / 100 * most /
                        warps) if warps else 0
    # below a whole wave the percentage says how much of it there is
    if not large and blocks * warps / most < 1 and abs(
            100 * blocks * warps / most -
            float(a["est. achieved occupancy %"])) <= 0.51:
        at_once = math.ceil(blocks)
    waves = math.ceil(blocks / at_once - 1e-6) if at_once > 0 else 1
    hold = [(1 / waves, blocks - (waves - 1) * at_once)]
    if waves > 1:
        hold.append(((waves - 1) / waves, at_once))
    return [(share, min(1, held), None if large else
             min(1, held * warps / most)) for share, held in hold], large


def steps_of(events, names):
    at = {}
    for e in events:
        if e.get("ph") == "X" and e.get("name") in names and e.get("dur"):
            cat = str(e.get("cat", ""))
            if "gpu" not in cat:
                at.setdefault(e["name"], (e["ts"], e["ts"] + e["dur"]))
    if at:
        return min(b for b, _ in at.values()), max(e for _, e in at.values())
    spans = [(float(e["ts"]), float(e["ts"]) + float(e["dur"]))
             for e in events if e.get("ph") == "X" and "dur" in e and
             str(e.get("cat", "")).lower() in
             ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset",
              "cpu_op", "operator", "cuda_runtime", "runtime", "cuda_driver")]
    return min(b for b, _ in spans), max(e for _, e in spans)


def curve(pieces, begin, end):
    """Steps (at, value) of a sum that is 1 at most."""
    changes = sorted([(max(b, begin), v) for b, e, v in pieces if e > begin and
                      b < end and e > b] +
                     [(min(e, end), -v) for b, e, v in pieces if e > begin and
                      b < end and e > b])
    steps, total = [(begin, 0.0)], 0.0
    for at, v in changes:
        total += v
        steps.append((at, min(1.0, max(0.0, total))))
    return steps + [(end, 0.0)]


def bins_of(steps, n=BINS):
    begin, end = steps[0][0], steps[-1][0]
    width, out = (end - begin) / n, [0.0] * n
    for (at, v), (until, _) in zip(steps, steps[1:]):
        b = int((at - begin) / width)
        while b < n and begin + b * width < until:
            lo, hi = begin + b * width, begin + (b + 1) * width
            out[b] += v * max(0, min(until, hi) - max(at, lo)) / width
            b += 1
    return out


def recorded(trace, names):
    """Means and curves of one file, or None where it records no blocks."""
    events = [e for e in trace["traceEvents"] if isinstance(e, dict)]
    kernels = [e for e in events if isinstance(e.get("args"), dict) and
               "blocks per SM" in e["args"] and "dur" in e]
    if not kernels:
        return None
    devices = {d["id"]: d for d in trace["deviceProperties"]}
    begin, end = steps_of(events, names)
    sms, warps, all_us, large_us = [], [], 0, 0
    for e in kernels:
        device = devices[int(e["args"].get("device", 0))]
        hold, large = fillings(e["args"], device["numSms"], device)
        at, dur = float(e["ts"]), float(e["dur"])
        all_us += dur
        large_us += dur if large else 0
        for share, busy, held in reversed(hold):
            sms.append((at, at + share * dur, busy))
            warps.append((at, at + share * dur, held or 0))
            at += share * dur
    curves = [bins_of(curve(p, begin, end)) for p in (sms, warps)]
    if large_us > all_us / 20:
        curves[1] = None
    return curves


def predict(binary, costs, platform, paths, source=None):
    command = [str(binary), "predict", "--json", "--usage", "--costs", costs]
    if platform:
        command += ["--platform", platform]
    if source:
        command += ["--source-trace", str(source)]
    done = subprocess.run(command + [str(p) for p in paths], check=False,
                          capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"{' '.join(command)} {paths}: {done.stderr}")
    return json.loads(done.stdout)


def without_launches(paths, root, folder):
    """The same files in another folder, but for what launches were."""
    for path in files_of(paths):
        to = folder / path.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        text = LAUNCH.sub("", text_of(path))
        text = re.sub(r",(\s*})", r"\1", text)
        to.with_suffix("" if to.suffix == ".gz" else to.suffix).write_text(
            text, encoding="utf-8")
    return [p if (p := folder / path.relative_to(root)).is_dir() else
            p.with_suffix("") for path in paths]


def rank_of(trace, path):
    info = trace.get("distributedInfo") or {}
    named = re.search(r"rank-(\d+)", path.name)
    return int(info["rank"]) if "rank" in info else \
        int(named.group(1)) if named else None


def gpu_of(prediction, rank):
    gpus = prediction["usage"]["gpus"]
    ours = [g for g in gpus if rank is None or g["rank"] in (rank, None)]
    return ours[0] if ours else gpus[0]


def points(value):
    return "" if value is None else f"{100 * value:.2f}"


def case_rows(args, root, name, inputs, platform):
    """A row and the curves of each file that records blocks."""
    paths = [root / i for i in inputs]
    if not any('"blocks per SM"' in text_of(p) for p in files_of(paths)):
        return
    traced = predict(args.binary, "measured", None, paths)
    model = predict(args.binary, "model", platform, paths)
    with tempfile.TemporaryDirectory() as folder:
        bare = without_launches(paths, root, pathlib.Path(folder))
        works = predict(args.binary, "model", platform, bare)
    learned = None
    if inputs[0].startswith(PARTICLES):
        batch = inputs[0][len(PARTICLES):].split(".")[0]
        learned = predict(args.binary, "auto", platform, paths,
                          root / f"{PARTICLES}{LARGER[batch]}.json.gz")
    names = {i["name"] for i in traced["iterations"]}
    for path in files_of(paths):
        trace = load(text_of(path))
        if "traceEvents" not in trace:
            continue
        curves = recorded(trace, names)
        if curves is None:
            continue
        rank = rank_of(trace, path)
        by = {side: gpu_of(p, rank) for side, p in zip(
            SIDES, (traced, model, learned, works)) if p}
        row = {"case": name, "rank": "" if rank is None else str(rank)}
        for k, (key, what) in enumerate((("sm_busy", "sms"),
                                         ("sm_occupancy", "occupancy"))):
            row[f"recorded_{what}"] = points(
                curves[k] and statistics.fmean(curves[k]))
            for side in SIDES:
                row[f"{side}_{what}"] = points(
                    by[side][key]["mean"] if side in by else None)
        yield row, curves, by


def apart(rows, side, what="sms"):
    """How far each is from what is recorded, in points."""
    out = []
    for r in rows:
        got = r[f"{side}_{what}"]
        if side == "model" and r[f"learned_{what}"]:
            got = r[f"learned_{what}"]
        if got and r[f"recorded_{what}"]:
            out.append(abs(float(got) - float(r[f"recorded_{what}"])))
    return out


def has_shapes(row):
    return belongs(row["case"], KERNEL_SETS + ("timesformer",)) and \
        not belongs(row["case"], SHAPELESS)


GROUPS = [
    ("as traced", "traced", lambda r: True),
    ("model costs, operators with shapes", "model", has_shapes),
    ("the same, no launch recorded", "works", has_shapes),
    ("model costs, without shapes", "model", lambda r: not has_shapes(r)),
    ("model costs, all", "model", lambda r: True)]


def table(rows):
    """Summary for docs/accuracy."""
    lines = ["| what | traces | SMs busy: mean, median, worst | "
             "warps held: mean, median, worst |", "|---|---|---|---|"]
    for name, side, wanted in GROUPS:
        cells = []
        for what in ("sms", "occupancy"):
            d = apart([r for r in rows if wanted(r)], side, what)
            cells.append(f"{statistics.fmean(d):.1f}, "
                         f"{statistics.median(d):.1f}, {max(d):.1f} points" +
                         (f" (of {len(d)})" if what == "occupancy" else "")
                         if d else "")
            if what == "sms":
                n = len(d)
        lines.append(f"| {name} | {n} | {cells[0]} | {cells[1]} |")
    return lines


def judge(rows):
    d = apart([r for r in rows if has_shapes(r)], "model")
    ok = bool(d) and statistics.fmean(d) <= MEAN
    print(*table(rows), sep="\n")
    print(f"{'ok  ' if ok else 'FAIL'} SMs busy by model costs, operators with "
          f"shapes: {statistics.fmean(d) if d else math.nan:.2f} points from "
          f"recorded on average of {len(d)}, want {MEAN} at most")
    return ok


SCRIPT = """set terminal pngcairo size 1000,560 font 'Sans,9'
set output {out}
set multiplot layout 2,1 title {title}
set datafile separator ','
set yrange [0:125]
set ylabel '%'
set key top right horizontal
set title 'SMs that hold a block'
plot {data} using 1:2 with steps lw 2 lc rgb '#222222' title 'recorded', \\
 {data} using 1:{m} with steps lc rgb '#4477aa' title 'model costs', \\
 {data} using 1:6 with steps lc rgb '#ee8866' title 'by works'
set xlabel '% of the time of the iterations'
set title 'Warps held, of those that all SMs can hold'
plot {data} using 1:7 with steps lw 2 lc rgb '#222222' title 'recorded', \\
 {data} using 1:{n} with steps lc rgb '#4477aa' title 'model costs', \\
 {data} using 1:11 with steps lc rgb '#ee8866' title 'by works'
unset multiplot
"""


def draw(folder, row, curves, by):
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", row["case"] + " " + row["rank"]).strip("-")
    data = folder / f"{name}.csv"
    lines = []
    for k, key in enumerate(("sm_busy", "sm_occupancy")):
        lines += [curves[k]] + [by[s][key]["curve"] if s in by else None
                                for s in SIDES]
    with open(data, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        for b in range(BINS):
            writer.writerow([100 * b / BINS] + [
                "NaN" if c is None else round(100 * c[b], 2) for c in lines])
    script = SCRIPT.format(out=f"'{folder / name}.png'", data=f"'{data}'",
                           title=f"'{name}'",
                           m=5 if "learned" in by else 4,
                           n=10 if "learned" in by else 9)
    try:
        subprocess.run(["gnuplot"], input=script, check=True, encoding="utf-8",
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        print(f"no picture of {name}: gnuplot")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    parser.add_argument("--only", default="", help="cases that hold this word")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path)
    what.add_argument("--check", action="store_true")
    what.add_argument("--table", action="store_true")
    what.add_argument("--curves", type=pathlib.Path)
    args = parser.parse_args()
    with open(TABLE, newline="", encoding="utf-8") as f:
        old = list(csv.DictReader(f))
    if args.table:
        print(*table(old), sep="\n")
        return
    rows = []
    for name, inputs, platform in CASES:
        if args.only not in name or not platform:
            continue
        for row, curves, by in case_rows(args, args.traces / "traces", name,
                                         inputs, platform):
            rows.append(row)
            if args.curves:
                draw(args.curves, row, curves, by)
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    ok = judge(rows)
    if args.check:
        for a, b in zip(old, rows):
            if a != b:
                print(f"FAIL {a['case']}: committed {a}, now {b}")
        sys.exit(0 if ok and old == rows else 1)


if __name__ == "__main__":
    main()
