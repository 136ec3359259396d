"""A backend for tests whose times follow from what is asked: a step runs alike each
time, but for 1 us more in each iteration.

    steady_backend.py [KIND [FLAW]]      of device: cpu (default), gpu

What is wrong with its answers: refuses (a convolution, once), error, short (a time
too few), negative, endless (an iteration too many), early (one too few), counters,
alone (it runs no sequences).
"""
import json
import signal
import sys
import zlib


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who asks hears no more
flaw = sys.argv[2] if len(sys.argv) > 2 else ""


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
    "left_out": {"attention": "no library here has it"}, "sequences": flaw != "alone"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    sequence = asked["sequence"]
    times = [microseconds(e) for e in sequence["experiments"]]
    done = {"id": asked["id"], "done": True, "iterations": sequence["iterations"]}
    if flaw == "refuses" and asked["id"] == 1:
        convolutions = [i for i, e in enumerate(sequence["experiments"]) if "conv" in json.dumps(e)]
        print(json.dumps({"id": 1, "error": "not all of it can run", "refused": [
            {"experiment": 999999}, {"experiment": convolutions[0], "error": "no room for it"},
            {"experiment": convolutions[-1]}]}), flush=True)
        continue
    if flaw == "error":
        print(json.dumps({"id": asked["id"], "error": "it is broken"}), flush=True)
        continue
    for i in range(sequence["iterations"] + (flaw == "endless") - (flaw == "early")):
        said = answer(asked["id"], sequence["order"], times, i)
        if flaw == "short":
            said["time_us"].pop()
        if flaw == "negative":
            said["at_us"][-1] = -1
        print(json.dumps(said))
    if flaw == "counters":
        done["counters_error"] = "this machine counts nothing"
    print(json.dumps(done), flush=True)
