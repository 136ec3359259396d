#!/usr/bin/env bash
# Phases, marked regions and kernels of a made-up training step: 3 us of GPU
# work before the forward pass, 10 forward, 20 + 7 backward (7 of them compute a
# forward pass again), 5 of the optimizer.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || exit 77

python3 - "$folder" <<'PYTHON'
import json, sys

def trace(marks):
    events, correlation = [], [0]

    def op(name, thread, ts, dur, cat="cpu_op", **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 1,
                       "tid": thread, "ts": ts, "dur": dur, "args": args})

    def launch(thread, ts, name, dur):
        correlation[0] += 1
        n = correlation[0]
        op("cudaLaunchKernel", thread, ts, 1, "cuda_runtime", correlation=n)
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0,
                       "tid": 7, "ts": ts + 3, "dur": dur, "args": {
                           "device": 0, "stream": 7, "correlation": n}})

    op("ProfilerStep#1", 1, 0, 400, "user_annotation")
    op("aten::to", 1, 10, 10)
    launch(1, 12, "copy_in", 3)
    if marks:
        op("## forward ##", 1, 48, 30, "user_annotation")
    op("aten::mm", 1, 50, 20, **{"Sequence number": 4})
    launch(1, 52, "gemm", 10)
    op("autograd::engine::evaluate_function: MmBackward0", 2, 100, 90,
       **{"Sequence number": 4})
    op("aten::mm", 2, 105, 20)
    launch(2, 107, "gemm", 20)
    op("aten::relu", 2, 140, 20, **{"Sequence number": 9})
    launch(2, 142, "again", 7)
    op("Optimizer.step#SGD.step", 1, 250, 40, "user_annotation")
    op("aten::add_", 1, 255, 20)
    launch(1, 257, "add", 5)
    return {"traceEvents": events}

for marks in (False, True):
    with open(f"{sys.argv[1]}/{'marked' if marks else 'plain'}.json", "w") as f:
        json.dump(trace(marks), f)
PYTHON

for kind in plain marked; do
    run --costs measured --json "$folder/$kind.json"
    want_rc 0
    python3 - "$folder/out" "$kind" <<'PYTHON' || complain "phases of $kind"
import json, sys

p = json.load(open(sys.argv[1]))
gpu = {r["name"]: r["gpu_us"] for r in p["phases"]}
assert gpu == {"forward": 10, "backward": 27, "optimizer": 5, "other": 3}, gpu
assert all(r["host_us"] >= 0 for r in p["phases"])
regions = {r["name"]: r for r in p["regions"]}
assert regions["Optimizer.step#SGD.step"]["gpu_us"] == 5, regions
assert ("## forward ##" in regions) == (sys.argv[2] == "marked")
kernels = [(k["name"], k["calls"], k["predicted_us"], k["longest_us"])
           for k in p["kernels"]]
assert kernels == [("gemm", 2, 30, 20), ("again", 1, 7, 7), ("add", 1, 5, 5),
                   ("copy_in", 1, 3, 3)], kernels
PYTHON
done
run --costs measured "$folder/plain.json"
want_out "kernels and copies"
want_out "  gemm                           2       30.0   66.7 %     15.0 us"

# Nothing is backward: no phases. From shapes alone: no kernels.
run --platform a100 --json "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
want_out '"kernels": []'
want_out '"name": "optimizer", "calls": 1, "gpu_us": '
finish
