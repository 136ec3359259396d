#!/usr/bin/env bash
# whatif: scenarios of one traced job, side by side.
. "$(dirname "$0")/lib.bash"

trace=$MSIM_DATA/traces/gpt2
cat >"$folder/some.json" <<'JSON'
{"scenarios": [
  {"name": "nothing", "changes": []},
  {"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "twice as fast", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "a, b", "changes": [{"scale": {"select": "kernels", "factor": 0.77}},
                               {"scale": {"select": "op:*mm*", "factor": 0.61}}]},
  {"name": "b, a", "changes": [{"scale": {"select": "op:*mm*", "factor": 0.61}},
                               {"scale": {"select": "kernels", "factor": 0.77}}]},
  {"name": "none left", "changes": [{"remove": {"select": "kernels"}}]},
  {"name": "h100", "changes": [{"gpu": "h100"}]},
  {"name": "absent", "changes": [{"remove": {"select": "op:nosuch"}}]},
  {"name": "typo", "changes": [{"gpu": "h1000"}]}]}
JSON

run whatif --platform a100 "$folder/some.json" "$trace" --csv
want_rc 0
want_no_err
[ "$(wc -l <"$folder/out")" -eq 11 ] || complain "not one line a scenario: $out"
figures() { # NAME: all figures of that scenario
    grep -E "^\"?$1\"?," "$folder/out" | sed -E 's/^("[^"]*"|[^,]*),//'
}
[ "$(figures nothing)" = "$(figures base)" ] || complain "no change changes something"
[ "$(figures half)" = "$(figures 'twice as fast')" ] || complain "half is not twice as fast"
[ "$(figures 'a, b')" = "$(figures 'b, a')" ] || complain "the order of changes counts"
[[ $(figures 'none left') =~ ^[0-9.]+,[0-9.]+,[0-9.]+,0\.[0-9]+,.*,0,0,0,0, ]] ||
    complain "kernels are left: $(figures 'none left')"
[[ $(figures absent) == ,,,*"selects nothing"* ]] || complain "no reason: $(figures absent)"
[[ $(figures typo) == ,,,*"h1000"* ]] || complain "no reason: $(figures typo)"

# The same as predict says, one by one.
same() { # NAME COLUMN OPTION...: the period that predict --csv prints
    local name=$1
    local want
    want=$(figures "$name" | cut -d, -f1)
    shift
    cp "$folder/out" "$folder/all.csv"
    run "$@" --json "$trace"
    [[ $out == *"\"period_us\": {\"predicted\": $want,"* ]] ||
        complain "predict does not say $want for '$name'"
    cp "$folder/all.csv" "$folder/out"
}
same half --platform a100 --scale kernels=0.5
same h100 --platform a100,h100 # beside the host of the first

run whatif --platform a100 "$folder/some.json" "$trace" --json
want_out '"schema": "mystique-sim/whatif/1"'
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; rows = json.load(sys.stdin)["scenarios"]
assert rows[1]["ratio"]["low"] <= rows[1]["ratio"]["predicted"] <= rows[1]["ratio"]["high"]
assert rows[7]["reason"] and "period_us" not in rows[7]' <"$folder/out" ||
        complain "not the JSON that was wanted"
fi
run whatif --platform a100 "$folder/some.json" "$trace"
want_out "no prediction: 'op:nosuch=0' selects nothing"
[[ $out =~ base\ +[0-9.]+\ ms\ +x\ 1\.000 ]] || complain "no base: $out"

# A reason that is about a file names it, of traced and of described jobs.
echo '{"scenarios": [{"name": "file", "changes": [{"gpu": "/nosuch/gpu.json"}]}]}' >"$folder/file.json"
for job in "$trace" llama3-8b; do
    run whatif --platform a100 "$folder/file.json" "$job"
    want_out "no prediction: /nosuch/gpu.json: cannot be opened"
done
usage_error "argument 2 of 'whatif' is empty, want" whatif --platform a100 "$folder/file.json" ""
usage_error "argument 1 of 'predict' is empty, want" --platform a100 ""

# A hyphen in the name of a change is an underscore.
cat >"$folder/names.json" <<'JSON'
{"scenarios": [
  {"name": "with", "changes": [{"cuda-graph": true}]},
  {"name": "without", "changes": [{"cuda_graph": true}]}]}
JSON
run whatif --platform a100 "$folder/names.json" "$trace" --csv
want_rc 0
[ -n "$(figures with | cut -d, -f1)" ] && [ "$(figures with)" = "$(figures without)" ] ||
    complain "cuda-graph is not cuda_graph: $out"

