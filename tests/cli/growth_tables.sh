#!/usr/bin/env bash
# Four times as many names in other inputs than traces take four times the work,
# give or take a logarithm: classes of an application, models of a table of
# served points, operators that are compared. Instructions are counted, so that
# a busy machine does not matter.
. "$(dirname "$0")/lib.bash"
in_turn

for tool in python3 valgrind; do
    command -v "$tool" >/dev/null || { echo "no $tool: skipped"; exit 77; }
done
[ "${MSIM_SANITIZE:-0}" = 0 ] || { echo "with sanitizers: skipped"; exit 77; }

# input KIND N: with N names.
input() {
    python3 - "$@" <<'PYTHON'
import json
import sys

kind, n = sys.argv[1], int(sys.argv[2])
if kind == "classes":
    json.dump({
        "schema": "mystique-sim/app/1", "name": "names",
        "classes": [{"name": f"c{i}", "share": 1 / n, "priority": i}
                    for i in range(n)],
        "arrivals": {"process": "poisson", "rate": 20},
        "stages": {"s": {"kind": "tool", "replicas": 2, "call": "queue",
                         "service": {"exponential": 1}}},
        "flow": {"start": "s", "edges": []}}, sys.stdout)
elif kind == "models":
    print("backend,model,platform,isl,osl,batch_size,tp_size")
    for i in range(n):
        print(f"vllm,m{i},h100,100,10,1,1")
elif kind == "operators":
    events = []
    for i in range(n):
        for cat, name, at, dur, tid, args in (
                ("cpu_op", f"op_{i}", 0, 8, 1, {}),
                ("cuda_runtime", "cudaLaunchKernel", 2, 2, 1, {"correlation": i + 1}),
                ("kernel", f"k_{i}", 5, 3, 7, {"correlation": i + 1, "device": 0,
                                               "stream": 7})):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1,
                           "tid": tid, "ts": 10 * i + at, "dur": dur,
                           "args": args})
    json.dump({"traceEvents": events}, sys.stdout)
PYTHON
}

# work ARGUMENT...: how many instructions that takes.
work() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$sim" "$@" 2>"$folder/err" >/dev/null
    sed -n 's/.*Collected : *//p' "$folder/err"
}

# grows KIND N ARGUMENT...: '@' is the input of N, then that of 4 N names.
grows() {
    local kind=$1 n=$2 none small large
    shift 2
    last="$* (of $kind)"
    input "$kind" 1 >"$folder/none"
    input "$kind" "$n" >"$folder/small"
    input "$kind" $((4 * n)) >"$folder/large"
    none=$(work "${@//@/$folder/none}")
    small=$(work "${@//@/$folder/small}")
    large=$(work "${@//@/$folder/large}")
    if [ "${none:-0}" -le 0 ] || [ "${small:-0}" -le "$none" ] ||
        [ "${large:-0}" -le "$small" ]; then
        complain "instructions '$none', '$small', '$large', want three" \
            "numbers that grow: $(<"$folder/err")"
        return
    fi
    awk -v kind="$kind" -v small="$small" -v large="$large" -v none="$none" '
        BEGIN {
            power = log((large - none) / (small - none)) / log(4)
            printf "%-12s %6.1f M %7.1f M  power %.2f\n", kind, \
                (small - none) / 1e6, (large - none) / 1e6, power
            exit power > 1.1
        }' || complain "the work grows faster than the names"
}

grows classes 200 serve @ --num-requests 20
grows models 2000 serve --rows @ --csv --threads 1
grows operators 1500 compare --costs measured --csv @ @

finish
