#!/usr/bin/env bash
# --ops: a user's own table of operators.
. "$(dirname "$0")/lib.bash"

data=${SOURCE_DIR:?the source folder}/data

# An operator of a library that nobody knows, two others of known libraries,
# each with one kernel.
cat >"$folder/trace.json" <<'TRACE'
{"schemaVersion": 1,
 "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB",
                       "totalGlobalMem": 85000000000, "numSms": 108}],
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "mylib::gate", "pid": 1, "tid": 1,
  "ts": 0, "dur": 20, "args": {"External id": 1,
  "Input Dims": [[4096, 1024], [4096, 1024], []],
  "Input type": ["c10::Half", "c10::Half", "Scalar"],
  "Concrete Inputs": ["", "", "3"]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 5, "dur": 3, "args": {"correlation": 1, "External id": 1}},
 {"ph": "X", "cat": "kernel", "name": "gate_kernel", "pid": 0, "tid": 7,
  "ts": 20, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 1,
  "External id": 1}},
 {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
  "ts": 30, "dur": 20, "args": {"External id": 2,
  "Input Dims": [[4096, 1024], [4096, 1024]],
  "Input type": ["c10::Half", "c10::Half"]}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": 35, "dur": 3, "args": {"correlation": 2, "External id": 2}},
 {"ph": "X", "cat": "kernel", "name": "mul_kernel", "pid": 0, "tid": 7,
  "ts": 60, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 2,
  "External id": 2}}]}
TRACE

# figures OP: predicted, low, high of an operator, in $figures
figures() {
    figures=$(sed -n "s/.*\"name\": \"$1\".*\"predicted_us\": \([0-9.]*\), \
\"low_us\": \([0-9.]*\), \"high_us\": \([0-9.]*\).*/\1 \2 \3/p" \
        "$folder/out" | head -n 1)
    [ -n "$figures" ] || complain "no figures of $1: $out"
}

table() { # LINE...: as a table, and a run with it
    printf '%s\n' "$@" >"$folder/ops.csv"
    run --json --platform a100 --costs model --ops "$folder/ops.csv" \
        "$folder/trace.json"
}

# Without a table the operator is bounded.
run --json --platform a100 --costs model "$folder/trace.json"
want_out '"not_covered": [
    {"name": "mylib::gate"'
figures aten::mul
mul=$figures

# Like another: its time, a wider interval; operators that the table says nothing
# of stay as they were.
table operator,like 'mylib::*,aten::mul'
want_rc 0
figures aten::mul
[ "$figures" = "$mul" ] || complain "aten::mul changed from $mul to $figures"
figures mylib::gate
like=$figures
awk -v a="$mul" -v b="$figures" 'BEGIN {
    split(a, m); split(b, g)
    same = g[1] / m[1] - 1
    exit !(same * same < 1e-9 && g[2] < m[2] && g[3] > m[3]) }' ||
    complain "mul $mul, like it $figures"
want_out '"device_time": 1}'

# By bytes: half of them take less; ten times as many more.
table operator,law,read,written,within \
    'mylib::gate,pointwise,bytes(in0) / 2,,3'
figures mylib::gate
less=${figures%% *}
table operator,law,read,written \
    'mylib::gate,pointwise,"max(10 * bytes(in), dim(in0, -1))",bytes(out0)'
figures mylib::gate
awk "BEGIN { exit !($less < ${mul%% *} && ${figures%% *} > 3 * ${mul%% *}) }" ||
    complain "$less, ${mul%% *}, $figures"

# A time with a formula; a product; nothing.
table operator,law,us,within 'mylib::g*e,time,arg(2) + elems(in0) / 4194304,2'
figures mylib::gate
[ "${figures%% *}" = 4 ] || complain "a time of 4 us is $figures"
want_out '"source": "table"'
table operator,law,m,n,k 'mylib::gate,gemm,"dim(in0,0)","dim(in0,1)",4096'
want_out '"model": "gemm"'
table operator,law mylib::gate,nothing
want_rc 0
# A rule of the program: as like an operator whose row has it.
table operator,rule,variant,inputs 'mylib::gate,pointwise,mul,2'
want_rc 0
figures mylib::gate
[ "$figures" = "$like" ] || complain "by the rule $figures, like mul $like"
# A built-in row, as data/ops has it: the same time.
(head -1 "$data/ops/pointwise.csv" && grep '^aten::mul,' "$data/ops/pointwise.csv") \
    >"$folder/ops.csv"
