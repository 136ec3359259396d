#!/usr/bin/env bash
# plan: every way to run a traced step on the GPUs of a spec.
. "$(dirname "$0")/lib.bash"

trace=${SOURCE_DIR:?the source folder}/tests/accuracy/resnet50_adam.et.json.gz
mkdir "$folder/sub"
cp "$trace" "$folder/sub/step.et.json.gz"

spec() { # MEMBERS: a spec in $folder/sub/spec.json, its trace beside it
    echo "{\"trace\": \"step.et.json.gz\", \"platforms\": [
        {\"name\": \"h100\", \"price_per_gpu_hour\": 2, \"power_w\": 1000},
        {\"name\": \"l40s\", \"price_per_gpu_hour\": 1}] $1}" >"$folder/sub/spec.json"
}

# 2 platforms x 2 numbers x 2 shards x 2 batches = 16 points, of which the second
# "shard" of one GPU is none: 2 x 2 = 4.
members=', "gpus": [1, 2], "shard": ["ddp", "zero3"], "micro_batch": [8, 32],
    "samples": 1e8, "currency": "EUR"'
spec "$members"
run plan "$folder/sub/spec.json" -o "$folder/plan" --json
want_rc 0
want_out '"points": 16' '"feasible": 12' '"not_split": 4' '"reason": "one GPU shares nothing'
run plan "$folder/sub/spec.json"
want_rc 0
want_out "plan of the step in step.et.json.gz" "4 left out: one GPU shares nothing" "samples/s"
[[ $out =~ cost\ +[^$'\n']*\]\ EUR ]] || complain "no currency: $out"
[[ $out =~ memory\ +[0-9.]+\ GiB ]] || complain "no memory: $out"

# Every point is a row of a table of the same trace, and predicted alike: those of
# the first platform, beside whose host a plan has all.
points=$folder/plan/points.csv
head -1 "$points" | grep -q '^platform,gpus,micro_batch,grad_accum,strategy,recompute,precision,offload,predicted_ms' ||
    complain "other columns: $(head -1 "$points")"
cut -d, -f1-8 "$points" >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --trace "$trace" --csv
[ "$(grep ^h100 "$folder/out" | cut -d, -f9-11)" = "$(grep ^h100 "$points" | cut -d, -f9-11)" ] ||
    complain "validate --rows --trace predicts other steps"

# 1e8 samples, each step has gpus x micro_batch of them: days, and cost at the
# spec's price an hour.
awk -F, 'NR > 1 {
    days = 1e8 / ($2 * $3 * $4) * $9 / 1e3 / 86400
    cost = days * 24 * $2 * ($1 == "h100" ? 2 : 1)
    if ($16 / days < 0.9999 || $16 / days > 1.0001 || $17 / cost < 0.9999 || $17 / cost > 1.0001)
        exit 1 }' "$points" || complain "days or cost do not follow from the step"

# Where the trace lies, without the way into the spec's folder and out again.
sed 's#"step.et#"../sub/./../sub/step.et#' "$folder/sub/spec.json" >"$folder/sub/about.json"
run plan "$folder/sub/about.json" -o "$folder/about"
want_rc 0
grep -q "Recorded: $folder/sub/step.et.json.gz;" "$folder/about/report.html" ||
    complain "another path: $(grep -o 'Recorded: [^;]*' "$folder/about/report.html")"

# The page is whole, with what only a traced step has.
page=$folder/plan/report.html
grep -q 'Train as the step recorded in' "$page" || complain "the page has no question"
grep -q 'What cannot be' "$page" || complain "the page does not say what cannot be"
if command -v gnuplot >/dev/null; then
    [ "$(grep -c '<svg' "$page")" -eq 2 ] || complain "not two charts in the page"
fi

# The same bytes on any threads and processes.
for n in 1 3; do
    run plan "$folder/sub/spec.json" --json --threads $n
    cmp -s "$folder/out" "$folder/plan/plan.json" || complain "$n threads change the plan"
done
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run plan "$folder/sub/spec.json" -o "$folder/two"
want_rc 0
[ -s "$folder/two/parts/1.part" ] || complain "the second process keeps nothing"
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run plan "$folder/sub/spec.json" -o "$folder/two"
cmp -s "$folder/two/plan.json" "$folder/plan/plan.json" || complain "two processes change the plan"

# Parts of another trace of the same name are not read.
spec ', "gpus": 1, "micro_batch": [4, 8]'
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run plan "$folder/sub/spec.json" -o "$folder/other"
cp "$folder/sub/step.et.json.gz" "$folder/step"
gzip -dc "$folder/step" | sed 's/aten::relu_/aten::gelu_/' | gzip -1 >"$folder/sub/step.et.json.gz"
run plan "$folder/sub/spec.json" --json
cp "$folder/out" "$folder/alone.json"
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run plan "$folder/sub/spec.json" -o "$folder/other"
want_rc 0
cmp -s "$folder/other/plan.json" "$folder/alone.json" || complain "parts of another trace are read"
cp "$folder/step" "$folder/sub/step.et.json.gz"

