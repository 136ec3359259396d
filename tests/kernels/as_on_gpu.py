"""A trace of a CPU as if an H100 had run it: a kernel for each operator.

    as_on_gpu.py IN.json.gz OUT.json.gz

Each innermost operator that has work launches a kernel that takes five
microseconds and one for each megabyte of its inputs. Times are made up; what
reads them is what is tested.
"""

import gzip
import json
import math
import random
import sys

GPU = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85000000000,
       "computeMajor": 9, "computeMinor": 0, "numSms": 132}
NO_KERNEL = ("aten::empty", "aten::view", "aten::as_strided", "aten::t",
             "aten::transpose", "aten::detach", "aten::slice", "aten::select",
             "aten::expand", "aten::resize_", "aten::reshape", "detach",
             "aten::resolve", "aten::_unsafe_view", "aten::result_type",
             "aten::unsqueeze", "aten::squeeze", "aten::permute", "aten::item",
             "aten::_local_scalar_dense", "aten::narrow", "aten::unbind")



def launched(op, number, at, dur):
    """The events of one kernel, with all that PyTorch's profiler says of it, and
    as little alike as they are there."""
    draw = random.Random(number)
    threads = 64 << number % 5
    blocks = draw.randrange(1, 1 << draw.randrange(1, 17))
    ids = {"External id": 8 * number, "correlation": 8 * number}
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
            "pid": op["pid"], "tid": op["tid"],
            "ts": round(op["ts"] + op["dur"] * draw.random(), 3), "dur": 0,
            "args": {**ids, "cbid": 211}}
    kernel = {"ph": "X", "cat": "kernel", "name": "void made_up<" + ", ".join(
        op["args"].get("Input type", ())) + f", {threads}>(float*, int)",
        "pid": 0, "tid": 7, "ts": round(at, 3), "dur": round(dur, 3),
        "args": {**ids, "queued": 0, "device": 0, "context": 1, "stream": 7,
                 "registers per thread": 16 + number % 48,
                 "shared memory": 16 * draw.randrange(1000), "blocks per SM": round(blocks / 132, 6),
                 "warps per SM": round(blocks / 132 * threads / 32, 6),
                 "grid": [blocks, 1, 1], "block": [threads, 1, 1],
                 "est. achieved occupancy %": number % 101}}
    flow = {"cat": "ac2g", "name": "ac2g", "id": 8 * number}
    return [call, {"ph": "s", **flow, "pid": op["pid"], "tid": op["tid"],
                   "ts": call["ts"]},
            kernel, {"ph": "f", "bp": "e", **flow, "pid": 0, "tid": 7,
                     "ts": round(at, 3)}]


def on_gpu(trace):
    ops = sorted((e for e in trace["traceEvents"] if e.get("cat") == "cpu_op"
                  and not e["name"].startswith(NO_KERNEL)),
                 key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    made, at = [], 0
    for n, op in enumerate(ops):
        after = ops[n + 1] if n + 1 < len(ops) else None
        if after and after["tid"] == op["tid"] and \
                after["ts"] < op["ts"] + op["dur"]:
            continue  # it has others inside
        dims = [d for d in op.get("args", {}).get("Input Dims", [])
                if d and all(isinstance(x, int) for x in d)]
        if not dims:
            continue
        dur = 5 + sum(math.prod(d) for d in dims) * 4e-6
        at = max(at, op["ts"] + op["dur"])
        made += launched(op, n + 1, at, dur)
        at += dur
    trace["deviceProperties"] = [GPU]
    trace["traceEvents"] += made


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with gzip.open(source, "rt") as f:
        read = json.load(f)
    on_gpu(read)
    with gzip.open(target, "wt") as f:
        json.dump(read, f)
