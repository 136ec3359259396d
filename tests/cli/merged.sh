#!/usr/bin/env bash
# Two processes in one file are two ranks, for every verb; names that are no
# ranks; ranks without a common step.
. "$(dirname "$0")/lib.bash"

# process PID DEVICE US STEP: a step of 1 ms with a kernel of US.
process() {
    cat <<JSON
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#$4", "pid": $1,
 "tid": 1, "ts": ${4}000, "dur": 999, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": $1,
 "tid": 1, "ts": ${4}020, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": $2, "tid": 7,
 "ts": ${4}030, "dur": $3, "args": {"device": $2, "stream": 7,
 "correlation": 7}}
JSON
}

# trace EVENTS...: a file of them.
trace() {
    local IFS=,
    echo "{\"schemaVersion\": 1, \"traceEvents\": [$*]}"
}

mkdir "$folder/merged" "$folder/steps" "$folder/apart" "$folder/engine"
trace "$(process 40 0 100 1)" "$(process 50 1 700 1)" \
    >"$folder/merged/trace.json"
run --json "$folder/merged"
want_rc 0
want_out '"ranks": 2'
want_out '"kernel_us": {"predicted": 700,'
want_err "2 processes were merged into it: each is a rank"
run info "$folder/merged"
want_rc 0
want_out "1 file, 2 ranks"
run select -k 1 --json "$folder/merged"
want_rc 0
want_out '"ranks": 2, "gpus": 2'

trace "$(process 40 0 100 1)" >"$folder/steps/step.100.json"
trace "$(process 40 0 100 1)" >"$folder/steps/step.200.json"
run "$folder/steps"
want_rc 3
want_err "of another step than '$folder/steps/step.100.json', by their names"

# Numbered from 0, too: they could be ranks but for the word.
mkdir "$folder/from0" "$folder/iter_0" "$folder/iter_1" "$folder/ranks"
for n in 0 1; do
    trace "$(process 40 0 100 1)" >"$folder/from0/trace.step.$n.json"
    trace "$(process 40 0 100 1)" >"$folder/iter_$n/rank0.json"
    trace "$(process 40 0 100 1)" >"$folder/ranks/footstep.$n.json"
done
run "$folder/from0"
want_rc 3
want_err "trace.step.1.json: is a Kineto trace of another step than"
run "$folder/iter_0" "$folder/iter_1"
want_rc 3
want_err "iter_1/rank0.json: is a Kineto trace of another step than"
run --json "$folder/ranks" # the end of another word says nothing
want_rc 0
want_out '"ranks": 2'

run select -k 1 --json "$folder/steps"
want_rc 0
want_out "step.200.json"

trace "$(process 40 0 100 1)" >"$folder/engine/17.5-TP-0.trace.json"
trace "$(process 41 1 300 1)" >"$folder/engine/17.5-TP-1.trace.json"
run --json "$folder/engine"
want_rc 0
want_out '"ranks": 2'

trace "$(process 40 0 100 1)" >"$folder/apart/rank0.json"
trace "$(process 41 1 300 5)" >"$folder/apart/rank1.json"
run "$folder/apart"
want_rc 3
want_err "rank 0 recorded steps from ProfilerStep#1 on, rank 1 from #5 on"
run info "$folder/apart"
want_rc 0

# A rank that marks no step is said to be in every mean.
mkdir "$folder/unmarked"
trace "$(process 40 0 100 1)" "$(process 50 1 700 1 | tail -n +3)" \
    >"$folder/unmarked/trace.json"
run "$folder/unmarked"
want_rc 0
want_err "rank 1 marks no step, rank 0 does"

finish
