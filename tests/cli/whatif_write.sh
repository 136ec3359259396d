#!/usr/bin/env bash
# whatif --write: what scenarios predict, as execution traces that predict the same.
. "$(dirname "$0")/lib.bash"

figures() { # NAME FILE: period, kernels and peak of that line
    awk -F, -v name="$1" '$1 == name { print $2, $8, $16 }' "$2"
}

cat >"$folder/none.json" <<'JSON'
{"scenarios": [{"name": "none", "changes": [{"accumulate": 1}]}]}
JSON
cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "batch of 16", "changes": [{"batch": 16}]},
  {"name": "type", "changes": [{"dtype": "fp16"}]},
  {"name": "tf32", "changes": [{"dtype": "tf32"}]},
  {"name": "amp", "changes": [{"dtype": "amp_bf16"}]},
  {"name": "micro", "changes": [{"accumulate": 2}, {"batch": 4}]},
  {"name": "ddp", "changes": [{"world": 4}]},
  {"name": "../fsdp", "changes": [{"world": 4}, {"shard": "fsdp"}]},
  {"name": "faster", "changes": [{"batch": 16}, {"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "scaled", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "host", "changes": [{"offload": "optimizer"}]},
  {"name": "no such", "changes": [{"recompute": "aten::no_such*"}]}]}
JSON

same_again() { # TRACE: what is written of it predicts what the scenario does
    local name made
    run whatif --platform a100 "$folder/changes.json" "$1" --csv
    want_rc 0
    cp "$folder/out" "$folder/without"
    run whatif --platform a100 "$folder/changes.json" "$1" --csv --write "$folder/made"
    want_rc 0
    cmp -s "$folder/out" "$folder/without" || complain "--write changes figures"
    cp "$folder/out" "$folder/said"
    cp "$folder/err" "$folder/notes"
    while IFS=: read -r name made; do
        run whatif --platform a100 "$folder/none.json" "$folder/made/$made" --csv
        want_rc 0
        [ -n "$(figures base "$folder/out")" ] || complain "nothing is predicted of '$made'"
        [ "$(figures base "$folder/out")" = "$(figures "$name" "$folder/said")" ] ||
            complain "'$made' is $(figures base "$folder/out"), want $(figures "$name" "$folder/said")"
    done <<'NAMES'
batch of 16:batch-of-16
type:type
tf32:tf32
amp:amp
micro:micro
ddp:ddp
../fsdp:-.-fsdp
NAMES
}
# A convolutional step with an optimizer that a GPU runs by lists; one whose attention
# and dropout a GPU runs as other operators.
same_again "$MSIM_DATA/traces/resnet/et"
err=$(cat "$folder/notes")
want_err "written: 1 execution trace"
want_err "'scaled' is not written: it changes durations"
want_err "of 'faster' all is written but one thing"
want_err "'host' is not written: cannot be written as an execution trace: it puts work off"
want_err "'no such' is not written: it has no answer"
[ ! -e "$folder/made/scaled" ] || complain "a folder of what is not written"
[ ! -e "$folder/made/host" ] || complain "a folder of what cannot be written"
[ ! -e "$folder/fsdp" ] || complain "a name leads out of the folder"

# A benchmark of what is written has the operators that the trace's has.
calls() { sed -E 's/.*: ([0-9]+) calls.*/\1/' <<<"$err"; }
run generate "$MSIM_DATA/traces/resnet/et" -o "$folder/of-trace"
want_rc 0
traced=$(calls)
run generate "$folder/made/batch-of-16" -o "$folder/of-made"
want_rc 0
[ "$(calls)" = "$traced" ] || complain "a benchmark of $(calls) calls, want $traced"

# The messages that a change made are messages of other programs, too.
run convert "$folder/made/ddp" -o "$folder/ddp.et"
want_rc 0
python3 - "$folder/made/ddp/rank-0.et.json" <<'PYTHON' || complain "messages without a number of their own"
import json
import sys
nodes = [n for n in json.load(open(sys.argv[1]))["nodes"] if n["name"].startswith("c10d::")]
numbers = [v for n in nodes for v, t in zip(n["inputs"]["values"], n["inputs"]["types"])
           if t == "Int"][::5]
sys.exit(not nodes or len(set(numbers)) != len(nodes))
PYTHON
run info "$folder/made/ddp"
want_out "4 ranks"

# What was there and is not ours stays; an input is no output.
mkdir -p "$folder/taken/ddp"
echo mine >"$folder/taken/ddp/rank-0.et.json"
run whatif --platform a100 "$folder/changes.json" "$folder/made/tf32" --write "$folder/taken"
want_rc 2
want_no_out
[ "$(cat "$folder/taken/ddp/rank-0.et.json")" = mine ] || complain "another's file is replaced"
cat >"$folder/one.json" <<'JSON'
{"scenarios": [{"name": "tf32", "changes": [{"batch": 4}]}]}
JSON
before=$(cksum <"$folder/made/tf32/rank-0.et.json")
run whatif --platform a100 "$folder/one.json" "$folder/made/tf32" --write "$folder/made"
want_rc 2
[ "$(cksum <"$folder/made/tf32/rank-0.et.json")" = "$before" ] || complain "an input is replaced"

# Names that come to one folder.
cat >"$folder/twice.json" <<'JSON'
{"scenarios": [{"name": "a b", "changes": [{"batch": 4}]},
               {"name": "a/b", "changes": [{"batch": 2}]}]}
JSON
usage_error "would be the folder of scenario 'a b' and of 'a/b'" \
    whatif --platform a100 "$folder/twice.json" "$folder/made/tf32" --write "$folder/twice"
usage_error "--sensitivity changes durations alone" \
    whatif --sensitivity "$folder/made/tf32" --platform a100 --write "$folder/twice"

# A trace without ids of tensors has no execution trace.
python3 - "$folder/kineto.json" <<'PYTHON'
import json
import sys
event = {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1,
         "dur": 2, "args": {"Input Dims": [[8, 4]], "Input type": ["float"]}}
kernel = {"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 2, "dur": 2,
          "args": {"device": 0, "stream": 7, "correlation": 1, "External id": 1}}
launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
          "ts": 1.5, "dur": 1, "args": {"correlation": 1}}
