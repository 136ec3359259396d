#!/usr/bin/env bash
# A described job has one answer: by a table of jobs, a plan, a what-if of the
# model, and a prediction of the traces that synth writes of it.
. "$(dirname "$0")/lib.bash"
in_turn plan

python3 "$(dirname "$0")/one_answer.py" "$sim" "$folder" 8 || complain "verbs disagree"

# A changed job keeps what its description is known by; a GPU has its own.
echo '{"gpus": 8, "tp": 2, "micro_batch": 1, "global_batch": 32, "sequence": 4096}' >"$folder/s.json"
run synth llama3-8b --strategy "$folder/s.json" -o "$folder/t"
want_rc 0
echo '{"scenarios": [{"name": "less", "changes": [{"recompute": {"every": 2}}]}]}' >"$folder/less.json"
"$sim" whatif --json --platform h100 "$folder/less.json" "$folder/t" >"$folder/less" 2>"$folder/err"
echo '{"scenarios": [
  {"name": "clock", "changes": [{"clock": "0.5"}]},
  {"name": "less", "changes": [{"recompute": {"every": 2}}]},
  {"name": "gpu", "changes": [{"gpu": "a100"}]},
  {"name": "more", "changes": [{"insert": {"operator": "aten::mm", "dtype": "bf16",
     "sizes": [[8192, 8192], [8192, 8192]], "before": "op:aten::_fused_adamw_"}}]}]}' >"$folder/w.json"
ask_whatif() {
    "$sim" whatif --json --platform h100 "$folder/w.json" "$folder/t" >"$folder/$1" 2>"$folder/err" ||
        complain "$(cat "$folder/err")"
}
ask_whatif whatif
for gpu in h100 a100; do
    "$sim" --json --platform $gpu "$folder/t" >"$folder/$gpu" 2>"$folder/err"
done
rm "$folder/t/synth.json" # what its graph takes by itself
"$sim" --json --platform h100 "$folder/t" >"$folder/alone" 2>"$folder/err"
ask_whatif whatif_alone
python3 - "$folder" <<'PY' || complain "changes of a described job"
import json, sys
folder = sys.argv[1]
read = lambda name: json.load(open(f"{folder}/{name}", encoding="utf-8"))
whatif, h100, a100, alone, by_itself = map(read, ("whatif", "h100", "a100", "alone", "whatif_alone"))
base = h100["iteration_us"]["predicted"]
rows, rows_alone = ({r["name"]: r for r in w["scenarios"]} for w in (whatif, by_itself))
near = lambda a, b: abs(a / b - 1) < 1e-3
assert near(whatif["base"]["period_us"]["predicted"], h100["period_us"]["predicted"])
assert near(rows["gpu"]["period_us"]["predicted"], a100["period_us"]["predicted"])
assert base < rows["less"]["period_us"]["predicted"] < 4 / 3 * base, rows["less"]
# What stands before a scenario does not move it.
assert rows["less"]["period_us"] == read("less")["scenarios"][0]["period_us"]
note = h100["measured_jobs"]
assert "measured_jobs" not in alone
assert near(alone["iteration_us"]["predicted"], note["graph_us"])
assert near(base, note["factor"] * note["graph_us"])
# Inserted work takes its share, too.
more, more_alone = (r["more"]["period_us"]["predicted"] for r in (rows, rows_alone))
assert near(more, note["factor"] * more_alone), (more, note["factor"] * more_alone)
assert more > 1.001 * base
memory = h100["memory_bytes"]
assert max(p["reserved"] for p in memory["timeline"]) <= memory["reserved"]
assert near(h100["memory_bytes"]["peak"], note["memory_factor"] * alone["memory_bytes"]["peak"])
PY

