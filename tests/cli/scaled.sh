#!/usr/bin/env bash
# Where durations come from: --costs auto chooses by the GPU that was traced,
# --costs scaled carries its times to another.
. "$(dirname "$0")/lib.bash"
: "${SOURCE_DIR:?the source folder}"

# trace GPU MEMORY SMS: a product of known shapes in 10 us, a kernel of none in
# 21 us.
trace() {
    cat <<TRACE
{"schemaVersion": 1,
 "deviceProperties": [{"id": 0, "name": "$1", "totalGlobalMem": $2,
                       "numSms": $3}],
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0,
  "dur": 20, "args": {"External id": 1,
  "Input Dims": [[4096, 1024], [1024, 2048]],
  "Input type": ["c10::Half", "c10::Half"]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 5, "dur": 3, "args": {"correlation": 1, "External id": 1}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20,
  "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 1,
  "External id": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1,
  "tid": 1, "ts": 25, "dur": 3, "args": {"correlation": 2}},
 {"ph": "X", "cat": "kernel", "name": "fused_things", "pid": 0, "tid": 7,
  "ts": 40, "dur": 21, "args": {"device": 0, "stream": 7, "correlation": 2}}]}
TRACE
}
trace "NVIDIA H100 80GB HBM3" 85018279936 132 >"$folder/h100.json"
trace "Unheard-of GPU" 85018279936 132 >"$folder/unknown.json"

want_costs() { # COSTS SOURCE
    want_rc 0
    want_out "\"costs\": \"$1\""
    want_out "\"source_platform\": $2"
}

# auto: the same GPU, another, one that is not known.
run --json "$folder/h100.json"
want_costs measured null
run --json --platform h100 "$folder/h100.json"
want_costs measured null
run --json --platform mi300x "$folder/h100.json"
want_costs scaled '"h100"'
want_err "GPU times were measured on h100 and are scaled to mi300x"
run --json --platform mi300x "$folder/unknown.json"
want_costs model null
run --json --platform mi300x --source-platform a100 "$folder/unknown.json"
want_costs scaled '"a100"'
run --json --platform a100 --source-platform a100 "$folder/unknown.json"
want_costs measured null
run --json --platform mi300x "$folder/unknown.json"
want_err "the trace does not say which GPU it ran on"
run --platform mi300x "$folder/h100.json"
want_out "on mi300x (costs: scaled from h100)"

# A GPU that is not known: the nearest by what the trace records, loudly. Names
# of kernels are no ground to guess on where there are times: without shapes,
# whoever asks must say which GPU it was.
sed 's/"numSms": 132/"numSms": 128, "computeMajor": 9, "computeMinor": 0/' \
    "$folder/unknown.json" >"$folder/near.json"
run --json --platform mi300x "$folder/near.json"
want_costs scaled '"near h100"'
want_err "the traced GPU, 'Unheard-of GPU' (128 multiprocessors, 85 GB), is not known"
want_err "its times are scaled as if it were h100, the nearest that is"
run --json "$folder/near.json"
want_costs measured null
sed 's/"Input Dims.*/"Sequence number": 0/; /"Input type"/d' \
    "$folder/unknown.json" | sed 's/"Sequence number": 0/& }},/' \
    >"$folder/guess.json"
usage_error "want '--source-platform NAME' to scale its times" \
    --platform mi300x "$folder/guess.json"
run --json --platform mi300x --costs model "$folder/guess.json"
want_costs model null

# A share of the peak is said where nearly all kernel time has shapes: here 10
# of 31 us have.
run --json --platform h800 "$folder/h100.json"
want_out '"mfu": null'
want_out '"flops_counted": 0.32'
run --platform h800 "$folder/h100.json"
want_out "in the 32.3 % of the kernel time that has shapes"

# The peak is the data sheet's, also of a T4, which sustains half of it.
python3 -c 'import json, sys
d = json.load(sys.stdin)
d["traceEvents"] = d["traceEvents"][:3]
json.dump(d, sys.stdout)' <"$folder/h100.json" >"$folder/product.json"
"$sim" --json --platform t4 --costs model "$folder/product.json" 2>/dev/null |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
peak = d["flops"] / d["mfu"] / d["period_us"]["predicted"] * 1e6
assert abs(peak / 65e12 - 1) < 1e-3, peak' || complain "the peak of a T4"

# One chip under two names: what does not change has no interval but that of
# the machines.
run --json --platform h800 "$folder/h100.json"
want_costs scaled '"h100"'
want_out '"kernel_us": {"predicted": 31, '

