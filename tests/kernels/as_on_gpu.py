"""A trace of a CPU as if an H100 had run it: a kernel for each operator.

    as_on_gpu.py IN.json.gz OUT.json.gz

Each innermost operator that has work launches a kernel that takes five
microseconds and one for each megabyte of its inputs. Times are made up; what
reads them is what is tested.
"""

import gzip
import json
import math
import sys

GPU = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85000000000,
       "computeMajor": 9, "computeMinor": 0, "numSms": 132}
NO_KERNEL = ("aten::empty", "aten::view", "aten::as_strided", "aten::t",
             "aten::transpose", "aten::detach", "aten::slice", "aten::select",
             "aten::expand", "aten::resize_", "aten::reshape", "detach",
             "aten::resolve", "aten::_unsafe_view", "aten::result_type",
             "aten::unsqueeze", "aten::squeeze", "aten::permute", "aten::item",
             "aten::_local_scalar_dense", "aten::narrow", "aten::unbind")

source, target = sys.argv[1:]
with gzip.open(source, "rt") as f:
    trace = json.load(f)
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
    made.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                 "pid": op["pid"], "tid": op["tid"], "ts": op["ts"], "dur": 0,
                 "args": {"correlation": n + 1}})
    made.append({"ph": "X", "cat": "kernel", "name": "made_up", "pid": 0,
                 "tid": 7, "ts": at, "dur": dur, "args": {
                     "correlation": n + 1, "device": 0, "stream": 7}})
    at += dur
trace["deviceProperties"] = [GPU]
trace["traceEvents"] += made
with gzip.open(target, "wt") as f:
    json.dump(trace, f)
