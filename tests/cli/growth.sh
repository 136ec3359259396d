#!/usr/bin/env bash
# Four times as much of anything in a trace takes four times the work, give or
# take a logarithm: instructions are counted, so that a busy machine does not
# matter. What a run takes without a trace is not counted.
. "$(dirname "$0")/lib.bash"
in_turn

for tool in python3 valgrind; do
    command -v "$tool" >/dev/null || { echo "no $tool: skipped"; exit 77; }
done
[ "${MSIM_SANITIZE:-0}" = 0 ] || { echo "with sanitizers: skipped"; exit 77; }


# trace KIND N: a trace with N of a kind.
trace() {
    python3 - "$@" <<'PYTHON'
import json
import sys

kind, n = sys.argv[1], int(sys.argv[2])
events = []


def add(cat, name, ts, dur, tid=1, pid=1, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                   "tid": tid, "ts": ts, "dur": dur, "args": args})


def launch(i, at, begin, dur, stream=7, name="k", cat="kernel", **args):
    add("cuda_runtime", "cudaLaunchKernel", at, 2, correlation=i + 1)
    add(cat, name, begin, dur, tid=stream, pid=0, correlation=i + 1, device=0,
        stream=stream, grid=[1, 1, 1], block=[1024, 1, 1], **args)


def op(i, name="aten::add", **args):
    add("cpu_op", name, 10 * i, 8, **args)
    launch(i, 10 * i + 2, 10 * i + 5, 3)


for i in range(n):
    at, queued, stream = 10 * i, 10 * n, 7 + i
    if kind == "operators":
        op(i)
    elif kind == "names":
        op(i, f"op_{i}")
    elif kind == "marks":
        add("user_annotation", f"mark_{i}", at, 9)
        op(i)
    elif kind in ("nested calls", "nested steps"):
        add("cpu_op" if kind == "nested calls" else "user_annotation",
            f"ProfilerStep#{i}" if kind == "nested steps" else f"in_{i % 9}",
            3 * i, 6 * n - 6 * i + 10)
        launch(i, 3 * i + 1, 3 * i + 2, 1)
    elif kind in ("steps", "steps apart"):
        add("user_annotation",
            f"ProfilerStep#{i if kind == 'steps' else 2 * i}", at, 9)
        op(i)
    elif kind == "streams":
        launch(i, at + 2, at + 5, 3, stream)
    elif kind == "late streams":
        launch(i, at + 2, queued + 500 * i, 3, stream)
    elif kind == "concurrent kernels":
        launch(i, at + 2, queued + i / 1000, queued, stream)
    elif kind == "concurrent copies":
        launch(i, at + 2, queued + i / 1000, queued, stream,
               "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", bytes=1000)
    elif kind == "concurrent collectives":
        launch(i, at + 2, queued + i / 1000, queued, stream, "ncclDevKernel",
               **{"Collective name": "allreduce", "dtype": "Float",
                  "In msg nelems": 9, "Out msg nelems": 9, "Group size": 2})
    elif kind == "stream waits":
        launch(i, 30 * i + 2, 30 * i + 5, 3, stream)
        add("cuda_runtime", "cudaStreamSynchronize", 30 * i + 9, 5,
            correlation=n + i + 1)
    elif kind == "devices":
        launch(i, at + 2, at + 5, 3)
        events[-1]["pid"] = events[-1]["args"]["device"] = i
    elif kind == "threads":
        add("cpu_op", "aten::add", at, 8, tid=i)
text = json.dumps({"schemaVersion": 1, "traceEvents": events})
if kind == "escapes":
    add("cpu_op", "@", 0, 8)
    text = json.dumps({"traceEvents": events})
    text = text.replace("@", "\\u0041" * 200 * n)
print(text)
PYTHON
}

# work FILE ARGUMENT...: instructions of a run; nothing where it failed.
work() {
    local file=$1
    shift
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
        "$sim" "$@" "$file" >"$folder/out" 2>"$folder/err" || return
    sed -n 's/.*I *refs: *//p' "$folder/err" | tr -d ,
}

# grows KIND ARGUMENT...
grows() {
    local kind=$1 small large
    shift
    last="$* (a trace of $kind)"
    trace "$kind" 500 >"$folder/small.json"
    trace "$kind" 2000 >"$folder/large.json"
    small=$(work "$folder/small.json" "$@")
    large=$(work "$folder/large.json" "$@")
    if [ "${none:-0}" -le 0 ] || [ "${small:-0}" -le "$none" ] ||
        [ "${large:-0}" -le "$small" ]; then
        complain "instructions '$none', '$small', '$large', want three" \
            "numbers that grow: $(<"$folder/err")"
        return
    fi
    awk -v kind="$kind" -v small="$small" -v large="$large" -v none="$none" '
        BEGIN {
            power = log((large - none) / (small - none)) / log(4)
            printf "%-26s %5.1f M %6.1f M  power %.2f\n", kind, \
                (small - none) / 1e6, (large - none) / 1e6, power
            exit power > 1.1
        }' || complain "the work grows faster than the trace"
}

trace operators 1 >"$folder/one.json"
# Measured costs need no platform: none is read.
mkdir -p "$folder/data/platforms"
cp -r "${SOURCE_DIR:?the source folder}/data/hosts" "$folder/data"
export MSIM_DATA=$folder/data
none=$(work "$folder/one.json" --costs measured)
for kind in operators names marks "nested calls" "nested steps" steps \
    "steps apart" streams "late streams" "concurrent kernels" \
    "concurrent copies" "concurrent collectives" "stream waits" devices \
    threads escapes; do
    grows "$kind" --costs measured
done
export MSIM_DATA=$SOURCE_DIR/data
none=$(work "$folder/one.json" --costs model --platform titan-x)
grows "nested calls" --costs model --platform titan-x
finish