# The same GPU at another clock: the product goes with it, of the other kernel
# the 3.25 us that it takes to start: nearly 20 us less the start, and 24.25 us. At its usual clock
# both are as measured.
run --json --clock 0.5 "$folder/h100.json"
want_costs scaled '"h100"'
want_err "measured on h100 and are scaled to h100 at 0.99 GHz (of 1.98)"
grep -Eq '"kernel_us": \{"predicted": 4[234]\.' "$folder/out" ||
    complain "not twice the product and the start: $out"
run --json --platform h100 --clock 1 "$folder/h100.json"
want_costs scaled '"h100"'
want_out '"kernel_us": {"predicted": 31, "low": 31, "high": 31, "measured": 31}'
usage_error "got --clock with measured costs, want it with '--costs scaled'" \
    --costs measured --clock 0.5 "$folder/h100.json"
usage_error "got --power-cap with measured costs" \
    --costs measured --power-cap 300 "$folder/h100.json"

# To the GPU that was traced: as measured, without doubt.
run --json --costs scaled --platform h100 "$folder/h100.json"
want_costs scaled '"h100"'
want_out '"kernel_us": {"predicted": 31, "low": 31, "high": 31, "measured": 31}'
run --json --costs scaled "$folder/h100.json"
want_costs scaled '"h100"'
want_out '"kernel_us": {"predicted": 31, "low": 31, "high": 31, "measured": 31}'

# To another: not measured there; what has no operator goes by its class, which
# no law covers.
run --json --platform b200 "$folder/h100.json"
want_costs scaled '"h100"'
want_out '"measured": null}'
want_out '"model": "gemm"'
want_out '"model": "class"'
want_out '"coverage": {"ops": 0.5,'
run --strict --platform b200 "$folder/h100.json"
want_rc 3
want_err "no model covers kernel 'fused_things' on 'b200'"

# Times from another trace of the machine: of other shapes, or of none.
run --json --source-trace "$folder/h100.json" "$folder/unknown.json"
want_costs scaled '"h100"'
want_out "\"source_trace\": \"$folder/h100.json\""
want_out '"measured": null}'
run --json --source-trace "$folder/h100.json" "$SOURCE_DIR/data/traces/gpt2"
want_costs scaled '"h100"'
run --json --source-trace "$folder/h100.json" --platform b200 \
    "$SOURCE_DIR/data/traces/gpt2"
want_costs scaled '"h100"'
want_out '"platform": "b200"'

# No time of the job itself is read then.
sed 's/"dur": 21/"dur": 77/; s/"dur": 10,/"dur": 55,/' "$folder/h100.json" \
    >"$folder/other.json"
for file in h100 other; do
    mkdir -p "$folder/$file"
    mv "$folder/$file.json" "$folder/$file/job.json"
    run --json --source-trace "$folder/h100/job.json" "$folder/$file/job.json"
    want_rc 0
    sed "s,$folder/$file,FOLDER,g; s/\"measured_us\": [^,]*, //" \
        "$folder/out" >"$folder/$file.out" # shapes say what was measured
done
sed -i "s,$folder/h100,FOLDER,g" "$folder/other.out"
cmp -s "$folder/h100.out" "$folder/other.out" ||
    complain "other GPU times in the job, other bytes"
mv "$folder/h100/job.json" "$folder/h100.json"

# What cannot be.
run --source-trace "$SOURCE_DIR/data/traces/gpt2" "$folder/h100.json"
want_rc 3
want_err "gpt2: not every rank's trace has GPU times, so there is nothing to scale"
usage_error "got --source-trace with '--costs model', want it with" \
    --costs model --source-trace "$folder/h100.json" "$folder/h100.json"
usage_error "no platform to scale from: the trace names no GPU that is known" \
    --source-trace "$folder/unknown.json" "$folder/h100.json"
run --source-trace "$folder/nowhere.json" "$folder/h100.json"
want_rc 3
usage_error "no platform to scale from: the trace names no GPU that is known" \
    --costs scaled --platform h100 "$folder/unknown.json"
run --costs scaled --platform h100 --source-platform a100 \
    "$SOURCE_DIR/data/traces/gpt2"
want_rc 3
want_err "not every rank's trace has GPU times, so there is nothing to scale"
run --json --platform h100 --source-platform a100 "$SOURCE_DIR/data/traces/gpt2"
want_costs model null

finish
