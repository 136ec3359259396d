#!/usr/bin/env bash
# The cases of profilers/torch/kernel_cases.py: each is priced as the kernel that
# it is for, runs where PyTorch is, and what is recorded of it is learned from.
# Where a case is added, or its kind of work changes, on purpose:
#
#     MYSTIQUE_SIM=build/mystique-sim SOURCE_DIR=$PWD \
#         bash tests/cli/kernel_cases.sh update
# shellcheck source=tests/torch.bash
source "${SOURCE_DIR:?the source folder}/tests/torch.bash"
export TORCH_CPP_LOG_LEVEL=ERROR
sim=$(realpath -e -- "$MYSTIQUE_SIM")
export sim
kinds=$SOURCE_DIR/tests/kernels/kinds.csv
record=$SOURCE_DIR/profilers/torch/record_kernels.py

fail() {
    echo "kernel_cases: $*" >&2
    exit 1
}

# ---- each case, as a GPU runs it, and the kinds of its works ----------------

kinds_of() { # CASE
    "$sim" --platform h100 --explain "$1" meta.json.gz 2>said-"$1" >of-"$1" ||
        echo "$1: $(<said-"$1")"
    ! grep -q 'model: bound on' of-"$1" || echo "$1: has no law"
    sed -n 's/^kind: //p' of-"$1" | sort -u | paste -sd'|' |
        sed "s/.*/$1,\"&\"/"
}
export -f kinds_of
"$python" "$SOURCE_DIR/tests/kernels/cases_on_meta.py" "$SOURCE_DIR" 0 \
    meta.json.gz >names 2>said || fail "$(tail -1 said)"
{
    echo "case,kinds"
    xargs -P 2 -I @ bash -c "kinds_of @" <names | LC_ALL=C sort
} >found.csv
if [ "${1:-}" = update ]; then
    cp found.csv "$kinds"
fi
diff "$kinds" found.csv >moved ||
    fail "cases are no longer of their kinds (<: committed, >: now): $(<moved)"

# ---- all of them run; what does not count is not in the trace ---------------

"$python" "$record" --device cpu --rounds 1 --out cpu >out 2>err ||
    fail "nothing recorded: $(tail -3 err)"
! grep '^left out' err || fail "not all cases ran"
"$python" - "$SOURCE_DIR" <<'PYTHON' || fail "wrong traces"
import glob, gzip, json, os, sys

sys.path.insert(0, f"{sys.argv[1]}/profilers/torch")
import kernel_cases, record_kernels

wanted = {c.name for c in kernel_cases.CASES if not c.gpu}
seen = set()
for path in glob.glob("cpu/*.json.gz"):
    with gzip.open(path, "rt") as f:
        trace = json.load(f)
    assert not trace["traceName"], trace["traceName"]
    runs = sorted((e["ts"], e["ts"] + e["dur"], e["name"])
                  for e in trace["traceEvents"]
                  if e.get("cat") == "user_annotation"
                  and (e["name"] in wanted or e["name"] == record_kernels.ASIDE))
    names = [name for _, _, name in runs]
    assert all(names.count(n) == record_kernels.RUNS for n in names), path
    seen |= set(names)
    for e in trace["traceEvents"]: # nothing that is in no run of a case
        assert e.get("cat") != "cpu_op" or any(
            begin <= e["ts"] <= end for begin, end, _ in runs), (path, e)
assert seen == wanted, (wanted ^ seen)

# Rounds are at other sizes, within the ranges.
point = [kernel_cases.Point(kernel_cases.CASES[0], n, None) for n in range(64)]
sizes = [p.size(32, 1024, 8) for p in point]
assert all(32 <= s <= 1024 and s % 8 == 0 for s in sizes)
assert len(set(sizes)) > 40 and min(sizes) < 48 and max(sizes) > 768, sizes
PYTHON

# What is launched from a range that does not count goes with it, and what nobody
# reads.
"$python" - "$SOURCE_DIR" <<'PYTHON' || fail "wrong cleaning"
import sys
sys.path.insert(0, f"{sys.argv[1]}/profilers/torch")
import record_kernels as r

def event(cat, name, ts, dur, tid=1, **args):
    return {"cat": cat, "name": name, "ts": ts, "dur": dur, "tid": tid,
            "args": args}

trace = {"traceName": "of.whom", "traceEvents": [
    event("user_annotation", r.ASIDE, 0, 100),
    event("cpu_op", "aten::sum", 10, 50), # also of another thread
    event("cuda_runtime", "cudaLaunchKernel", 20, 5, tid=2, correlation=1),
    event("kernel", "reduce", 300, 40, correlation=1),
    event("gpu_user_annotation", r.ASIDE, 300, 40),
    {"cat": "ac2g", "name": "ac2g", "ph": "f", "id": 1, "ts": 300},
    event("cpu_op", "aten::mul", 101, 10),
    event("cuda_runtime", "cudaLaunchKernel", 102, 5, correlation=2, cbid=211),
    {"cat": "ac2g", "name": "ac2g", "ph": "s", "id": 2, "ts": 102},
    event("kernel", "mul", 340, 40, correlation=2)]}