# What is of described models alone stays in the table, with that reason.
cat >"$folder/described.json" <<'JSON'
{"scenarios": [
  {"name": "narrow", "changes": [{"qlora": {"rank": 8}}]},
  {"name": "adapters", "changes": [{"gpu": "h100"}, {"lora": {"rank": 8}}]}]}
JSON
run whatif --platform a100 "$folder/described.json" "$trace" --csv
want_rc 1 # there is no other scenario
[[ $(figures narrow) == ,,,*"'qlora' is a change of a described model"* ]] || complain "no reason: $out"
[[ $(figures adapters) == ,,,*"'lora' is a change of a described model"* ]] || complain "no reason: $out"

# What users mistype is refused by its path, before the trace is read.
refuse() { # TEXT SCENARIOS
    printf '%s' "$2" >"$folder/bad.json"
    run whatif "$folder/bad.json" "$folder/no-such-trace"
    want_rc 3
    want_err "$1"
}
refuse "scenarios is missing, want an array" '{}'
refuse "scenarios[0].name is missing" '{"scenarios": [{"changes": []}]}'
refuse "scenarios[0].changes is missing" '{"scenarios": [{"name": "x"}]}'
refuse "scenarios[0].changes[0].scal is not known, did you mean scale?" \
    '{"scenarios": [{"name": "x", "changes": [{"scal": 1}]}]}'
refuse "scenarios[0].changes[1].scale.factor is -1, want a number above 0" \
    '{"scenarios": [{"name": "x", "changes": [{"gpu": "h100"}, {"scale": {"select": "host", "factor": -1}}]}]}'
refuse 'scenarios[0].changes[0].remove.select is "kernel", want kernels' \
    '{"scenarios": [{"name": "x", "changes": [{"remove": {"select": "kernel"}}]}]}'
refuse "has 2 members, want one change" \
    '{"scenarios": [{"name": "x", "changes": [{"gpu": "h100", "nodes": 2}]}]}'
usage_error "" whatif "$folder/some.json"

# A weight is no data of the same shape: 2 samples of 384 tokens and channels of
# 768 become what synth writes of 4 samples.
for n in 2 4; do
    echo "{\"micro_batch\": $n, \"sequence\": 384, \"gpus\": 1, \"global_batch\": $n}" >"$folder/s.json"
    run synth bert-base --strategy "$folder/s.json" -o "$folder/synth-$n"
    rm "$folder/synth-$n/synth.json" # what the graph takes by itself
    want_rc 0
done
echo '{"scenarios": [{"name": "four", "changes": [{"batch": {"from": 2, "to": 4}}]}]}' >"$folder/two.json"
run whatif --platform a100 "$folder/two.json" "$folder/synth-2" --csv
want_rc 0
grep '^four,' "$folder/out" | cut -d, -f9,17 | tr , '\n' >"$folder/changed"
echo '{"scenarios": [{"name": "same", "changes": [{"speedup": {"select": "host", "factor": 1}}]}]}' >"$folder/same.json"
run whatif --platform a100 "$folder/same.json" "$folder/synth-4" --csv
want_rc 0
grep '^base,' "$folder/out" | cut -d, -f9,17 | tr , '\n' >"$folder/written"
paste "$folder/changed" "$folder/written" |
    awk '{ if ($1 < 0.99 * $2 || $1 > 1.01 * $2) bad = 1 } END { exit bad || NR != 2 }' ||
    complain "batch 4 from 2: $(paste "$folder/changed" "$folder/written")"

# Other sizes: memory and kernels go with the batch, a batch of as many is none.
cat >"$folder/sizes.json" <<'JSON'
{"scenarios": [
  {"name": "same", "changes": [{"batch": {"from": 2, "to": 2}}]},
  {"name": "twice", "changes": [{"batch": {"from": 2, "to": 4}}]},
  {"name": "found", "changes": [{"batch": 4}]},
  {"name": "b, s", "changes": [{"batch": 4}, {"reshape": {"from": 512, "to": 1024}}]},
  {"name": "s, b", "changes": [{"reshape": {"from": 512, "to": 1024}}, {"batch": 4}]},
  {"name": "half precision", "changes": [{"dtype": "bf16"}]},
  {"name": "no such size", "changes": [{"batch": {"from": 12345, "to": 8}}]}]}
JSON
run whatif --platform a100 "$folder/sizes.json" "$trace" --csv
want_rc 0
[ "$(figures same)" = "$(figures base)" ] || complain "the same batch changes something"
[ "$(figures twice)" = "$(figures found)" ] || complain "the batch was not found"
[ "$(figures 'b, s')" = "$(figures 's, b')" ] || complain "the order of sizes counts"
kernels() { figures "$1" | cut -d, -f8; }
peak() { figures "$1" | cut -d, -f16; }
more() { # A B: is A above 1.2 times B, and below 8 times?
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 1.2 * b && a < 8 * b) }'
}
for of in kernels peak; do
    more "$($of twice)" "$($of base)" || complain "$of of twice the batch: $($of twice)"
    more "$($of 'b, s')" "$($of twice)" || complain "$of of twice the sequence"
