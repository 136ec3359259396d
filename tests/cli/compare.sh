#!/usr/bin/env bash
# compare A B: what changed, and that the rows of a table sum to its change.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces
sample=$samples/dlrm-ddp-2ranks/kineto

# checked: every table of the comparison in $folder/out adds up.
checked() {
    command -v python3 >/dev/null || return 0
    python3 - "$folder/out" <<'PYTHON' || complain "the sums do not add up"
import json, math, sys

c = json.load(open(sys.argv[1]))
assert c["schema"] == "mystique-sim/comparison/1", c["schema"]
keys = ["schema", "version", "a", "b", "iteration_us", "period_us", "measured_us",
        "kernel_us", "communication_us", "external_wait_us", "overlapped_us",
        "breakdown_us", "iterations", "main_thread_waits", "gpu_idle",
        "families", "ops", "kernels", "streams", "host_ops",
        "critical_path", "ranks", "warnings", "a_import", "b_import"]
assert list(c) == keys, list(c)

def close(a, b, what):
    assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6), (what, a, b)

for name in ["breakdown_us", "families", "ops", "kernels", "streams",
             "host_ops", "critical_path"]:
    table = c[name]
    if table["absent"]:
        assert not table["rows"], name
        continue
    for side in "ab":
        close(sum(r[side + "_us"] for r in table["rows"]), table[side + "_us"],
              name)
    close(sum(r["difference_us"] for r in table["rows"]),
          table["b_us"] - table["a_us"], name)
    close(table["difference_us"], table["b_us"] - table["a_us"], name)
    if abs(table["difference_us"]) > 1e-3:
        close(sum(r["share"] for r in table["rows"]), 1, name + " share")
    if name != "breakdown_us":
        sizes = [abs(r["difference_us"]) for r in table["rows"]]
        assert sizes == sorted(sizes, reverse=True), name

# Operators and kinds of work sum to kernels and transfers, kernels and streams
# to the same thing beside copies.
wire = c["communication_us"]["transfer"]
for side in "ab":
    device = c["kernel_us"][side] + wire[side]
    close(c["ops"][side + "_us"], device, "ops")
    if not c["families"]["absent"]:
        close(c["families"][side + "_us"], device, "families")
    if not c["kernels"]["absent"]:
        of = {k: sum(r[side + "_us"] for r in c["kernels"]["rows"]
                     if r["kind"] == k)
              for k in ["kernel", "communication", "copy"]}
        close(of["kernel"], c["kernel_us"][side], "kernels")
        close(of["communication"], wire[side], "transfers")
        close(c["streams"][side + "_us"], sum(of.values()), "streams")
slowest = [r for r in c["ranks"] if r["rank"] == c["a"]["rank"]]
for r in slowest:
    close(c["breakdown_us"]["a_us"], r["iteration_us"]["a"], "breakdown")
PYTHON
}

# A trace with itself, under both kinds of costs.
run compare "$sample" "$sample"
want_rc 0
want_out " on both sides"
want_out "topmost operators: "
want_out ", all as they were"
want_out "kernels and copies: none, the trace has no GPU activities"
for platform in "" "--platform a100" "--platform a100,h100"; do
    # shellcheck disable=SC2086
    run compare --json $platform "$sample" "$sample"
    want_rc 0
    checked
done

# No line is wider than the page, whatever the names.
run compare --platform v100,h100 "$sample" "$sample"
want_rc 0
want_out "a period takes"
want_out "kinds of work, "
sed '/^warning: /d' "$folder/out" >"$folder/text"
! grep -nE '.{105}| $' "$folder/text" >&2 || complain "an untidy line"

# The same bytes again, whatever the number of threads.
run compare --json --threads 1 --platform a100,h100 "$sample" "$sample"
cp "$folder/out" "$folder/first"
run compare --json --threads 2 --platform a100,h100 "$sample" "$sample"
cmp -s "$folder/out" "$folder/first" || complain "the bytes differ"

# Predictions, and one against a trace.
"$sim" --json --platform a100 "$sample" >"$folder/a.json" 2>/dev/null
"$sim" --json --platform h100 "$sample" >"$folder/b.json" 2>/dev/null
run compare --json "$folder/a.json" "$folder/b.json"
want_rc 0
want_out "a prediction's file does not hold them"
checked
cp "$folder/out" "$folder/files"
run compare --json --platform a100,h100 "$sample" "$sample"
command -v python3 >/dev/null &&
    { python3 - "$folder/out" "$folder/files" <<'PYTHON' ||
import json, sys

a, b = (json.load(open(f)) for f in sys.argv[1:])
for key in ["iteration_us", "kernel_us", "communication_us", "breakdown_us",
            "iterations", "families", "ops", "ranks"]:
    assert a[key] == b[key], key
PYTHON
        complain "files and traces do not give the same comparison"; }
