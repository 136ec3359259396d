"""A backend for tests whose times follow from what is asked: a step runs alike each
time, but for 1 us more in each iteration.

    steady_backend.py [KIND]      of device: cpu (default), gpu
"""
import json
import sys
import zlib


def microseconds(experiment):
    return 5 + zlib.crc32(json.dumps(experiment, sort_keys=True).encode()) % 1000 / 10


def answer(number, order, times, iteration):
    at = [0.5 + iteration]
    for which in order[:-1]:
        at.append(round(at[-1] + times[which] + 0.25, 3))
    lasting = [times[which] for which in order]
    return {"id": number, "iteration": iteration, "at_us": at, "time_us": lasting,
            "us": round(at[-1] + lasting[-1] + 2, 3)}


print(json.dumps({
    "schema": "mystique-sim/profiler/1", "backend": "steady", "version": "1",
    "device": {"name": "Made-up machine", "kind": sys.argv[1] if len(sys.argv) > 1 else "cpu", "sms": 2, "threads": 2,
               "memory_bytes": 8e9, "l2_bytes": 1000000}, "libraries": {"none": "1"},
    "tables": {"gemm": ["fp32", "fp64"], "conv": ["conv2d_fwd:fp32", "conv2d_bwd_data:fp32"],
               "vector": ["add:fp32", "relu:fp32", "softmax:fp32"], "copy": ["d2d"]},
    "left_out": {"attention": "no library here has it"}, "sequences": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    sequence = asked["sequence"]
    times = [microseconds(e) for e in sequence["experiments"]]
    for i in range(sequence["iterations"]):
        print(json.dumps(answer(asked["id"], sequence["order"], times, i)))
    print(json.dumps({"id": asked["id"], "done": True,
                      "iterations": sequence["iterations"]}), flush=True)
