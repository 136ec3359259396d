#!/usr/bin/env python3
"""Record what PyTorch's own kernels take: traces for `calibrate --from`.

    record_kernels.py --out DIR [--seconds 150] [--most-bytes N]
                      [--device cuda|cpu]
    mystique-sim calibrate --from DIR --out mine.json

Each kernel has a case (kernel_cases.py), with ranges of sizes in which PyTorch
takes it. Cases are recorded by PyTorch's profiler, law by law, round after
round, each round at other sizes, until the time is up. DIR/LAW-ROUND.json.gz is
written as soon as it is there: a Kineto trace in which every case is a range of
its name. A measured operator is so what it is in any trace of a model, and the
factors that `calibrate --from` finds are held out trace by trace.

Of each case two runs do not count; then it is run three times as the run before
left the caches, and three times after a buffer of twice the L2 cache was read.
What does not count is not in the trace, nor what `calibrate --from` does not
read.
"""

import argparse
import contextlib
import gzip
import json
import os
import sys
import tempfile
import time

BEGAN = time.monotonic() # loading PyTorch takes seconds, too

try:
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function
    import gpu_timer
    import kernel_cases
except ImportError as error:
    print(f"{os.path.basename(sys.argv[0])}: no PyTorch: {error}",
          file=sys.stderr)
    sys.exit(3)

ASIDE = "mystique-sim: does not count"
WARM_UP, RUNS = 2, 3
SLOW_MACHINE = 256 # by how much a CPU's cases are smaller


class Tensors:
    """Operands on the device: random numbers, or indices."""

    def __init__(self, device):
        self.device = device

    def __call__(self, shape, dtype):
        return torch.empty(shape, dtype=dtype,
                           device=self.device).uniform_(-1, 1)

    def ids(self, shape, below):
        return torch.randint(below, shape, device=self.device)


class Recorder:
    def __init__(self, device, shrink, gpu=None):
        self.device = device
        self.shrink = shrink
        self.gpu = gpu
        self.tensors = Tensors(device)
        self.left_out = {} # case -> why
        self.recorded = set()

    def wait(self):
        if self.gpu:
            self.gpu.cuda.synchronize()

    def wake(self):
        """Between two traces a GPU idles."""
        if self.gpu:
            with record_function(ASIDE):
                self.gpu.wake()

    def run(self, case, number):
        """All runs of a case, those that count in ranges of its name."""
        with record_function(ASIDE):
            call = case.make(kernel_cases.Point(case, number, self.tensors,
                                                self.shrink))
            for _ in range(WARM_UP):
                call()
        for n in range(2 * RUNS if self.gpu else RUNS):
            if n >= RUNS:
                with record_function(ASIDE):
                    self.gpu.flush()
            with record_function(case.name):
                call()
        with record_function(ASIDE):
            self.wait()
            del call

    def try_run(self, case, number):
        try:
            self.run(case, number)
            self.recorded.add(case.name)
        except (RuntimeError, NotImplementedError, ValueError) as why:
            # Ranges of ASIDE are still closed: a case that failed is half there
            # at most, and what there is of it was run.
            self.left_out[case.name] = str(why).split("\n", maxsplit=1)[0]
            if self.device == "cuda":
                torch.cuda.empty_cache()

    def record(self, cases, number, until):
        """The trace of these cases, as far as there is time, for a file."""
        activities = [ProfilerActivity.CPU]
        if self.device == "cuda":
            activities.append(ProfilerActivity.CUDA)
        with torch.no_grad(), profile(activities=activities,
                                      record_shapes=True) as p:
            self.wake()
            for case in cases:
                if time.monotonic() < until:
                    self.try_run(case, number)
            self.wait()
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "trace.json")
            p.export_chrome_trace(plain)
            with open(plain, encoding="utf-8") as f:
                trace = json.load(f)
        clean(trace)
        return packed(trace)


# ---- what counts -----------------------------------------------------------

# What core/read/kineto does not look at, or only beside an execution trace.
NOT_READ = {"Ev Idx", "Record function id", "queued", "context", "cbid",
            "blocks per SM", "warps per SM", "est. achieved occupancy %",
            "memory bandwidth (GB/s)"}
HOST = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver",
        "python_function", "overhead")


def aside_ranges(events):
    return sorted((e["ts"], e["ts"] + e.get("dur", 0)) for e in events
                  if e.get("cat") == "user_annotation" and e["name"] == ASIDE)


def is_within(ranges, at):
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) // 2
        if ranges[middle][0] <= at:
            low = middle + 1
        else:
            high = middle
    return low > 0 and at <= ranges[low - 1][1]


