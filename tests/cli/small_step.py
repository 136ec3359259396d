"""FILE: a recording of two steps of six operators, a kernel each."""
import json
import sys

def op(name, ts, dims):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 30,
            "args": {"Input Dims": dims, "Input type": ["float"] * len(dims)}}

def kernel(n, ts, name):
    return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 5,
             "dur": 5, "args": {"correlation": n}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts + 20, "dur": 25,
             "args": {"correlation": n, "device": 0, "stream": 7, "grid": [64, 1, 1], "block": [128, 1, 1]}}]

events = []
for s in (0, 1):
    events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{s}", "pid": 1, "tid": 1,
                   "ts": 1000 * s, "dur": 1000})
    for k in range(6):
        at = 1000 * s + 100 * k + 50
        events.append(op("aten::mm" if k % 2 else "aten::add", at, [[256, 256], [256, 256]]))
        events += kernel(6 * s + k + 1, at, "gemm" if k % 2 else "vectorized_elementwise_kernel")
json.dump({"schemaVersion": 1, "traceEvents": events}, open(sys.argv[1], "w"))
