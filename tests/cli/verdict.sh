#!/usr/bin/env bash
# The first line of a report, on made-up jobs of which one knows what bounds
# them, and what limits the operators of a real one.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || exit 77

# trace NAME: three steps of 1000 us of one of the jobs below.
trace() {
    python3 - "$folder/$1.json" "$1" <<'PYTHON'
import json, sys

events, n = [], 0


def add(cat, name, ts, dur, tid, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": tid // 100,
                   "tid": tid, "ts": ts, "dur": dur, "args": args})


def launch(at, stream, name, start, dur):
    global n
    n += 1
    add("cuda_runtime", "cudaLaunchKernel", at, 2, 101, correlation=n)
    add("kernel", name, start, dur, stream, correlation=n, stream=stream,
        device=0, grid=[64, 1, 1], block=[256, 1, 1])


def wait(at, until):
    global n
    n += 1
    add("cuda_runtime", "cudaDeviceSynchronize", at, until - at, 101,
        correlation=n)


GEMM = "gemm"
SEND = "void deep_ep::internode::dispatch<false, 8, true, 8>(int4*, float*)"


def overlap(at):  # both streams are busy all the time
    launch(at + 1, 7, GEMM, at + 6, 992)
    launch(at + 3, 20, SEND, at + 6, 992)
    wait(at + 5, at + 999)


def chain(at):  # one after the other: 300 us, 360 us and 330 us
    add("cpu_op", "work", at, 300, 101)
    launch(at + 300, 7, GEMM, at + 305, 360)
    wait(at + 302, at + 665)
    launch(at + 665, 20, SEND, at + 668, 330)
    wait(at + 667, at + 998)


def close(at):  # the host would bound it soon
    add("cpu_op", "work", at, 880, 101)
    launch(at + 4, 7, GEMM, at + 10, 990)
    wait(at + 900, at + 1000)


def late(at):  # the kernel comes 600 us late, and nothing says why
    add("cpu_op", "work", at, 150, 101)
    launch(at + 150, 7, GEMM, at + 750, 240)
    wait(at + 152, at + 992)


def mixed(at):  # 400 us of host, 232 of a kernel, 200 late, 144 of a copy
    global n
    add("cpu_op", "work", at, 400, 101)
    launch(at + 400, 7, GEMM, at + 605, 232)
    n += 1
    add("cuda_runtime", "cudaMemcpyAsync", at + 402, 2, 101, correlation=n)
    add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 838, 144, 7,
        correlation=n, stream=7, device=0, bytes=1000000)
    wait(at + 404, at + 984)


def host(at):  # the GPU has time to spare
    add("cpu_op", "work", at, 1000, 101)
    launch(at + 4, 7, GEMM, at + 10, 300)


def paced(at):  # the other rank of two has no trace, and comes at 600
    global n
    add("cpu_op", "work", at, 150, 101)
    launch(at + 150, 7, GEMM, at + 155, 200)
    n += 1
    add("cuda_runtime", "cudaLaunchKernel", at + 152, 2, 101, correlation=n)
    add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 360, 600 if at else 540, 20,
        correlation=n, stream=20, device=0, grid=[8, 1, 1], block=[512, 1, 1],
        **{"Collective name": "allreduce", "Group size": 2, "dtype": "Float",
           "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
           "Process Group Name": "0", "Process Group Ranks": "[0, 1]"})
    wait(at + 155, at + 962 if at else at + 902)


for step in range(3):
    add("user_annotation", f"ProfilerStep#{step}", 1000 * step, 1000, 101)
    globals()[sys.argv[2]](1000 * step)
json.dump({"schemaVersion": 1, "traceEvents": events,
           "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB",
                                 "numSms": 108}]}, open(sys.argv[1], "w"))
PYTHON
}
# verdict NAME TEXT [OPTION]...: what is said of the job, with all in front of
# the figures.
verdict() {
    trace "$1"
    run --json "${@:3}" "$folder/$1.json"
    want_rc 0
    want_out "\"verdict\": \"$2: twice as fast kernels would save "
}

# Where kernels of two streams hide each other, neither saves anything alone;
# one after the other they save as much together as in sum.
verdict overlap 'GPU-bound, by work that overlaps'
want_out 'kernels would save 0 %, host 0 %, communication 0 %, all GPU work 50 %"'
verdict chain 'bound by kernels and communication together'
want_out '18 %, host 15 %, communication 17 %, all GPU work 34 %"'
verdict host 'host-bound'
want_out 'save 0 %, host 50 %"'
verdict close 'GPU-bound'
want_out 'save 10 %, host 0 %"'
verdict late "held up by 'delay without a cause' (60 % of the critical path)"
verdict paced 'held up by ranks without a trace, which arrive when they did' --peers fixed
verdict paced 'communication-bound' # they come as long after this one
verdict mixed 'no one kind of work bounds the job'
want_out 'save 12 %, host 21 %, copies 7 %, all GPU work 19 %"'

# What limits each operator: arithmetic at its share of the peak is the MFU.
# Products in fp32 are vector work, an update of the optimizer moves memory, and
# of what comes from a cache no share of a data sheet's rate is known.
for sample in "${SOURCE_DIR:?the source folder}"/data/traces/gpt2*; do
    run --platform a100 --json "$sample"
    want_rc 0
    python3 - "$folder/out" <<'PYTHON' || complain 'limits'
import json, sys

p = json.load(open(sys.argv[1]))
rows = {o["name"].split(": ")[-1]: o for o in p["ops"]}
limits = {name: o["limit"] for name, o in rows.items()}
done = sum(o["peak_share"] * o["predicted_us"] for o in p["ops"]
           if o["limit"] in ("tensor", "vector"))
peak = p["mfu"] * p["period_us"]["predicted"]
assert 0.95 * peak < done <= peak * (1 + 1e-9), (done, peak)
for name in "aten::linear", "MmBackward0", "AddmmBackward0":
    assert limits[name] == "vector", (name, limits[name])
    assert 0.5 < rows[name]["peak_share"] <= 1, rows[name]
for name in "aten::_foreach_addcdiv_", "aten::_foreach_addcmul_", "aten::_foreach_lerp_":
    assert limits[name] == "memory", (name, limits[name])
    assert 0.5 < rows[name]["peak_share"] <= 1, rows[name]
PYTHON
done
run --platform rtx-4090 --json "${SOURCE_DIR}/data/traces/gpt2"
python3 - "$folder/out" <<'PYTHON' || complain 'limits of the cache'
import json, sys

ops = json.load(open(sys.argv[1]))["ops"]
cache = [o for o in ops if o["limit"] == "cache"]
assert cache and all(o["peak_share"] is None for o in cache), cache
PYTHON

finish