run compare --json "$folder/a.json" "$sample"
want_rc 0
want_err "A stands on model times and B on measured times"
checked

# The gate of a CI job goes by the period; both figures are said.
"$sim" --json --platform a100 "$samples/gpt2" >"$folder/fast.json" 2>/dev/null
"$sim" --json --platform t4 "$samples/gpt2" >"$folder/slow.json" 2>/dev/null
run compare --fail-above 5% "$folder/fast.json" "$folder/slow.json"
want_rc 1
want_err "check failed: period "
want_err ", allowed are +5.0 %"
run compare --fail-above 5 "$folder/slow.json" "$folder/fast.json"
want_rc 0
want_err "check passed: period "
run compare --fail-above 0 "$folder/a.json" "$folder/a.json"
want_rc 0
usage_error "option '--fail-above' is '-5%', want a percentage" \
    compare --fail-above -5% "$folder/a.json" "$folder/b.json"
usage_error "option '--fail-above' is 'few', want a percentage" \
    compare --fail-above few "$folder/a.json" "$folder/b.json"
sed '/"period_us"/d' "$folder/a.json" >"$folder/old.json"
run compare --fail-above 5% "$folder/old.json" "$folder/b.json"
want_rc 3
want_err "no period to compare"

# The host's side: what it does, and what of it is on the critical path.
run compare --platform a100,h100 "$sample" "$sample"
want_out "critical path, by owner, "
want_out "work of the host"

run compare --csv "$folder/a.json" "$folder/b.json"
want_rc 0
[ "$(head -1 "$folder/out")" = "table,name,kind,only,a_calls,b_calls,a_us,\
b_us,difference_us,ratio,share,beyond_intervals" ] || complain "another header"
want_out $'\nops,'
want_out $'\nranks,0,'

# What another stack brings.
run compare --platform h100@pytorch-2.5,h100@pytorch-2.9 "$samples/gpt2" \
    "$samples/gpt2"
want_rc 0
want_out " on h100@pytorch-2.5"$'\n'
want_out " on h100@pytorch-2.9"$'\n'
usage_error "stack 'pytorch-1' is not known, want one of pytorch-1.13" \
    compare --platform h100,h100@pytorch-1 "$sample" "$sample"

# Wrong command lines and inputs.
usage_error "'compare' wants A B, got nothing" compare
usage_error "'compare' wants A B, got too few" compare x.json
usage_error "unexpected argument 'z'" compare x y z
usage_error "got both --json and --csv" compare --json --csv x y
usage_error "both sides are '-'" compare - -
usage_error "option '--platform' is 'a100,', want" compare --platform a100, x y
usage_error "unknown platform 'nosuch'" compare --platform a100,nosuch \
    "$sample" "$sample"
usage_error "option '--iteration' is 'x', want" compare --iteration 1,x x y
usage_error "option '--iteration' is for traces, and both sides are" \
    compare --iteration 1 "$folder/a.json" "$folder/b.json"
usage_error "no iteration 99" compare --iteration 99 "$sample" "$sample"
run compare "$folder/absent" "$sample"
want_rc 3
want_err "$folder/absent: cannot open: No such file or directory"
echo '{"schema": "mystique-sim/info/1"}' >"$folder/info.json"
echo '{"schema": "mystique-sim/prediction/9"}' >"$folder/nine.json"
echo '{"a": 1}' >"$folder/other.json"
echo 'not json' >"$folder/text.json"
for bad in info nine; do
    run compare "$folder/a.json" "$folder/$bad.json"
    want_rc 3
    want_no_out
    want_err "want 'mystique-sim/prediction/1'"
done
for bad in other text; do
    run compare "$folder/$bad.json" "$folder/a.json"
    want_rc 3
    want_no_out
    want_err "neither a trace nor a prediction: "
done
head -c 300 "$folder/a.json" >"$folder/cut.json"
run compare "$folder/a.json" "$folder/cut.json"
want_rc 3
want_no_out

# Real jobs: quantised communication against plain, one GPU against another.
if [ -n "${MSIM_TRACES:-}" ]; then
    real=$MSIM_TRACES/traces
    run compare --json "$real/torchrec-4xv100" \
        "$real/torchrec-4xv100-quantised-comms"
    want_rc 0
    want_out '"rank": '
    checked
    model=$real/same-model-h100-mi300x/gaunernst_bert-small-uncased__1016001
    run compare --json "$model/h100.json.gz" "$model/mi300.json.gz"
    want_rc 0
    want_out '"name": "attention"'
    checked
    run compare --json --platform a100,h100 "$real/vgg13-h100" \
        "$real/vgg13-h100"
    want_rc 0
    want_out '"absent": "a model knows'
    checked
    run compare --json --iteration 6,9 "$real/resnet50-v100/kineto/"\
workers-{0,4}.json.gz
    want_rc 0
    want_out '"b_name": "ProfilerStep#9"'
    checked
fi

finish
