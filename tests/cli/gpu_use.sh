#!/usr/bin/env bash
# --usage: what GPUs do over time, of predict and whatif.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces

# kernel START DURATION GRID: of 256 threads with 64 registers, four of which an
# SM of this GPU holds.
kernel() {
    cat <<JSON
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9,
 "tid": 1, "ts": $(($1 - 5)), "dur": 2, "args": {"correlation": $1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": $1,
 "dur": $2, "args": {"device": 0, "stream": 7, "correlation": $1,
 "registers per thread": 64, "shared memory": 0, "grid": [$3, 1, 1],
 "block": [256, 1, 1]}},
JSON
}

# A wave and a half: all SMs for 100 us, half of the warps for 50, a quarter
# for 50. 54 blocks: half of the SMs. Of 400 us.
cat >"$folder/trace.json" <<JSON
{"schemaVersion": 1, "deviceProperties": [{"id": 0,
 "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 84990623744,
 "computeMajor": 8, "computeMinor": 0, "numSms": 108}], "traceEvents": [
$(kernel 11 100 648)
$(kernel 200 100 54)
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9,
 "tid": 1, "ts": 0, "dur": 400, "args": {}}]}
JSON

run --usage --costs measured "$folder/trace.json"
want_rc 0
want_out "GPU use          SMs busy 37.5 %, warps held 10.9 % on average"
run --usage --costs measured --json "$folder/trace.json"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "wrong JSON"
import json, sys
u = json.load(open(sys.argv[1]))["usage"]
g, = u["gpus"]
near = lambda a, b: abs(a - b) < 1e-6
assert near(u["mean"]["sm_busy"], 0.375), u["mean"]
# (50 x 1/2 + 50 x 1/4 + 100 x 54 x 256 / (108 x 2048)) of 400
assert near(u["mean"]["sm_occupancy"], (25 + 12.5 + 6.25) / 400), u["mean"]
assert u["mean"]["power_watts"] is None, u["mean"]
s = g["sm_busy"]
assert (s["p10"], s["median"], s["p90"], s["max"]) == (0, 0, 1, 1), s
assert len(s["curve"]) == 200 and near(sum(s["curve"]) / 200, 0.375), s
assert near(s["curve"][6], 1) and near(s["curve"][120], 0.5), s["curve"]
assert near(s["curve"][55], 0.5), s["curve"]  # 110 to 112 us, till 111
assert g["memory_bytes_per_second"]["curve"] is None, g
assert g["gpu"] == 0 and g["end_us"] - g["begin_us"] == 400, g
PY
run --usage --costs measured --timeline "$folder/t.json" "$folder/trace.json"
want_rc 0
python3 - "$folder/t.json" <<'PY' || complain "wrong counters"
import json, sys
t = [e for e in json.load(open(sys.argv[1]))["traceEvents"]
     if e["ph"] == "C" and e["name"] == "GPU 0 SMs busy (%)"]
begin = t[0]["ts"]
got = [(round(e["ts"] - begin), e["args"]["%"]) for e in t]
assert got == [(0, 0), (11, 100), (111, 0), (200, 50), (300, 0)], got
w = [e for e in json.load(open(sys.argv[1]))["traceEvents"]
     if e["ph"] == "C" and e["name"] == "GPU 0 warps held (%)"]
assert [round(e["ts"] - begin) for e in w] == [0, 11, 61, 111, 200, 300], w
PY

# Nobody asks: not a word.
run --costs measured --json "$folder/trace.json"
[[ $out != *usage* ]] || complain "usage that nobody asked for"
run --costs measured --timeline "$folder/t.json" "$folder/trace.json"
! grep -q 'SMs busy' "$folder/t.json" || complain "counters without --usage"