r.clean(trace)
left = [e["name"] for e in trace["traceEvents"]]
assert left == ["aten::mul", "cudaLaunchKernel", "mul"], left
assert trace["traceEvents"][1]["args"] == {"correlation": 2}, trace
PYTHON

# ---- learned from, as if a GPU had taken its time ---------------------------

"$python" "$record" --device cpu --rounds 2 --out two --only softmax reduction \
    product.odd >out 2>err || fail "$(tail -3 err)"
[ "$(find two -name '*.json.gz' | wc -l)" -eq 6 ] || fail "$(ls two)"
mkdir gpu kept
for trace in two/*; do
    "$python" "$SOURCE_DIR/tests/kernels/as_on_gpu.py" "$trace" \
        "kept/${trace#two/}" || fail "no trace of a GPU of $trace"
done
"$python" - "$SOURCE_DIR" <<'PYTHON'
import glob, gzip, json, sys
sys.path.insert(0, f"{sys.argv[1]}/profilers/torch")
import record_kernels as r
for path in glob.glob("kept/*"):
    trace = json.loads(gzip.decompress(open(path, "rb").read()))
    r.clean(trace)
    r.write(r.packed(trace), path.replace("kept", "gpu"))
PYTHON
"$sim" calibrate --from gpu --out mine.json >out 2>err || fail "$(<err)"
grep -q 'softmax-1.json.gz' out || fail "not held out by trace: $(<out)"
grep -Eq 'mean error: [0-9.]+ % by h100, [0-9.]+ % learned, [0-9.]+ % held out' \
    out || fail "no errors: $(<out)"
mkdir all
"$sim" calibrate --from kept --out all/mine.json >out 2>err || fail "$(<err)"
diff <(sed 's/"kept/"gpu/g' all/mine.json) mine.json >moved ||
    fail "something that is read was taken out: $(head -4 moved)"
for kind in "vector softmax, odd rows" "vector softmax, in passes" \
    "vector argmax, across rows" "gemm half, odd rows"; do
    grep -q "\"$kind\":" mine.json || fail "no factor of '$kind'"
done

# ---- a GPU's runs and its many events: as many traces as there is room for ---

"$python" - "$SOURCE_DIR" <<'PYTHON' >out 2>err || fail "room: $(tail -3 err)"
import gzip, json, os, sys
for folder in "profilers/torch", "tests/kernels":
    sys.path.insert(0, f"{sys.argv[1]}/{folder}")
import as_on_gpu, gpu_timer, made_up_gpu
import record_kernels as r


def clean(trace, clean=r.clean):
    as_on_gpu.on_gpu(trace)
    clean(trace)


def held():
    return {name: os.path.getsize(f"room/{name}") for name in os.listdir("room")}


r.clean = clean
cuda = made_up_gpu.Cuda()
gpu = gpu_timer.Gpu(cuda, made_up_gpu.Junk(cuda), cuda.now)
recorder = r.Recorder("cpu", r.SLOW_MACHINE, gpu)
laws = r.chosen("cpu", ["softmax", "reduction", "scan"])
options = r.parse(["--out", "room", "--rounds", "3", "--seconds", "1000"])
os.mkdir("room")
r.record_all(recorder, laws, options)
assert len(held()) == 9, held()
for name in held():
    with gzip.open(f"room/{name}") as f:
        events = json.load(f)["traceEvents"]
    runs = [e["name"] for e in events if e.get("cat") == "user_annotation"]
    assert runs and all(runs.count(n) == 2 * r.RUNS for n in runs), runs
assert gpu.awake_mhz > 0.99 * made_up_gpu.FULL_MHZ
total = sum(held().values())

# Half of that is room for the first ones; what is there already counts.
for path in held():
    os.remove(f"room/{path}")
for _ in range(2):
    options.most_bytes = total / 2
    r.record_all(recorder, laws, options)
    assert 3 <= len(held()) <= 6 and sum(held().values()) <= total / 2, held()
PYTHON
[ "$(grep -c 'beyond [0-9]* bytes: no more is recorded' out)" -eq 2 ] ||
    fail "does not say that there is no room: $(<out)"

# ---- what users mistype -----------------------------------------------------

rc=0
"$python" "$record" --device cpu --only softmx --out no >out 2>err || rc=$?
[ $rc -eq 1 ] && grep -q "no law or case 'softmx', want one of" err ||
    fail "'softmx' exits $rc: $(<err)"
"$python" "$record" --list --only scan >out || fail "no list"
[ "$(paste -sd' ' out)" = "scan.along scan.across scan.product" ] ||
    fail "a wrong list: $(<out)"
echo "kernel_cases: ok"