done
more "$(kernels base)" "$(kernels 'half precision')" || complain "kernels of half precision"
# The optimizer's step, in fp32 both times, has the peak of half precision.
awk -v a="$(peak base)" -v b="$(peak 'half precision')" 'BEGIN { exit !(a > 1.1 * b) }' ||
    complain "peak of half precision"
[[ $(figures 'no such size') == ,,,*"no tensor of the trace has a size of 12345"* ]] ||
    complain "no reason: $(figures 'no such size')"

refused() { # CHANGE WANT: it is refused with its path
    refuse "scenarios[0].changes[0].$2" \
        "{\"scenarios\": [{\"name\": \"x\", \"changes\": [$1]}]}"
}
refused '{"batch": 0}' "batch is 0"
refused '{"batch": 1000000001}' "batch is 1000000001, want sizes of at most 1,000,000,000"
refused '{"sequence": {"from": 1000000001, "to": 2}}' 'sequence is {"from":1000000001,"to":2}, want sizes of at most 1,000,000,000'
refused '{"batch": "8"}' 'batch is "8", want a number, or {"from": 8, "to": 64}'
refused '{"reshape": 8}' 'reshape is 8, want {"from": 512, "to": 1024}'
refused '{"reshape": {"to": 8}}' 'reshape.from is missing'
refused '{"dtype": "fp4"}' 'dtype is "fp4", want'

# Parts of a job that take a tenth less, most gained first, none without effect.
run whatif --sensitivity --platform a100 "$trace" --csv
want_rc 0
[ "$(sed -n 3p "$folder/out" | cut -d, -f1)" = stream:compute ] || complain "all GPU work does not come first: $out"
[ "$(sed -n 4p "$folder/out" | cut -d, -f1)" = kernels ] || complain "kernels do not come next: $out"
awk -F, 'NR == 2 { base = $2; last = 0 } NR > 2 && ($2 >= base || $2 < last) { bad = 1 }
         NR > 2 { last = $2 } END { exit bad || NR < 6 }' "$folder/out" ||
    complain "not in order: $out"
run whatif --sensitivity --platform a100 --host generic "$trace"
want_rc 0

# Words of groups are words of scenarios, too, and mistyped ones are refused.
refuse 'remove.select is "family:gem", want family:gemm, which is near' \
    '{"scenarios": [{"name": "x", "changes": [{"remove": {"select": "family:gem"}}]}]}'
refuse 'scale.select is "link:wire", want '"'link:'"' and one of node, network' \
    '{"scenarios": [{"name": "x", "changes": [{"scale": {"select": "link:wire", "factor": 2}}]}]}'
cat >"$folder/groups.json" <<'JSON'
{"scenarios": [
  {"name": "f", "changes": [{"speedup": {"select": "family:gemm", "factor": 2}}]},
  {"name": "s", "changes": [{"remove": {"select": "stream:compute"}}]},
  {"name": "n", "changes": [{"scale": {"select": "stream:99", "factor": 2}}]}]}
JSON
run whatif --platform a100 "$folder/groups.json" "$trace" --csv
want_rc 0
same f --platform a100 --scale family:gemm=0.5
same s --platform a100 --scale stream:compute=0
[[ $(figures n) == *"no stream '99' has GPU work; there are"* ]] || complain "no reason: $(figures n)"
usage_error "want SCENARIOS.json and a trace" whatif "$trace"

# One rank, and the host alone.
cat >"$folder/parts.json" <<'JSON'
{"scenarios": [
  {"name": "slow rank 0", "changes": [{"straggler": {"rank": 0, "factor": 2}}]},
  {"name": "no such rank", "changes": [{"straggler": {"rank": 77, "factor": 2}}]},
  {"name": "graphs", "changes": [{"cuda_graph": true}]},
  {"name": "host of linear", "changes": [{"cuda_graph": "aten::linear*"}]},
  {"name": "no loader", "changes": [{"loader": {"milliseconds": 2}}]}]}
JSON
ranks=$MSIM_DATA/traces/dlrm-ddp-2ranks
run whatif --platform a100 "$folder/parts.json" "$ranks" --csv
want_rc 0
ratio() { figures "$1" | cut -d, -f4; }
awk -v a="$(ratio 'slow rank 0')" 'BEGIN { exit !(a > 1.3 && a <= 2) }' ||
    complain "a slow rank: $(ratio 'slow rank 0')"
