#!/usr/bin/env bash
# The graph of a described job is one, whoever simulates it: plan of what it
# recommends, validate --rows, whatif of the model, and predict of what synth
# wrote ("the graph takes by itself") say the same of a step and a peak.
. "$(dirname "$0")/lib.bash"
in_turn plan/simulate

python3 - "$sim" "$folder" <<'PY' || complain "verbs simulate other graphs"
import csv, json, pathlib, subprocess, sys

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def ask(*command):
    done = subprocess.run([program, *map(str, command)], text=True, capture_output=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def by_plan(model, gpu, job):
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"model": model, "platforms": [gpu], **job}), encoding="utf-8")
    plan = json.loads(ask("plan", "--json", spec))
    of = plan["simulated"][0]
    assert of["law"]["step_us"] == plan["recommended"]["step_us"]["predicted"], of
    assert of["law"]["peak_bytes"] == plan["recommended"]["memory_bytes"]["peak"], of
    return of["simulated"]["step_us"], of["simulated"]["peak_bytes"]


def by_rows(model, gpu, job):
    rows = folder / "rows.csv"
    rows.write_text(f"model,platform,{','.join(job)}\n{model},{gpu},{','.join(map(str, job.values()))}\n",
                    encoding="utf-8")
    row = next(csv.DictReader(ask("validate", "--rows", rows, "--csv", "--simulate").splitlines()))
    return 1e3 * float(row["simulated_ms"]), 2**30 * float(row["simulated_memory_gib"])


def by_whatif(model, gpu, job):
    (folder / "strategy.json").write_text(json.dumps(job), encoding="utf-8")
    (folder / "none.json").write_text('{"scenarios": [{"name": "as it is", "changes": [{"recompute": "%s"}]}]}'
                                      % job["recompute"], encoding="utf-8")
    of = json.loads(ask("whatif", "--json", "--simulate", "--platform", gpu, "--strategy",
                        folder / "strategy.json", folder / "none.json", model))["simulated"]
    return of["step_us"], of["peak_bytes"]


def by_traces(model, gpu, job):
    traces = folder / "traces"
    ask("synth", model, "--strategy", folder / "strategy.json", "-o", traces)
    (traces / "synth.json").unlink()  # the graph by itself
    done = json.loads(ask("--json", "--platform", gpu, traces))
    for file in traces.iterdir():
        file.unlink()
    return done["iteration_us"]["predicted"], done["memory_bytes"]["peak"]


BASE = {"gpus": 8, "tp": 1, "pp": 1, "vp": 1, "ep": 1, "zero": 1, "micro_batch": 1, "global_batch": 8,
        "sequence": 1024, "precision": "bf16", "recompute": "none"}
# Short ones are simulated whole; long ones by shorter graphs.
JOBS = [("mpt-1b", "h100", {**BASE, "pp": 4, "vp": 2, "zero": 0, "global_batch": 16}, 1e-5, 1e-5),
        ("mpt-1b", "h100", {**BASE}, 2e-3, 0.02),
        ("llama3-8b", "h100", {**BASE, "tp": 2, "pp": 2, "zero": 0}, 2e-3, 0.02),
        ("mpt-1b", "a100", {**BASE, "global_batch": 256, "recompute": "full"}, 2e-3, 0.02),
        ("llama3.2-3b", "h100", {**BASE, "pp": 4, "zero": 0, "global_batch": 64}, 2e-3, 0.02),
        ("llama3-8b", "h100", {**BASE, "zero": 3, "global_batch": 64}, 2e-3, 0.02)]
for model, gpu, job, near, held in JOBS:
    plan, rows, whatif = (by(model, gpu, job) for by in (by_plan, by_rows, by_whatif))
    traces = by_traces(model, gpu, job)
    for name, (us, peak) in (("plan", plan), ("rows", rows), ("whatif", whatif)):
        assert abs(us / traces[0] - 1) < near, (model, job, name, us, traces[0])
        assert abs(peak / traces[1] - 1) < held, (model, job, name, peak, traces[1])
    assert abs(rows[0] / plan[0] - 1) < 1e-5 and abs(whatif[0] / plan[0] - 1) < 1e-9, (plan, rows, whatif)
PY

# What stages hold while gradients of weights are delayed: by formula as by the
# graph, where whole layers are computed again and where they are kept.
{
    echo model,platform,gpus,pp,zero,micro_batch,global_batch,sequence,precision,recompute,schedule
    for pp in 2 4 8; do
        for recompute in none full; do
            echo "mpt-7b,a100,$pp,$pp,0,2,$((4 * pp)),2048,bf16,$recompute,zero-bubble"
            echo "llama3-8b,a100,$pp,$pp,0,1,$((4 * pp)),2048,bf16,$recompute,zero-bubble"
        done
    done
} >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --csv --simulate
python3 - "$folder/out" <<'PY' || complain "memory of delayed gradients of weights"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
assert len(rows) == 12
for r in rows:
    ratio = float(r["predicted_memory_gib"]) / float(r["simulated_memory_gib"])
    assert 0.95 < ratio < 1.05, (ratio, r)
PY

