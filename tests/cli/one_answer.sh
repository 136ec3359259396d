#!/usr/bin/env bash
# A described job has one answer: by a table of jobs, a plan, a what-if of the
# model, and a prediction of the traces that synth writes of it.
. "$(dirname "$0")/lib.bash"
all_of_sanitizers

python3 "$(dirname "$0")/one_answer.py" "$sim" "$folder" 8 || complain "verbs disagree"

# A changed job keeps what its description is known by; a GPU has its own.
echo '{"gpus": 8, "tp": 2, "micro_batch": 1, "global_batch": 32, "sequence": 4096}' >"$folder/s.json"
run synth llama3-8b --strategy "$folder/s.json" -o "$folder/t"
want_rc 0
echo '{"scenarios": [
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
note = h100["measured_jobs"]
assert "measured_jobs" not in alone
assert near(alone["iteration_us"]["predicted"], note["graph_us"])
assert near(base, note["factor"] * note["graph_us"])
# Inserted work takes its share, too.
more, more_alone = (r["more"]["period_us"]["predicted"] for r in (rows, rows_alone))
assert near(more, note["factor"] * more_alone), (more, note["factor"] * more_alone)
assert more > 1.001 * base
assert near(h100["memory_bytes"]["peak"], note["memory_factor"] * alone["memory_bytes"]["peak"])
PY
finish
