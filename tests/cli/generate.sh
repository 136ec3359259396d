#!/usr/bin/env bash
# generate: benchmarks from execution traces. With PyTorch each is run and has to
# be what its trace recorded, operator by operator; without it, files and
# messages alone are looked at.
. "$(dirname "$0")/lib.bash"

python=${PYTHON:-python3}
traces=$SOURCE_DIR/data/traces
torch=false
# Python's own memory is not what the sanitizers are to look at.
if [ "${MSIM_SANITIZE:-0}" != 1 ] &&
    "$python" -c 'import torch' 2>/dev/null; then
    torch=true
fi
# Without AVX-512 PyTorch's CPU takes other operators for bf16, which vit's trace
# does not have, and minutes for a step.
bf16=$torch
if $torch && ! "$python" -c 'import sys, torch
sys.exit(not torch.ops.mkldnn._is_mkldnn_bf16_supported())'; then
    bf16=false
    echo "no bf16 in oneDNN on this CPU: vit is generated and not run"
fi

# With AMX it takes others again, for convolutions; this says to do without.
export ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16

# certified NAME ET: the benchmark in $folder/NAME records what ET recorded.
certified() {
    local said
    $torch || return 0
    said=$("$python" "$folder/$1/bench.py" --iters 1 --warmup 0 --certify "$2" \
        2>"$folder/err") || complain "$1 is not what $2 records: $said $(cat "$folder/err")"
    [[ $said == *certified* ]] || complain "no certificate of $1: $said"
}

# What the trace has is what runs: fp32 and bf16 autocast, both forms.
for name in dlrm vit; do
    et=$traces/$name/et/rank-0.json.gz
    run generate "$et" -o "$folder/$name"
    want_rc 0
    want_err "backward by autograd"
    if [ "$name" != vit ] || $bf16; then
        certified "$name" "$et"
    fi
done
run generate --direct "$traces/dlrm/et/rank-0.json.gz" -o "$folder/direct"
want_rc 0
want_err "all operators called directly"
certified direct "$traces/dlrm/et/rank-0.json.gz"
run generate --no-loops "$traces/gpt2/et/rank-0.json.gz" -o "$folder/long"
want_rc 0
want_err " 0 loops"

# Another model's trace is told apart, with the first operator that differs.
if $torch; then
    said=$("$python" "$folder/dlrm/bench.py" --iters 1 --warmup 0 --certify \
        "$traces/gpt2/et/rank-0.json.gz" 2>"$folder/err")
    [ $? -eq 1 ] || complain "another model's trace certified: $said"
    [[ $said == *"leaf operator "*"the benchmark ran"* ]] ||
        complain "no first difference: $said"
    "$python" "$folder/dlrm/bench.py" --iters 2 --warmup 0 --json \
        >"$folder/json" 2>"$folder/err" || complain "--json: $(cat "$folder/err")"
    "$python" - "$folder/json" <<'PYTHON' || complain "wrong JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["ms"] > 0 and d["finite"] and d["coverage"] == 1, d
assert d["leaf_operators"] > 100 and d["peak_bytes"] > 1e6, d
assert d["certified"] is None, d
PYTHON
fi

# Another batch: as many operators, on more samples.
run generate --batch 4 "$traces/vit/et/rank-0.json.gz" -o "$folder/batch"
want_rc 0
grep -q '^BATCH = 4 # samples; the trace had 8$' "$folder/batch/bench.py" ||
    complain "no BATCH of 4: $(grep BATCH "$folder/batch/bench.py")"
if $bf16; then
    "$python" "$folder/batch/bench.py" --iters 1 --warmup 0 --json \
        >"$folder/json" 2>"$folder/err" || complain "--batch: $(cat "$folder/err")"
fi
grep -q '^LAYERS = ' "$folder/dlrm/bench.py" &&
    complain "a model without layers has a constant for them"

# The same input, the same bytes.
run generate "$traces/dlrm/et/rank-0.json.gz" -o "$folder/again"
for file in bench.py data.json README.md meter.py; do
    cmp -s "$folder/dlrm/$file" "$folder/again/$file" ||
        complain "$file differs from run to run"
done

cmp -s "$folder/again/meter.py" "$SOURCE_DIR/scripts/capture/meter.py" ||
    complain "meter.py is not the one that is embedded"

# Layers are loops: 12 equal ones would be 12 times as long.
grep -q 'for i in range(' "$folder/again/bench.py" ||
    complain "no loop in a benchmark of repeated layers"

# The program as JSON: every input is made before it is read, loops lie in it.
run generate --json "$traces/gpt2/et/rank-0.json.gz"
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain "wrong program"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "mystique-sim/program/1" and d["form"] == "autograd", d
made, gradients = set(), False
for s in d["statements"]:
    for kind, i in s["inputs"]:
        assert kind != "value" or i in made, s
        assert kind != "outside" or i < len(d["outside"]), s
        assert kind != "gradient" or gradients and i < d["gradients"], s
    gradients |= s["operator"] == "backward"
    made |= set(s["outputs"])
roles = [o["role"] for o in d["outside"]]
assert roles.count("parameter") == d["gradients"] > 10, roles
for l in d["loops"]:
    assert l["first"] + l["statements"] * l["runs"] <= len(d["statements"]), l
assert not d["left_out"]
PYTHON

# A part of a step.
run generate --subtree 'aten::cross_entropy_loss' \
    "$traces/gpt2/et/rank-0.json.gz" -o "$folder/part"
want_rc 0
certified part "$traces/gpt2/et/rank-0.json.gz"
run generate --subtree nothing "$traces/gpt2/et/rank-0.json.gz" -o "$folder/none"
want_rc 3
want_err "none that was chosen"
run generate --range 9..3 "$traces/gpt2/et/rank-0.json.gz" -o "$folder/none"
want_rc 2
want_err "the smaller one first"
run generate --iteration 7 "$traces/gpt2/et/rank-0.json.gz" -o "$folder/none"
want_rc 2
want_err "one of the trace's 1 steps"

# A tensor that an operator wants and nobody made.
zcat "$traces/gpt2/et/rank-0.json.gz" >"$folder/whole.json"
"$python" - "$folder" <<'PYTHON' || complain "cannot break the trace"
import json, sys
d = json.load(open(sys.argv[1] + "/whole.json"))
n = next(n for n in d["nodes"] if n["name"] == "aten::linear")["inputs"]
n["values"][0], n["shapes"][0], n["types"][0] = None, [], "None"
json.dump(d, open(sys.argv[1] + "/broken.json", "w"))
PYTHON
run generate "$folder/broken.json" -o "$folder/none"
want_rc 3
want_err "'aten::linear': its tensor 'input' was never made"

# A profile alone does not say which tensor is which.
run generate "$traces/gpt2/kineto/rank-0.json.gz" -o "$folder/none"
want_rc 3
want_err "found no execution trace (ET)"
run generate "$traces/gpt2/et/rank-0.json.gz"
want_rc 2
want_err "'generate' wants -o DIR"
run generate "$traces/gpt2/et/rank-0.json.gz" -o "$folder/no/such/place"
want_rc 3
[ ! -e "$folder/none" ] || complain "a failed run left files"
finish