# Nodes are of all ranks of the job, not of the files that stand for them; the
# strategy's own are those of its traces.
ranks='"gpus": 32, "tp": 4, "pp": 2, "zero": 1, "micro_batch": 1, "global_batch": 8, "sequence": 1024'
echo '{"scenarios": [{"name": "as it is", "changes": [{"shard": "zero1"}]}]}' >"$folder/none.json"
for nodes in 4 8 16; do
    echo "{$ranks, \"nodes\": $nodes}" >"$folder/s.json"
    run synth mpt-1b --strategy "$folder/s.json" -o "$folder/nodes"
    run --json --platform h100 "$folder/nodes"
    graph=$(grep -oE '"graph_us": [0-9.]+' "$folder/out")
    run whatif --json --simulate --platform h100 --strategy "$folder/s.json" "$folder/none.json" mpt-1b
    whatif=$(grep -oE '"simulated": \{"step_us": [0-9.]+' "$folder/out")
    awk -v a="${graph##* }" -v b="${whatif##* }" 'BEGIN { exit !(a > 0 && a / b > 0.98 && a / b < 1.02) }' ||
        complain "$nodes nodes: $graph, $whatif"
    echo "$graph" >>"$folder/by_nodes"
    rm "$folder/nodes/synth.json"
    run --json --platform h100 --nodes "$nodes" "$folder/nodes"
    want_out "\"iteration_us\": {\"predicted\": ${graph##* }"
done
[ "$(sort -u "$folder/by_nodes" | wc -l)" -gt 1 ] || complain "nodes make no difference"
run --platform h100 --nodes 33 "$folder/nodes"
want_rc 2
want_err "want at most the job's 32 ranks"

# How far measured jobs are from the graph says whoever predicts the folder.
echo '{"gpus": 8, "micro_batch": 1, "global_batch": 8, "sequence": 1024}' >"$folder/s.json"
run synth mpt-1b --strategy "$folder/s.json" -o "$folder/factor"
echo '{"scenarios": [{"name": "less", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]}]}' >"$folder/less.json"
run --json --platform h100 "$folder/factor"
cp "$folder/out" "$folder/saved.json"
note=$(grep -oE '"measured_jobs": \{[^}]*\}' "$folder/out")
[[ $note == *'"graph_us": '[0-9]* ]] || complain "no factor: $note"
echo '{"model": "mpt-1b", "platforms": ["h100"], "gpus": 8, "tp": 1, "pp": 1, "zero": 0, "micro_batch": 1,
       "recompute": "none", "global_batch": 8, "sequence": 1024}' >"$folder/spec.json"
run plan --json "$folder/spec.json"
plan=$(grep -oE '"factor": [0-9.]+' "$folder/out" | head -1)
awk -v a="${plan##* }" -v b="$(grep -oE '"factor": [0-9.]+' <<<"$note" | grep -oE '[0-9.]+')" \
    'BEGIN { exit !(a > 0 && a / b > 0.98 && a / b < 1.02) }' || complain "a plan has another factor: $plan, $note"
text=$("$sim" --platform h100 "$folder/factor" 2>/dev/null | grep -oE 'x [0-9.]+ +of the .* that the graph takes' | tr -s ' ')
[ -n "$text" ] || complain "no factor in the text"
run whatif --json --platform h100 "$folder/less.json" "$folder/factor"
[ "$(grep -cF "$note" "$folder/out")" -ge 1 ] || complain "whatif: no $note"
run whatif --platform h100 "$folder/less.json" "$folder/factor"
want_out "measured jobs take $text"
for side in "$folder/factor" "$folder/saved.json"; do
    run compare --json --platform h100 "$folder/factor" "$side"
    [ "$(grep -oF "$note" "$folder/out" | wc -l)" -eq 2 ] || complain "compare: no $note on both sides"
    run compare --platform h100 "$folder/factor" "$side"
    [ "$(grep -cF "measured jobs take $text" "$folder/out")" -eq 2 ] || complain "compare: no factor: $out"
done

# What cannot be written has a reason; the law alone has no table.
echo '{"model": "llama3-8b", "global_batch": 8, "platforms": ["h100"], "gpus": 8, "offload": "optimizer", "tp": 1,
       "pp": 1, "zero": 1, "micro_batch": 1, "recompute": "none"}' >"$folder/spec.json"
run plan "$folder/spec.json"
want_rc 0
want_out "by the law, and simulated"
want_out "not simulated: offload cannot be written"
run plan --law-only "$folder/spec.json"
want_rc 0
[[ $out != *simulated* ]] || complain "the law alone is simulated: $out"

# The recommended stands first, then what is next to it, each once.
echo '{"model": "llama3-8b", "global_batch": 64, "gpus": [8, 16], "platforms": [
       {"name": "h100", "price_per_gpu_hour": 2}, {"name": "a100", "price_per_gpu_hour": 1}]}' >"$folder/spec.json"
run plan --json --threads 1 "$folder/spec.json"
cp "$folder/out" "$folder/one"
run plan --json --threads 4 "$folder/spec.json"
cmp -s "$folder/out" "$folder/one" || complain "threads change what is simulated"
python3 - "$folder/one" <<'PY' || complain "what is simulated"
import json, sys
plan = json.load(open(sys.argv[1], encoding="utf-8"))
key = lambda p: tuple(v for k, v in p.items() if k in ("platform", "gpus", "tp", "pp", "dp", "zero", "micro_batch", "recompute"))
points = [key(p) for p in plan["simulated"]]
assert 3 <= len(points) <= 7 and len(set(points)) == len(points), points
assert points[0] == key(plan["recommended"]) and points[1] == key(plan["runner_up"]), points
assert key(plan["frontier"][0]) in points, points
assert all(0.3 < p["simulated"]["step_us"] / p["law"]["step_us"] < 3 for p in plan["simulated"]), plan["simulated"]
PY

echo 'model,gpus' >"$folder/rows.csv"
usage_error "for --rows ROWS.csv --csv" validate --rows "$folder/rows.csv" --simulate
finish