# Another host, and other numbers of ranks and nodes, keep the factor.
# A group of all ranks grows, from one node to eight.
mkdir "$folder/dp" && echo '{"gpus": 8, "micro_batch": 1, "global_batch": 8, "sequence": 1024}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" -o "$folder/dp"
want_rc 0
times() { # FOLDER OPTION...: of the iteration, of one with options, us
    local at=$1
    shift
    for option in "" "$*"; do
        # shellcheck disable=SC2086
        "$sim" --json --platform h100 $option "$at" 2>/dev/null |
            grep -oE '"iteration_us": \{"predicted": [0-9.e+]+' | head -1 | grep -oE '[0-9.e+]+$'
    done | tr '\n' ' '
}
keeps() { # FOLDER OPTION...: its graph changes as it does without a description
    local described alone
    cp -r "$1" "$folder/graph" && rm "$folder/graph/synth.json"
    described=$(times "$@")
    alone=$(times "$folder/graph" "${@:2}")
    rm -r "$folder/graph"
    awk -v d="$described" -v a="$alone" 'BEGIN { split(d, x); split(a, y); r = x[2] / x[1] / (y[2] / y[1])
        exit !(r > 0.999 && r < 1.001 && (x[2] > 1.01 * x[1] || x[2] < 0.99 * x[1])) }' ||
        complain "$*: $described, by the graph $alone"
}
keeps "$folder/dp" --ranks 64
# Beside tensor parallel ranks it is the data parallel group that grows.
mkdir "$folder/tp" && echo '{"gpus": 16, "tp": 2, "micro_batch": 1, "global_batch": 8, "sequence": 1024}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" -o "$folder/tp"
want_rc 0
keeps "$folder/tp" --ranks 128
echo '{"gpus": 1, "micro_batch": 1, "global_batch": 1}' >"$folder/s.json"
run synth vit-l-16 --strategy "$folder/s.json" -o "$folder/vit"
python3 - "$MSIM_DATA/hosts/generic.json" "$folder/slow.json" <<'PY'
import json, sys
def slower(value):  # three times
    if isinstance(value, dict):
        return {k: slower(v) if isinstance(v, dict) or not k.endswith("us") else 3 * v for k, v in value.items()}
    return value
host = json.load(open(sys.argv[1], encoding="utf-8"))
json.dump({**slower(host), "name": "slow"}, open(sys.argv[2], "w", encoding="utf-8"))
PY
keeps "$folder/vit" --host "$folder/slow.json"

# What would make it fit is told by the same factor of memory.
run synth llama3-8b -o "$folder/large"
for name in described graph; do
    run --json --platform a100 "$folder/large"
    want_rc 0
    cp "$folder/out" "$folder/large_$name"
    rm -f "$folder/large/synth.json"
done
python3 - "$folder"/large_{described,graph} <<'PY' || complain "what would fit"
import json, sys
described, graph = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
ways = [{w["change"]: w["peak"] for w in p["memory_bytes"]["would_fit"]} for p in (described, graph)]
both = ways[0].keys() & ways[1].keys()
assert both
for change in both:
    ratio = ways[0][change] / ways[1][change]
    assert abs(ratio / described["measured_jobs"]["memory_factor"] - 1) < 1e-3, (change, ratio)
PY

# The description of another job, or what is no file, is not believed; nor is SGD's memory Adam's.
cp -r "$folder/dp" "$folder/other"
sed -i 's/"layers": *[0-9]*/"layers": 3200/' "$folder/other/synth.json"
run --platform h100 "$folder/other"
want_rc 0
want_err "it is taken for another's"
want_no_out_of() { ! grep -q "$1" "$folder/out" || complain "'$1' in the output"; }
want_no_out_of "measured jobs"
echo '{"gpus": 2, "micro_batch": 1, "global_batch": 2, "sequence": 128}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" --every-rank -o "$folder/part"
rm "$folder/part/rank-1.et.json"
run --platform h100 "$folder/part"
want_err "describes 2 files, here are 1"
rm "$folder/other/synth.json" && mkfifo "$folder/other/synth.json"
run --platform h100 "$folder/other"
want_rc 3
want_err "is no regular file"
echo '{"gpus": 1, "micro_batch": 1, "global_batch": 1, "sequence": 1024, "optimizer": "sgd"}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" -o "$folder/sgd"
run --platform h100 --json "$folder/sgd"
want_out '"memory_factor": null'
finish