run --json --platform a100 --costs model --ops "$folder/ops.csv" \
    "$folder/trace.json"
figures aten::mul
[ "${figures%% *}" = "${mul%% *}" ] || complain "$figures by its own row, $mul"
# the first row that matches counts, built-in operators can be replaced
table operator,law,us aten::mul,time,7 'aten::*,time,9'
figures aten::mul
[ "${figures%% *}" = 7 ] || complain "the first row says 7 us, got $figures"

# Where it came from.
table operator,like,note mylib::gate,aten::mul,"a gate multiplies"
run --platform a100 --costs model --ops "$folder/ops.csv" \
    --explain mylib::gate "$folder/trace.json"
want_out "by $folder/ops.csv:2, with an interval wider by a factor of 1.25"
want_out "model: pointwise on a100"

# The example of docs/operators.md is one.
run --json --platform a100 --costs model --ops "$data/ops/example.csv" \
    "$folder/trace.json"
want_rc 0

# Mistakes, with their line.
wrong() { # TEXT LINE...
    local text=$1
    shift
    table "$@"
    want_rc 3
    want_no_out
    want_err "$text"
}
wrong "ops.csv:1: no column 'operator', want operator, like, law" name,law a,b
wrong "ops.csv:1: column 'raed' is not known, want operator, like" \
    operator,law,raed a,nothing,
wrong "ops.csv:2: 'operator' is empty, want a name or a glob" \
    operator,law ,nothing
wrong "ops.csv:3: 'like', 'law' and 'rule' are all empty, want one of them" \
    operator,like,law a,aten::mul, b,,
wrong "ops.csv:2: several of 'like', 'law', 'rule' are there, want one of them" \
    operator,like,law a,aten::mul,nothing
wrong "ops.csv:2: 'like' is 'aten::mull', which the built-in table does not" \
    operator,like a,aten::mull
wrong "ops.csv:2: 'law' is 'fast', want pointwise, reduction, softmax" \
    operator,law a,fast
wrong "ops.csv:2: 'k' is empty, want a formula: law gemm needs it" \
    operator,law,m,n,k a,gemm,1,1,
wrong "ops.csv:2: 'us' is '3', want it empty: law nothing takes no such size" \
    operator,law,us a,nothing,3
wrong "ops.csv:2: 'read' is '3', want it empty: 'like' takes no such size" \
    operator,like,read a,aten::mul,3
wrong "ops.csv:2: 'within' is '0.5', want a factor from 1 to 100" \
    operator,law,within a,nothing,0.5
wrong "ops.csv:2: 'read' is no formula, want another: 'inn)' at column 7 of" \
    operator,law,read 'a,pointwise,bytes(inn)'
wrong "want an operator (+ - * /) or the end" \
    operator,law,read 'a,pointwise,3 bytes(in)'
wrong "want one tensor, as in0 or out0" \
    operator,law,read 'a,pointwise,"dim(in, 0)"'
wrong "ops.csv:2: 'rule' is 'pointwize', want pointwise" operator,rule a,pointwize
wrong "ops.csv:2: 'read' is '3', want it empty: a rule takes no such size" \
    operator,rule,read a,pointwise,3
wrong "ops.csv:2: 'variant' is 'x', want it empty: rule dot does not read it" \
    operator,rule,variant a,dot,x
wrong "ops.csv:2: 'inputs' is '-1', want a whole number up to 255" \
    operator,rule,inputs a,pointwise,-1
wrong "ops.csv:2: 'arg' is 'plane', want layer, plain, group, channel" \
    operator,rule,arg a,norm,plane
wrong "ops.csv:2: 'flags' is 'backward', want composite, outer, compiled" \
    operator,law,flags a,pointwise,backward
wrong "a row that is like another one has 'flags', want it empty" \
    operator,like,flags a,aten::mul,outer
run --platform a100 --ops "$folder/none.csv" "$folder/trace.json"
want_rc 2
want_err "none.csv' selects nothing: there is no file (a table) of that name"

finish