# Models know what the work asks for: all five, of the platform that is named.
means() {
    python3 - "$folder/out" <<'PY' || complain "wrong means"
import json, sys
m = json.load(open(sys.argv[1]))["usage"]["mean"]
assert all(v is not None and v >= 0 for v in m.values()), m
assert 0 < m["sm_occupancy"] <= m["sm_busy"] <= 1, m
print(m["power_watts"])
PY
}
for gpu in a100:400:100 h100:700:175; do
    IFS=: read -r name limit idle <<<"$gpu"
    run --usage --json --costs model --platform "$name" "$samples/llama-block"
    want_rc 0
    watts=$(means)
    awk -v w="${watts:-0}" -v l="$limit" -v i="$idle" \
        'BEGIN { exit !(w > i && w < l) }' || complain "$watts W on $name"
done

# Under every scenario.
cat >"$folder/s.json" <<'JSON'
{"scenarios": [{"name": "half", "changes": [
  {"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "other", "changes": [{"gpu": "h100"}]}]}
JSON
run whatif --usage --platform a100 "$folder/s.json" "$samples/llama-block"
want_rc 0
want_out "GPU use on average"
run whatif --usage --json --platform a100 "$folder/s.json" \
    "$samples/llama-block"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "wrong scenarios"
import json, sys
d = json.load(open(sys.argv[1]))
base, half, other = [r["usage"] for r in [d["base"]] + d["scenarios"]]
assert half["sm_busy"] < base["sm_busy"], (base, half)
assert other["power_watts"] > 175, other
PY
# Kernels that a change makes hold SMs, too; those of another GPU's libraries
# are other ones, where the recorded launch does not fit.
cat >"$folder/f.json" <<'JSON'
{"scenarios": [{"name": "fuse", "changes": [{"fuse": "optimizer"}]},
  {"name": "other", "changes": [{"gpu": "t4"}]}]}
JSON
run whatif --usage --json --platform a100 "$folder/f.json" "$samples/gpt2"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "a change without use"
import json, sys
d = json.load(open(sys.argv[1]))
for r in d["scenarios"]:
    assert r["reason"] is None, r["reason"]
    assert all(v is not None for v in r["usage"].values()), r["usage"]
    assert r["usage"]["sm_occupancy"] > 0, r["usage"]
    assert r["usage"]["memory_bytes_per_second"] > 1e9, r["usage"]
PY
run whatif --usage --csv --platform a100 "$folder/s.json" "$samples/llama-block"
want_out "guards,sm_busy,sm_occupancy,memory_bytes_per_second,flops_per_second,power_watts"
run whatif --csv --platform a100 "$folder/s.json" "$samples/llama-block"
[[ $out != *sm_busy* ]] || complain "columns that nobody asked for"
run whatif --usage --platform a100 "$folder/s.json" llama3-8b
want_rc 2
want_err "--usage is of a traced job"

# op NAME START DIMS KERNELS: an operator with shapes and what it launched, by
# model costs: "NAME GRID" each, of 128 threads.
op() {
    local at=$2 name grid
    cat <<JSON
{"ph": "X", "cat": "cpu_op", "name": "$1", "pid": 9, "tid": 1, "ts": $2,
 "dur": 40, "args": {"Input Dims": $3, "External id": $2,
 "Input type": ["float", "float", "Scalar"]}},
JSON
    shift 3
    while read -r name grid; do
        at=$((at + 10))
        cat <<JSON
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9,
 "tid": 1, "ts": $at, "dur": 2, "args": {"correlation": $at}},
{"ph": "X", "cat": "kernel", "name": "$name", "pid": 0, "tid": 7, "ts": $at,
 "dur": 5, "args": {"device": 0, "stream": 7, "correlation": $at,
 "registers per thread": 32, "shared memory": 0, "grid": [$grid, 1, 1],
 "block": [128, 1, 1]}},
JSON
    done < <(printf '%s\n' "$@")
}
job() { # OP: a trace of it
    cat <<JSON
{"schemaVersion": 1, "deviceProperties": [{"id": 0,
 "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 84990623744,
 "computeMajor": 8, "computeMinor": 0, "numSms": 108}], "traceEvents": [
$1
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9,
 "tid": 1, "ts": 0, "dur": 100, "args": {}}]}
JSON
}
most() { # the most SMs that are busy
    python3 - "$folder/out" <<'PY' || complain "no figures"
import json, sys
print(json.load(open(sys.argv[1]))["usage"]["gpus"][0]["sm_busy"]["max"])
PY
}

# A product with a kernel of one block before it, which has an equal part of the
# time and takes next to none of it: all but all SMs are busy in both.
job "$(op aten::mm 10 '[[8192, 8192], [8192, 8192], []]' \
    "computeOffsetsKernel 1" "ampere_sgemm_128x128_nn 4096")" \
    >"$folder/mm.json"
run --usage --json --costs model --platform a100 "$folder/mm.json"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "kernels of an operator by halves"
import json, sys
s = json.load(open(sys.argv[1]))["usage"]["gpus"][0]["sm_busy"]
assert s["max"] > 0.98 and s["p90"] > 0.98, s
assert 0 < min(c for c in s["curve"] if c), s
assert s["median"] > 0.98, s
PY

# Rows of 512 elements, one a block: twice the rows are twice the SMs.
job "$(op aten::add_ 10 '[[27, 512], [27, 512], []]' \
    "vectorized_elementwise_kernel 27")" >"$folder/add.json"
run --usage --json --costs model --platform a100 "$folder/add.json"
want_rc 0
[ "$(most)" = 0.25 ] || complain "27 blocks hold $(most) of 108 SMs"
cat >"$folder/g.json" <<'JSON'
{"scenarios": [{"name": "twice", "changes": [
  {"reshape": {"from": 27, "to": 54}}]}]}
JSON
run whatif --usage --json --platform a100 "$folder/g.json" "$folder/add.json"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "a grid that does not grow"
import json, sys
d = json.load(open(sys.argv[1]))
base, twice = d["base"], d["scenarios"][0]
assert twice["reason"] is None, twice
share = lambda r: r["usage"]["sm_busy"] * r["iteration_us"]["predicted"] / \
    r["kernel_us"]["predicted"]
assert abs(share(twice) / share(base) - 2) < 0.02, (share(base), share(twice))
PY

# An operator that is inserted moves bytes, and holds what a pointwise kernel of
# as many does: all SMs.
cat >"$folder/i.json" <<'JSON'
{"scenarios": [{"name": "more", "changes": [{"insert": {
  "after": "op:aten::add_", "operator": "aten::add",
  "sizes": [[8192, 8192], [8192, 8192]], "dtype": "fp32"}}]}]}
JSON
run whatif --usage --json --platform h100 "$folder/i.json" "$folder/add.json"
want_rc 0
python3 - "$folder/out" <<'PY' || complain "an inserted kernel uses nothing"
import json, sys
d = json.load(open(sys.argv[1]))
base, more = d["base"]["usage"], d["scenarios"][0]["usage"]
assert more["memory_bytes_per_second"] > \
    100 * base["memory_bytes_per_second"], (base, more)
assert more["sm_busy"] > 2 * base["sm_busy"], (base, more)
PY

# The ranking of parts has it, too, in text and figures of one kind.
run whatif --sensitivity --usage --platform a100 "$samples/llama-block"
want_rc 0
awk '/^GPU use on average/ { n = NR } n && NR > n && /SMs busy/ { rows++ } END { exit !(rows > 5) }' \
    "$folder/out" || complain "no use of GPUs behind the ranking: $out"

# 200,000 bytes of shared memory are more than an SM of a T4 has: its library has
# another kernel.
sed 's/"shared memory": 0/"shared memory": 200000/' "$folder/mm.json" \
    >"$folder/large.json"
run --usage --json --costs model --platform t4 "$folder/large.json"
want_rc 0
means >/dev/null

# A panel of the chart.
if command -v gnuplot >/dev/null; then
    run --usage --platform a100 --costs model --chart "$folder/c.svg" \
        "$samples/llama-block"
    want_rc 0
    grep -q 'What the GPU does over time' "$folder/c.svg" ||
        complain "no panel in the chart"
    grep -q 'warps held' "$folder/c.svg" || complain "no curve of warps"
fi

finish