json.dump({"schemaVersion": 1, "traceEvents": [event, launch, kernel]},
          open(sys.argv[1], "w"))
PYTHON
cat >"$folder/eight.json" <<'JSON'
{"scenarios": [{"name": "x", "changes": [{"reshape": {"from": 8, "to": 16}}]}]}
JSON
run whatif --platform a100 "$folder/eight.json" "$folder/kineto.json" --write "$folder/no"
want_rc 0
want_err "'x' is not written: cannot be written as an execution trace: it has no execution trace"

# A folder that is read is no place for what is written: it would be read, too.
mkdir -p "$folder/own" "$folder/owned"
cp "$folder/kineto.json" "$folder/own/"
for at in own own/new/deep ./own/../own/ own/../own/x; do
    run whatif --platform a100 "$folder/eight.json" "$folder/own" --write "$folder/$at"
    want_rc 2
    want_err "is in '$folder/own', which is read with all that is in it"
done
run whatif --platform a100 "$folder/eight.json" "$folder/own" --write "$folder/owned/x"
want_rc 0

# A described job: what synth writes of each scenario.
echo '{"gpus": 4, "micro_batch": 1, "global_batch": 4, "sequence": 256}' >"$folder/s.json"
echo '{"gpus": 4, "tp": 2, "micro_batch": 1, "global_batch": 4, "sequence": 256}' >"$folder/tp.json"
cat >"$folder/jobs.json" <<'JSON'
{"scenarios": [{"name": "tp 2", "changes": [{"parallel": {"tp": 2}}]},
               {"name": "lora", "changes": [{"lora": 8}]}]}
JSON
run whatif --platform a100 --strategy "$folder/s.json" "$folder/jobs.json" mpt-125m \
    --write "$folder/jobs"
want_rc 0
want_err "'lora' is not written: lora_rank cannot be written"
run synth mpt-125m --strategy "$folder/tp.json" -o "$folder/synth"
cmp "$folder/synth/rank-0.et.json" "$folder/jobs/tp-2/rank-0.et.json" ||
    complain "another job than synth writes"
[ -e "$folder/jobs/tp-2/synth.json" ] || complain "no synth.json"
finish