awk -v a="$(ratio graphs)" -v b="$(ratio 'host of linear')" 'BEGIN { exit !(a < b && b < 1) }' ||
    complain "without the host: $(ratio graphs), of linear layers $(ratio 'host of linear')"
[[ $(figures 'no such rank') == ,,,*"no trace is of rank 77"* ]] || complain "no reason for rank 77"
[[ $(figures 'no loader') == ,,,*"selects nothing"* ]] || complain "no reason for the loader"

# 0.2 ms of loading in a step of 1 ms become 0.5 and 5; all else stays.
python3 "$(dirname "$0")/small_step.py" "$folder/step.json"
python3 - "$folder/step.json" <<'PYTHON'
import json, sys

with open(sys.argv[1]) as f:
    step = json.load(f)
step["traceEvents"] += [{"ph": "X", "cat": "cpu_op", "name": "enumerate(DataLoader)#__next__", "pid": 1,
                         "tid": 1, "ts": begin + 700, "dur": 200} for begin in (0, 1000)]
with open(sys.argv[1], "w") as f:
    json.dump(step, f)
PYTHON
cat >"$folder/loader.json" <<'JSON'
{"scenarios": [{"name": "quick", "changes": [{"loader": {"milliseconds": 0.5}}]},
               {"name": "slow", "changes": [{"loader": {"milliseconds": 5}}]}]}
JSON
run whatif --platform a100 "$folder/loader.json" "$folder/step.json" --csv
want_rc 0
[[ $(figures quick) == 1300,* ]] || complain "a loader of 0.5 ms: $(figures quick)"
[[ $(figures slow) == 5800,* ]] || complain "a loader of 5 ms: $(figures slow)"
refused '{"straggler": {"rank": 1}}' "straggler.factor is missing"
refused '{"loader": 2}' 'loader is 2, want {"milliseconds": 2}'
refused '{"cuda_graph": 3}' "cuda_graph is 3, want true"

# Both sides of a ratio are wrong alike where laws are the same: another clock,
# host, batch. Another GPU has laws of its own, and hosts of other years are two.
python3 - "$sim" "$trace" "$folder" <<'PYTHON' || complain "intervals of ratios"
import json, math, subprocess, sys

sim, trace, folder = sys.argv[1:]
scenarios = {"clock": {"clock": "0.8"}, "same": {"gpu": "a100"}, "batch": {"batch": 4},
             "gpu": {"gpu": "h100"}, "kernels": {"scale": {"select": "kernels", "factor": 1}}}
with open(f"{folder}/ratios.json", "w") as f:
    json.dump({"scenarios": [{"name": n, "changes": [c]} for n, c in scenarios.items()]}, f)

def run(*arguments):
    return json.loads(subprocess.run([sim, *arguments, "--json", "--platform", "a100"],
                                     check=True, capture_output=True).stdout)

rows = {r["name"]: r["ratio"] for r in
        run("whatif", f"{folder}/ratios.json", trace)["scenarios"]}
width = {n: math.log(r["high"] / r["low"]) for n, r in rows.items()}
alone = run("predict", "--clock", "0.8", trace)["scenario"]
assert abs(width["clock"] - math.log(alone["ratio_high"] / alone["ratio_low"])) < 1e-6, width
assert width["same"] < 1e-9 and rows["same"]["predicted"] == 1, rows
assert width["batch"] < 0.1 < 0.3 < width["gpu"], width
PYTHON
# Bytes do not depend on who answers: more threads than scenarios, too, and
# scenarios that need a graph of their own between them.
cat >"$folder/threads.json" <<'JSON'
{"scenarios": [
  {"name": "a", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "b", "changes": [{"clock": "0.8"}]},
  {"name": "c", "changes": [{"scale": {"select": "host", "factor": 0.5}}]},
  {"name": "d", "changes": [{"scale": {"select": "op:none*", "factor": 2}}]},
  {"name": "e", "changes": [{"fuse": "pointwise"}]},
  {"name": "f", "changes": [{"remove": {"select": "family:gemm"}}]}]}
JSON
for threads in 1 2 7; do
    run whatif "$folder/threads.json" --platform h100 --kernels --json \
        --threads "$threads" "$MSIM_DATA/traces/gpt2"
    want_rc 0
    cp "$folder/out" "$folder/of-$threads"
done
cmp -s "$folder/of-1" "$folder/of-2" || complain "two threads, other bytes"
cmp -s "$folder/of-1" "$folder/of-7" || complain "seven threads, other bytes"

finish
