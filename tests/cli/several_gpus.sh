#!/usr/bin/env bash
# One process that drives several GPUs: all of them count.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces

# kernel DEVICE CORRELATION: launched by a thread of its own, 400 us.
kernel() {
    cat <<JSON
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9,
 "tid": $2, "ts": 20, "dur": 5, "args": {"correlation": $2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": $1, "tid": 7, "ts": 30,
 "dur": 400, "args": {"device": $1, "stream": 7, "correlation": $2}},
JSON
}

cat >"$folder/trace.json" <<JSON
{"schemaVersion": 1, "traceEvents": [
$(kernel 0 1)
$(kernel 1 2)
$(kernel 2 3)
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9,
 "tid": 1, "ts": 0, "dur": 500, "args": {}}]}
JSON

run --price 6 --power 100 "$folder/trace.json"
want_rc 0
want_out "GPUs                     3      driven by 1 process"
want_out "0.0025 USD for 1000 iterations on 3 GPUs"
want_out "0.15 J for an iteration on 3 GPUs"
run --price 6 --power 100 --json "$folder/trace.json"
want_out '"gpus": 3'
want_out '"cost_usd": 2.5e-06'
run --json --ranks 4 "$folder/trace.json"
want_out '"gpus": 12'
run info "$folder/trace.json"
want_rc 0
run info --json "$folder/trace.json"
want_out '"gpus": 3'

# Memory: of the tensors on both GPUs, in the memory of both.
zcat "$samples"/llama-block/et/*.gz | sed 's/"cpu"/"cuda:0"/g' \
    >"$folder/one.json"
sed '0~2s/"cuda:0"/"cuda:1"/g' "$folder/one.json" >"$folder/two.json"
run info --json "$folder/two.json"
want_out '"gpus": 2'
capacity() {
    run --platform a100 --costs model --json "$folder/$1.json"
    want_rc 0
    sed -n 's/.*"capacity": \([0-9.e+]*\).*/\1/p' "$folder/out" | head -n 1
}
one=$(capacity one)
two=$(capacity two)
awk -v a="$one" -v b="$two" 'BEGIN { exit !(a > 0 && b == 2 * a) }' ||
    complain "one GPU has $one bytes, two have $two"

finish
