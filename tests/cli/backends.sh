#!/usr/bin/env bash
# Every backend that was built: all that its greeting offers can be timed, alone
# or beside a collective, and a table that it lacks is left out in so many words.
. "$(dirname "$0")/lib.bash"
in_turn profilers

programs=$(dirname "$sim")
here=$(cd "$(dirname "$0")/../.." && pwd)
tables="gemm conv attention vector copy collective latency"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# check NAME COMMAND...: one small experiment of each kind of its greeting.
check() {
    local name=$1
    shift
    last="backend $name"
    python3 - "$name" "$tables" "$@" <<'PYTHON' || complain "not as it should be"
import json, subprocess, sys

name, wanted, command = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     text=True)
greeting = json.loads(p.stdout.readline())
assert greeting["backend"] == name, greeting
device = greeting["device"]
assert device["sms"] >= 1 and device["memory_bytes"] > 1e8, device
offered, left_out = greeting["tables"], greeting.get("left_out", {})
failed = False
for table in wanted:
    if (table in offered) == (table in left_out):
        print(f"{name}: '{table}' is neither offered nor left out with a "
              "reason, or both", file=sys.stderr)
        failed = True

def experiment(table, kind):
    first, _, second = kind.rpartition(":")
    e = {"table": table, "dtype": second,
         "policy": {"warm_up": 1, "least": 2, "most": 2, "seconds": 5}}
    if table == "gemm":
        e.update(m=24, n=16, k=40, batch=2, layout="TN")
        if kind in ("fp8", "int8"):  # as matrix units want them
            e.update(m=32, k=48, layout="NT")
    elif table == "conv":
        e.update(op=first, n=2, c=6, h=9, w=8, k=4, r=3, s=3, stride=2, pad=1,
                 groups=2)
    elif table == "attention":
        e.update(phase=first, batch=2, heads=4, kv_heads=2, head_dim=16,
                 q_len=1 if first == "decode" else 32, kv_len=32)
    elif table == "vector":
        e.update(op=first, shape="3x5x7", table_rows=11)
    elif table == "collective":
        e = {**e, "collective": kind.split(":")[0], "dtype": "fp32",
             "ranks": greeting["ranks"], "bytes": 4096}
    else:
        e = {k: v for k, v in e.items() if k != "dtype"}
        e.update(op=kind, bytes=4096)
        if table == "copy" and first:
            e.update(op=first, memory=second)
    return e

count = 0
for table, kinds in offered.items():
    for kind in kinds:
        count += 1
        e = experiment(table, kind)
        p.stdin.write(json.dumps({"id": count, **e}) + "\n")
        p.stdin.flush()
        answer = json.loads(p.stdout.readline())
        if not answer.get("time_us", 0) > 0 or answer["id"] != count or \
                answer["runs"] != 2:
            print(f"{name}: {table} {kind}: {answer}", file=sys.stderr)
            failed = True
# what can be timed beside a collective
for table, kinds in greeting["beside"].items() \
        if isinstance(greeting.get("beside"), dict) else []:
    for kind in kinds:
        count += 1
        e = {**experiment(table, kind), "beside":
             experiment("collective", offered["collective"][0])}
        p.stdin.write(json.dumps({"id": count, **e}) + "\n")
        p.stdin.flush()
        answer = json.loads(p.stdout.readline())
        # of one run, of so many that they take 40 ms
        if not 0 < answer.get("alone_us", 0) < 4e4 or \
                not 0 < answer.get("time_us", 0) < 4e4:
            print(f"{name}: {table} {kind} beside: {answer}", file=sys.stderr)
            failed = True
if name == "mpi":
    ranks, cores = greeting["ranks"], device["sms"]
    assert greeting["interconnect"] == "shared-memory" and \
        offered == {"collective": ["all_reduce", "all_gather", "reduce_scatter",
                                   "all_to_all", "broadcast"][:5 * (ranks > 1)]}
    assert left_out == {**{t: "mystique-prof-cpu times this" for t in
                           ("gemm", "conv", "vector", "copy", "latency")},
                        "attention": "no library here has it as one operator"}
    beside = greeting["beside"]
    why = "not run: 1 rank" if ranks < 2 else \
        "not run: more ranks than cores, which take turns" \
        if ranks > cores else None
    if why or isinstance(beside, str):
        assert beside in (why, "this MPI wants one thread a rank"), beside
    else:
        beside.pop("conv", None)  # with oneDNN
        assert beside == {"gemm": ["fp32"],
                          "vector": ["add:fp32", "softmax:fp32"]}, beside
    one = {"table": "collective", "collective": "all_reduce", "dtype": "fp32",
           "ranks": ranks, "bytes": 4096}
    few = {**one, "bytes": 4 * ranks - 1}
    gemm = {"table": "gemm", "dtype": "fp32", "m": 1, "n": 1, "k": 1}
    for e, said in (
            ({**one, "ranks": ranks + 1}, f"{ranks + 1} ranks are wanted, "
             f"{ranks} on one node are there"),
            ({**one, "nodes": 2}, f"{ranks} ranks are wanted, {ranks} on one "
             "node are there"),
            ({**one, "dtype": "fp16"}, "no such collective of fp32 here"),
            ({**one, "collective": "sendrecv"}, "no such collective of fp32 "
             "here"),
            (gemm, "no such collective of fp32 here"),
            (few, f"'bytes' is {4 * ranks - 1}, want {4 * ranks} to 4e9"),
            ({**one, "bytes": 4000000000}, f"'bytes' is 4e+09, want "
             f"{4 * ranks} to 4e9"),
            ({**one, "beside": one},
             beside if isinstance(beside, str) else
             "nothing can run beside a collective"),
            ({**gemm, "beside": gemm},
             beside if isinstance(beside, str) else
             "no such collective of fp32 here"),
            ({**one, "bytes": 4 * ranks}, None)):
        p.stdin.write(json.dumps({"id": 1, **e}) + "\n")
        p.stdin.flush()
        answer = json.loads(p.stdout.readline())
        if said is None and not answer.get("time_us", 0) > 0 or \
                said is not None and said not in answer.get("error", ""):
            print(f"{name}: {e}: {answer}", file=sys.stderr)
            failed = True