def clean(trace):
    """Take out what does not count, on the host, and what it launched; what is
    not read; and who recorded it. Backward passes run in a thread of their own,
    within the range of the thread that waits for them."""
    events = trace["traceEvents"]
    ranges = aside_ranges(events)
    aside, launched = set(), set()
    for i, e in enumerate(events):
        if e.get("cat") in HOST and is_within(ranges, e["ts"]):
            aside.add(i)
            launched.add(e.get("args", {}).get("correlation"))
    launched.discard(None)
    trace["traceEvents"] = [
        without(e, NOT_READ) for i, e in enumerate(events) if i not in aside
        and e.get("name") != ASIDE and e.get("ph", "X") in "XM" # no flows
        and e.get("args", {}).get("correlation") not in launched]
    trace["traceName"] = ""
    for key in ("host_name", "hostName"):
        trace.pop(key, None)


def without(event, names):
    if "args" in event:
        event["args"] = {k: v for k, v in event["args"].items()
                         if k not in names}
    return event


def packed(trace):
    return gzip.compress(json.dumps(trace, separators=(",", ":")).encode(),
                         mtime=0)


def write(content, path):
    """Whole or not at all, whatever ends this program."""
    with open(path + ".part", "wb") as file:
        file.write(content)
    os.replace(path + ".part", path)


def bytes_beside(path):
    """What the other traces of its folder hold."""
    folder = os.path.dirname(path)
    return sum(os.path.getsize(os.path.join(folder, name))
               for name in os.listdir(folder) if name.endswith(".json.gz")
               and name != os.path.basename(path))


# ---- the program -----------------------------------------------------------

def chosen(device, only):
    """Law -> its cases, in order."""
    laws = {}
    for case in kernel_cases.CASES:
        if case.gpu and device != "cuda":
            continue
        if not only or case.law in only or case.name in only:
            laws.setdefault(case.law, []).append(case)
    known = {c.law for c in kernel_cases.CASES} | \
        {c.name for c in kernel_cases.CASES}
    for name in only or ():
        if name not in known:
            sys.exit(f"record_kernels.py: no law or case '{name}', want one "
                     f"of {', '.join(sorted({c.law for c in kernel_cases.CASES}))} "
                     "or what --list shows")
    return laws


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", metavar="DIR", help="folder of the traces")
    parser.add_argument("--device", choices=["cpu", "cuda"],
                        default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seconds", type=float, default=150,
                        help="in all [default: 150]")
    parser.add_argument("--rounds", type=int, default=64,
                        help="at most [default: 64]")
    parser.add_argument("--most-bytes", type=float, default=float("inf"),
                        metavar="N", help="of the traces in DIR together")
    parser.add_argument("--only", nargs="+", metavar="LAW|CASE")
    parser.add_argument("--list", action="store_true",
                        help="print the cases, and time nothing")
    options = parser.parse_args(argv)
    if not options.list and not options.out:
        parser.error("--out is missing: want a folder for the traces")
    return options


def record_all(recorder, laws, options):
    """Rounds of all laws, while there are time and room for another."""
    until = BEGAN + options.seconds
    for number in range(options.rounds):
        for law, cases in laws.items():
            if time.monotonic() >= until:
                return
            path = os.path.join(options.out, f"{law}-{number}.json.gz")
            content = recorder.record(cases, number, until)
            if bytes_beside(path) + len(content) > options.most_bytes:
                print(f"{path} would be beyond {options.most_bytes:.0f} bytes:"
                      " no more is recorded", flush=True)
                return
            write(content, path)
        print(f"round {number}: {len(recorder.recorded)} cases recorded",
              flush=True)


def main():
    options = parse(sys.argv[1:])
    laws = chosen(options.device, options.only)
    if options.list:
        print("\n".join(c.name for cases in laws.values() for c in cases))
        return 0
    if options.device == "cuda" and not torch.cuda.is_available():
        print("record_kernels.py: PyTorch finds no GPU", file=sys.stderr)
        return 3
    os.makedirs(options.out, exist_ok=True)
    recorder = Recorder("cuda", 1, gpu_timer.current(torch)) \
        if options.device == "cuda" else Recorder("cpu", SLOW_MACHINE)
    with contextlib.suppress(KeyboardInterrupt):
        record_all(recorder, laws, options)
    for name, why in recorder.left_out.items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    return 0 if recorder.recorded else 1


if __name__ == "__main__":
    sys.exit(main())
