#!/usr/bin/env bash
# Databases of Nsight Systems, of two schemas: the traced run is that of the
# Kineto trace that they were made of; others are refused by what they are.
. "$(dirname "$0")/lib.bash"

python3 -c 'import sqlite3' 2>/dev/null || { echo "no sqlite3 of Python: skipped" && exit 77; }
here=$(dirname "$0")
shared=${MSIM_TRACES:-}/traces

period() {
    python3 -c 'import json,sys; print(json.load(sys.stdin)["period_us"]["predicted"])' <"$folder/out"
}

# same TRACE: within 0.1 %, by both schemas.
same() {
    local before schema
    run --costs measured --json "$1"
    want_rc 0
    before=$(period)
    for schema in new old; do
        python3 "$here/nsys_db.py" "$1" "$folder/run.sqlite" "$schema" || complain "no database"
        run --costs measured --json "$folder/run.sqlite"
        if [[ $err == *"built without SQLite"* ]]; then
            echo "built without SQLite: skipped"
            exit 77
        fi
        want_rc 0
        python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > 0.001)' \
            "$(period)" "$before" || complain "$schema: $(period) us, want $before"
    done
}

# ---- a job of our own --------------------------------------------------------

python3 - "$folder/kineto.json" <<'PYTHON'
import json, sys

events, n = [], 0
for step in range(3):
    begin = 10000 * step + 5
    events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
                   "tid": 1, "ts": begin, "dur": 9000})
    for i in range(20):
        n += 1
        at = begin + 10 + i * 400
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 60,
             "args": {"External id": n, "Input Dims": [[512, 512], [512, 512]],
                      "Input type": ["c10::Half", "c10::Half"]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
             "ts": at + 20, "dur": 10, "args": {"correlation": n, "External id": n}},
            {"ph": "X", "cat": "kernel", "name": "ampere_fp16_s16816gemm_fp16_128x128_nn", "pid": 0,
             "tid": 7, "ts": at + 35, "dur": 300 + i, "args": {
                 "device": 0, "stream": 7, "correlation": n, "External id": n,
                 "grid": [16, 1, 1], "block": [256, 1, 1]}}]
json.dump({"schemaVersion": 1, "traceEvents": events, "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85000000000, "numSms": 108}]},
    open(sys.argv[1], "w"))
PYTHON
same "$folder/kineto.json"
want_err "no element type"
run info "$folder/run.sqlite"
want_rc 0
# The GPU is known, and what kernels are by their names.
run --json "$folder/run.sqlite"
want_out '"platform": null'
run --platform h100 --json "$folder/run.sqlite"
want_rc 0
want_out '"name": "aten::mm"'
# In a folder with other files it is found by its name.
mkdir "$folder/job"
cp "$folder/run.sqlite" "$folder/job"
echo "what it is" >"$folder/job/README"
run --costs measured --json "$folder/job"
want_rc 0

# ---- real ones ------------------------------------------------------------------

if [ -d "$shared" ]; then
    for trace in vgg13-h100/kineto/rank-0 resnet-2080ti/kineto/rank-0 \
        ranking-a100/kineto/rank-3-of-8 \
        same-model-h100-mi300x/Falconsai_nsfw_image_detection__1016002/h100; do
        same "$shared/$trace.json.gz"
    done
else
    echo "no shared traces: real ones were not tried"
fi

# ---- what is not read -------------------------------------------------------------

refused() { # TEXT FILE
    run info "$2"
    want_rc 3
    want_err "$1"
}
head -c 3000 "$folder/run.sqlite" >"$folder/cut.sqlite"
refused "want an export of Nsight Systems" "$folder/cut.sqlite"
python3 -c 'import sqlite3,sys; d = sqlite3.connect(sys.argv[1]); d.execute("CREATE TABLE a (b)"); d.commit()' \
    "$folder/other.sqlite"
refused "without kernels, calls or ranges of Nsight Systems" "$folder/other.sqlite"
cp "$folder/run.sqlite" "$folder/word.sqlite"
python3 -c 'import sqlite3,sys; d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = ?", ("soon",)); d.commit()' "$folder/word.sqlite"
refused "a row of CUPTI_ACTIVITY_KIND_KERNEL has a time that is no number, want ns" "$folder/word.sqlite"
gzip -kf "$folder/other.sqlite"
refused "packed or comes by a pipe: unpack it first" "$folder/other.sqlite.gz"
for file in run.nsys-rep:"nsys export --type sqlite" run.qdrep:"nsys export --type sqlite" \
    run.ncu-rep:"Nsight Compute" run.pftrace:"traceconv json"; do
    printf '\x0a\x99\x01rest' >"$folder/${file%%:*}"
    refused "${file#*:}" "$folder/${file%%:*}"
done
printf 'PAR1....' >"$folder/table"
refused "nsys export --type sqlite" "$folder/table"

finish