# A batch of the step that GPUs cannot share, what does not fit, and why.
spec ', "gpus": [1, 2], "global_batch": 24, "micro_batch": [8, 16], "limits": {"memory_gib": 2}'
run plan "$folder/sub/spec.json"
want_rc 0
want_out "global_batch 24 cannot be split by gpus x micro_batch"
[[ $out =~ nearest\ to\ it ]] || [[ $out =~ recommended ]] || complain "neither a point nor the nearest: $out"

# Tensor parallel ranks, stages, layers and widths; every point is a row of a table.
echo '{"name": "tiny", "type": "decoder", "tied_embeddings": false, "gated": true, "norm": "rmsnorm",
    "positions": "rope", "bias": false, "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024,
    "vocab": 32000}' >"$folder/tiny.json"
echo '{"gpus": 1, "micro_batch": 2, "sequence": 512}' >"$folder/s.json"
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/tiny"
rm "$folder/tiny/synth.json"
echo '{"trace": "tiny", "platforms": ["h100"], "gpus": [2, 4], "tp": [1, 2], "pp": [1, 2], "layers": [null, 6],
    "hidden": [null, 1024], "grad_accum": 2, "most_points": 100}' >"$folder/sizes.json"
run plan "$folder/sizes.json" -o "$folder/sizes"
want_rc 0
points=$folder/sizes/points.csv
head -1 "$points" | grep -q ',tp,pp,layers,hidden,predicted_ms' || complain "other columns: $(head -1 "$points")"
# Two GPUs have no stages of two ranks.
[ "$(wc -l <"$points")" = 29 ] || complain "$(wc -l <"$points") lines, want 28 points: $out"
cut -d, -f1-12 "$points" >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --trace "$folder/tiny" --csv
[ "$(tail -n +2 "$folder/out" | cut -d, -f13-15)" = "$(tail -n +2 "$points" | cut -d, -f13-15)" ] ||
    complain "validate --rows --trace predicts other steps of splits"
echo '{"trace": "tiny", "platforms": ["h100"], "gpus": 3, "tp": 2, "layers": [0]}' >"$folder/wrong.json"
run plan "$folder/wrong.json"
want_rc 3
want_err "layers[0]"
echo '{"trace": "tiny", "platforms": ["h100"], "gpus": 3, "tp": 2}' >"$folder/wrong.json"
run plan "$folder/wrong.json"
want_out "gpus 3 cannot be split by tp x pp, 2"
want_out "none can be made of the trace, other values may be" # no memory, no GPU helps

# A job of several ranks is what it is.
ranks=$SOURCE_DIR/data/traces/dlrm-ddp-2ranks
echo "{\"trace\": \"$ranks\", \"platforms\": [\"h100\"], \"gpus\": [1, 2, 4]}" >"$folder/ranks.json"
run plan "$folder/ranks.json"
want_rc 0
want_out "2 left out: the trace is of a job of 2 ranks already: want gpus 2" "recommended   2 x h100"

# What users mistype.
refused() { # MEMBERS TEXT...
    spec "$1"
    run plan "$folder/sub/spec.json"
    want_rc 3
    shift
    want_err "$@"
}
refused ', "gpus": 1, "shrad": "ddp"' "shrad is not known, did you mean shard?"
refused ', "gpus": 1, "shard": ["ddp", "dpp"]' 'shard[1] is "dpp", want one of ddp zero1'
refused ', "gpus": 1, "cp": 2' "cp is 2, want nothing: it is a member of described models"
refused ', "gpus": 1, "precision": "bf61"' 'precision is "bf61", want one of traced'
refused ', "gpus": 1, "requests": 5' "spec.json: requests does not go with the trace: the trace has a backward pass"
refused ', "gpus": 1, "limits": {"days": 5}' "samples is missing, want a number"
refused ', "gpus": 1, "most_points": 1e7' "most_points is 10000000, want at most 1000000: every point is a simulation"
echo '{"model": "llama3-8b", "trace": "step.et.json.gz"}' >"$folder/sub/spec.json"
run plan "$folder/sub/spec.json"
want_rc 3
want_err 'model is "llama3-8b", want nothing'
echo '{"trace": "step.et.json.gz", "platforms": ["h100", "h1000"], "gpus": 1}' >"$folder/sub/spec.json"
run plan "$folder/sub/spec.json"
want_rc 2
want_err "platforms[1]: unknown platform 'h1000'"
echo '{"trace": "none.json", "platforms": ["h100"], "gpus": 1}' >"$folder/sub/spec.json"
run plan "$folder/sub/spec.json"
want_rc 3
want_err "sub/none.json: cannot open"

# A trace in which nothing takes time has no step.
cat >"$folder/sub/still.json" <<'JSON'
{"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1, "ts": 0, "dur": 0},
  {"ph": "X", "cat": "cpu_op", "name": "aten::view", "pid": 1, "tid": 1, "ts": 0, "dur": 0,
   "args": {"Input Dims": [[2]], "Input type": ["float"]}}]}