# and what nobody has is refused, without an end
if name in ("cpu", "mpi", "torch", "gloo"):
    p.stdin.write('{"id": 0, "table": "gemm", "dtype": "fp32", "m": 1, "n": 1, '
                  '"k": 1, "beside": {"table": "gemm", "dtype": "fp32", '
                  '"m": 1, "n": 1, "k": 1}}\n')
p.stdin.write('{"id": 0, "table": "gemm", "dtype": "int4", "m": 1, "n": 1, '
              '"k": 1}\n{"id": -1, "table": "alchemy"}\n')
p.stdin.close()
for answer in map(json.loads, p.stdout):
    if "error" not in answer or answer["id"] > 0:
        print(f"{name}: {answer}", file=sys.stderr)
        failed = True
assert p.wait() == 0 and (count > 0 or greeting.get("ranks") == 1)
sys.exit(failed)
PYTHON
}

export ASAN_OPTIONS=detect_leaks=0 # Open MPI's own

tried=0
if [ -x "$programs/mystique-prof-cpu" ]; then
    tried=$((tried + 1))
    check cpu "$programs/mystique-prof-cpu"
fi
if [ -x "$programs/mystique-prof-mpi" ] && command -v mpirun >/dev/null; then
    tried=$((tried + 1))
    for ranks in 1 2 4; do
        check mpi mpirun --allow-run-as-root --oversubscribe --bind-to none \
            -n $ranks "$programs/mystique-prof-mpi"
    done
fi
if [ -x "$programs/mystique-prof-cuda" ] &&
    "$programs/mystique-prof-cuda" </dev/null >/dev/null 2>&1; then
    tried=$((tried + 1))
    check cuda "$programs/mystique-prof-cuda"
fi
python=${MSIM_PYTHON:-python3}
if "$python" -c 'import torch' 2>/dev/null; then
    tried=$((tried + 1))
    check torch "$python" "$here/profilers/torch/prof_torch.py" --device cpu
    for ranks in 2 4; do
        check gloo "$python" "$here/profilers/torch/prof_gloo.py" --ranks $ranks
    done
    # Operands of a run never overlap, wherever in its area it begins.
    PYTHONPATH=$here/profilers/torch${PYTHONPATH:+:$PYTHONPATH} "$python" - <<'PYTHON' || complain "overlap"
import prof_torch, torch
o = prof_torch.Operands(torch.device("cpu"), 0)
o.reserve("read", torch.float32, 6500)
begins = set()
for before in 64, 512, 2048, 4096:
    o.begin(True, torch.float32, before)
    o.take(torch.float32, before)
    o.begin(False, torch.float32, 6000)
    a, b = (o.take(torch.float32, 3000) for _ in range(2))
    assert abs(a.data_ptr() - b.data_ptr()) >= 12000
    begins.add(a.data_ptr())
assert len(begins) > 1
PYTHON
    # What dispatch is timed by is made once, also where that fails.
    PYTHONPATH=$here/profilers/torch${PYTHONPATH:+:$PYTHONPATH} "$python" - <<'PYTHON' || complain "made again"
import prof_torch
made = []


def dispatch(device):
    made.append(device)
    raise RuntimeError("no memory")


prof_torch.prof_dispatch.Dispatch = dispatch
for op in "aten::mm", "aten::add":
    try:
        prof_torch.answer({"table": "dispatch", "op": op}, None)
    except RuntimeError as why:
        assert str(why) == "no memory", why
    else:
        raise AssertionError("answered")
assert len(made) == 1, made
PYTHON
    # On a GPU times are gpu_timer.py's, which reads all else out of the caches.
    PYTHONPATH=$here/profilers/torch:$here/tests/kernels${PYTHONPATH:+:$PYTHONPATH} \
        "$python" - <<'PYTHON' || complain "GPU"
import gpu_timer, made_up_gpu, prof_torch, torch
prof_torch.OPERANDS = prof_torch.Operands(torch.device("cpu"), 0)
cuda = made_up_gpu.Cuda()
gpu = gpu_timer.Gpu(cuda, made_up_gpu.Junk(cuda), cuda.now)
reads = []
gpu.flush = lambda flush=gpu.flush: (reads.append(1), flush())
for cache in "cold", "warm":
    out = prof_torch.answer({"table": "vector", "op": "add", "dtype": "fp32",
                             "shape": "8x8", "cache": cache}, gpu)
    assert out["time_us"] > 0 and out["uncovered"] == 0, out
    assert (len(reads) > out["runs"]) == (cache == "cold"), (len(reads), out)
    reads.clear()
PYTHON
else
    echo "no PyTorch: its backend is not tried"
fi
[ "$tried" -gt 0 ] || { echo "no backend was built: skipped"; exit 77; }

finish
