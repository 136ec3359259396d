#!/usr/bin/env python3
"""A run really made: from one data loader to another, nothing else changed.

    scripts/accuracy/loader.py --traces FOLDER [--binary build/mystique-sim]

The same training was recorded twice, loading data on the training thread
(workers-0) and with worker processes (workers-4). The first trace is simulated
with the time of its loader replaced by that of the second, per step, and with
nothing else known of the second; the median step is compared with the one that
was measured.

Not all steps of the second run are like the others. Those further from the
median than three times the spread of all (1.4826 times the median deviation,
which is a standard deviation where times are normal) are named, with what the
trace has on them, and left out of the median; with them it is printed, too.

Fails where the error is above 8 %, or above a third of that of doing nothing.
"""
import argparse
import gzip
import json
import pathlib
import statistics
import subprocess
import sys

FOLDER = "traces/resnet50-v100/kineto"
FROM, TO = "workers-0", "workers-4"
FLOOR, GOAL = 8, 5
LOADER = "enumerate(DataLoader)"
GPU = ("Kernel", "Memcpy", "Memset")


def events(traces, name):
    with gzip.open(traces / FOLDER / f"{name}.json.gz") as f:
        return [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]


def inside(step, all_events):
    end = step["ts"] + step["dur"]
    return [e for e in all_events if step["ts"] <= e["ts"] < end]


def topmost(ops):
    """Operators of a thread that lie in no other, in order."""
    end, out = -1, []
    for e in sorted(ops, key=lambda e: (e["ts"], -e["dur"])):
        if e["ts"] >= end:
            out.append(e)
            end = e["ts"] + e["dur"]
    return out


def total(some):
    return sum(e["dur"] for e in some)


def busy(step, gpu):
    end = step["ts"] + step["dur"]
    return sum(max(0, min(e["ts"] + e["dur"], end) - max(e["ts"], step["ts"]))
               for e in gpu)


def steps_of(all_events):
    """What each step spent, by what the trace has of it, in us."""
    marks = sorted((e for e in all_events
                    if e["name"].startswith("ProfilerStep#")),
                   key=lambda e: e["ts"])
    gpu = [e for e in all_events if e["cat"] in GPU]
    found = {}
    for step in marks:
        ops = [e for e in inside(step, all_events)
               if e["cat"] == "Operator" and e is not step]
        main = topmost(e for e in ops if e["tid"] == step["tid"])
        calls = [e for e in inside(step, all_events) if e["cat"] == "Runtime"]
        loader = total(e for e in main if e["name"].startswith(LOADER))
        copies = total(e for e in calls if "Memcpy" in e["name"])
        own = total(main) - loader
        found[step["name"]] = {
            "step": step["dur"],
            "loader": loader,
            "calls that copy": copies,
            "operators of the training thread": own - copies,
            "operators of the autograd thread":
                total(topmost(e for e in ops if e["tid"] != step["tid"])),
            "GPU busy": busy(step, gpu),
        }
    return found


def predicted(binary, trace, factor):
    command = [str(binary), "--costs", "measured", "--json", str(trace)]
    if factor is not None:
        command[1:1] = ["--scale", f"host:{LOADER}*={factor!r}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"loader.py: {' '.join(command)}: exit {done.returncode}: "
                 f"{done.stderr.strip()}")
    return {i["name"]: i["predicted_us"]
            for i in json.loads(done.stdout)["iterations"]}


def odd_steps(steps):
    times = [s["step"] for s in steps.values()]
    middle = statistics.median(times)
    spread = 1.4826 * statistics.median(abs(t - middle) for t in times)
    return [n for n, s in steps.items() if abs(s["step"] - middle) > 3 * spread]


def usual_of(steps, odd=()):
    return {k: statistics.median(s[k] for n, s in steps.items()
                                 if n not in odd)
            for k in next(iter(steps.values()))}


def more(these, than):
    return ", ".join(f"{k} {(these[k] - than[k]) / 1000:+.1f}"
                     for k in than if k != "step")


def explain(before, after, odd):
    """What a step spent more on than the ordinary ones, and what these did
    differently that no replaced loader explains; medians, ms."""
    usual = usual_of(after, odd)
    for name in odd:
        s = after[name]
        print(f"{name} took {(s['step'] - usual['step']) / 1000:.1f} ms more "
              f"than the ordinary steps of {TO}; in ms: {more(s, usual)}")
    print(f"the ordinary steps against those of {FROM}, in ms: "
          f"{more(usual, usual_of(before))}")


def print_steps(before, after, simulated, odd):
    print(f"| step | {FROM} measured, ms | its loader | predicted | "
          f"{TO} measured | its loader | |\n|---|---|---|---|---|---|---|")
    for name, s in after.items():
        b = before.get(name, {"step": 0, "loader": 0})
        error = 100 * (simulated[name] / s["step"] - 1)
        print(f"| {name} | {b['step'] / 1000:.1f} | {b['loader'] / 1000:.1f} | "
              f"{simulated[name] / 1000:.1f} | {s['step'] / 1000:.1f} | "
              f"{s['loader'] / 1000:.1f} | {error:+.1f} %"
              f"{', not like the others' if name in odd else ''} |")


def error_of(values, steps, without=()):
    got = statistics.median(v for v in values)
    want = statistics.median(s["step"] for n, s in steps.items()
                             if n not in without)
    return 100 * abs(got / want - 1), got, want


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    args = parser.parse_args()
    before, after = (steps_of(events(args.traces, n)) for n in (FROM, TO))
    loader = [statistics.median(s["loader"] for s in steps.values())
              for steps in (before, after)]
    factor = loader[1] / loader[0]
    trace = args.traces / FOLDER / f"{FROM}.json.gz"
    simulated = predicted(args.binary, trace, factor)
    odd = odd_steps(after)
    print_steps(before, after, simulated, odd)
    print(f"loader: {loader[1]:.0f} us a step instead of {loader[0]:.0f}, "
          f"x {factor:.5f}")
    explain(before, after, odd)
    error, got, want = error_of(simulated.values(), after, odd)
    nothing, _, _ = error_of(predicted(args.binary, trace, None).values(),
                             after, odd)
    all_error, _, all_want = error_of(simulated.values(), after)
    print(f"with them the median is {all_want / 1000:.1f} ms and the error "
          f"{all_error:.2f} %")
    ok = error <= FLOOR and error <= nothing / 3
    print(f"{'ok  ' if ok else 'FAIL'} median step {got / 1000:.1f} ms, "
          f"measured {want / 1000:.1f}: error {error:.2f} %, want {FLOOR} and "
          f"a third of {nothing:.1f} (nothing done) at most, aim {GOAL}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