JSON
echo '{"trace": "still.json", "platforms": ["h100"], "gpus": 1, "micro_batch": 2, "traced_batch": 2}' >"$folder/sub/spec.json"
run plan "$folder/sub/spec.json"
want_rc 1
want_out "1 points: 0 feasible"
want_out "1 left out: the trace has no work that takes time"
# A plan of the folder has the folder's answer, on every GPU, and changed points
# that of the folder that they make.
for batch in 2 4; do
    echo "{\"gpus\": 8, \"zero\": 1, \"micro_batch\": $batch, \"global_batch\": $((8 * batch)), \"sequence\": 1024}" \
        >"$folder/s.json"
    run synth mpt-1b --strategy "$folder/s.json" -o "$folder/ranks-$batch"
done
mv "$folder/ranks-2" "$folder/ranks"
echo "{\"trace\": \"$folder/ranks\", \"platforms\": [\"h100\", \"a100\"], \"gpus\": 8, \"micro_batch\": [2, 4], \"traced_batch\": 2}" \
    >"$folder/spec.json"
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 0
python3 - "$sim" "$folder" <<'PY' || complain "a plan of the folder has another answer"
import csv, json, subprocess, sys
sim, folder = sys.argv[1:]
points = list(csv.DictReader(open(f"{folder}/plan/points.csv", encoding="utf-8")))
assert len(points) == 4, points
def of(name, gpu):
    done = json.loads(subprocess.run([sim, "--json", "--platform", gpu, f"{folder}/{name}"], text=True,
                                     capture_output=True, check=True).stdout)
    return done["period_us"], done["memory_bytes"]
for gpu in ("h100", "a100"):
    for name, batch in (("ranks", "2"), ("ranks-4", "4")):
        point = next(p for p in points if p["platform"] == gpu and p["micro_batch"] == batch)
        us, memory = of(name, gpu)
        for column, want in (("predicted_ms", us["predicted"] / 1e3), ("low_ms", us["low"] / 1e3),
                             ("high_ms", us["high"] / 1e3), ("predicted_memory_gib", memory["peak"] / 2**30)):
            assert abs(float(point[column]) / want - 1) < 1e-4, (gpu, column, point[column], want)
        assert point["fits"] == memory["fits"], (point, memory)
PY

# Micro batches that are recorded count, and a point is what a row of a table and a scenario are.
echo '{"gpus": 1, "micro_batch": 1, "global_batch": 4, "sequence": 512}' >"$folder/s.json"
run synth "$folder/tiny.json" --strategy "$folder/s.json" -o "$folder/four"
echo '{"trace": "four", "platforms": ["h100"], "gpus": [1, 2], "tp": [1, 2], "pp": [1, 2]}' >"$folder/four.json"
run plan "$folder/four.json" -o "$folder/passes"
want_rc 0
points=$folder/passes/points.csv
[ "$(tail -n +2 "$points" | cut -d, -f4 | sort -u)" = 4 ] || complain "4 recorded micro batches: $(cat "$points")"
cut -d, -f1-10 "$points" >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --trace "$folder/four" --csv
[ "$(tail -n +2 "$folder/out" | cut -d, -f11-13)" = "$(tail -n +2 "$points" | cut -d, -f11-13)" ] ||
    complain "validate --rows --trace predicts other steps of four micro batches: $out, $(cat "$points")"
echo '{"scenarios": [{"name": "x", "changes": [{"parallel": {"tp": 2}}]}]}' >"$folder/x.json"
run whatif --platform h100 --csv "$folder/x.json" "$folder/four"
awk -F, -v us="$(tail -1 "$folder/out" | cut -d, -f2)" '$9 == 2 && $10 == 1 { n++; ok = $11 > us / 1e3 - 0.01 && $11 < us / 1e3 + 0.01 }
    END { exit !(n == 1 && ok) }' "$points" || complain "whatif says else of tp 2: $(cat "$points"), $out"

# What whatif does not expect to fit is no point: of the allocator's memory, not of the tensors'.
samples=${SOURCE_DIR:?the source folder}/data/traces
for of in gpt2/t4/37,39,41,43,45 resnet/rtx-3080/112,128,144,160; do
    batches=${of##*/} of=${of%/*}
    run whatif --grid "batch=$batches" --platform "${of#*/}" --csv "$samples/${of%/*}"
    want_rc 0
    want=$(awk -F, '/^batch/ && $21 <= $22 { printf "%s ", $NF }' "$folder/out")
    run plan --set "trace=$samples/${of%/*}" --set "platforms=${of#*/}" --set gpus=1 --set "micro_batch=$batches" \
        --set samples=1e6 -o "$folder/edges-${of%/*}"
    [ "$(tail -n +2 "$folder/edges-${of%/*}/points.csv" | cut -d, -f3 | sort -n | tr '\n' ' ')" = "$want" ] ||
        complain "plan keeps other batches than whatif's $want: $(cut -d, -f3 "$folder/edges-${of%/*}/points.csv" | tr '\n' ' ')"
done
finish
