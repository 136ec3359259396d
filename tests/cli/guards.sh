#!/usr/bin/env bash
# What every answer keeps (docs/guards.md): where a model contradicts physics or
# itself, the answer is marked, counted and not recommended. The cases that a
# review found, and random points: MSIM_GUARD_POINTS of them [default: 3000].
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
samples=${SOURCE_DIR:?the source folder}/data/traces

# A Kineto trace knows no memory: the largest batch is not "sure" to cost least.
echo "{\"trace\": \"$samples/gpt2/kineto\", \"samples\": 1e9, \"gpus\": [1],
    \"platforms\": [{\"name\": \"t4\", \"price_per_gpu_hour\": 1}],
    \"micro_batch\": [2, 64, 512, 2048, 4096, 16384]}" >"$folder/batch.json"
run plan "$folder/batch.json"
want_rc 1
want_out "nothing is recommended"
want_out "6 of 6 points are marked: 4 memory ("
run plan "$folder/batch.json" -o "$folder/plan"
grep -q "nothing is recommended.*points are marked\|points are marked" \
    "$folder/plan/report.html" || complain "the page does not say what is marked"
[ "$(tail -n +2 "$folder/plan/points.csv" | grep -c 'fits$')" -eq 6 ] ||
    complain "points.csv has no marks"
# Times grow with the batch, beyond the memory of the GPU, too.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "predicted_ms") c = i; next }
    $c < last { exit 1 } { last = $c }' "$folder/plan/points.csv" ||
    complain "a larger batch is shorter: $(<"$folder/plan/points.csv")"

# No more than was recorded fits where there is as much memory: 256 pictures.
ran=${MSIM_TRACES:-}/traces/vgg13-h100/kineto
if [ -d "$ran" ]; then
    echo "{\"trace\": \"$ran\", \"samples\": 1e9, \"gpus\": [1], \"micro_batch\": [64, 256, 100000],
        \"platforms\": [\"h100\", \"t4\"]}" >"$folder/ran.json"
    run plan "$folder/ran.json"
    want_rc 0
    want_out "recommended   1 x h100: batch 256"
    want_out " 4 fits (whether"
    want_out "no more than when it was recorded"
fi

# Sizes that somebody asks for were not misread: they take what the law says.
printf 'op,dtype,shape\nrelu,fp32,10000000000\nrelu,fp32,100000000000\n' >"$folder/relu.csv"
run op --platform h100 "$folder/relu.csv"
want_rc 0
want_out " (memory)"
want_err "1 of 2 rows are marked: 1 memory (an operator needs more than the GPU's memory)"
[ "$(awk -F, 'NR == 2 { a = $4 } NR == 3 { print ($4 > 9 * a) }' "$folder/out")" = 1 ] ||
    complain "ten times as many numbers do not take ten times as long: $out"
printf 'm,n,k,dtype\n262144,65536,65536,fp16\n1048576,131072,65536,fp16\n' >"$folder/mm.csv"
run op --platform h100 "$folder/mm.csv"
[ "$(awk -F, 'NR == 3 { print ($5 > 17e6) }' "$folder/out")" = 1 ] ||
    complain "1.8e16 FLOPs take less than at the peak: $out"

# Recomputation makes no step shorter, since measured jobs of every way correct
# it alike; a ratio to a step that is corrected otherwise says so.
echo '{"gpus": 64, "tp": 4, "pp": 2, "zero": 1, "micro_batch": 1, "global_batch": 256,
    "sequence": 8192, "precision": "bf16", "recompute": "none"}' >"$folder/strategy.json"
echo '{"scenarios": [{"name": "again", "changes": [{"recompute": "full"}]},
    {"name": "other", "changes": [{"gpu": "h200"}]},
    {"name": "same", "changes": [{"scale": {"select": "kernels", "factor": 1}}]}]}' \
    >"$folder/change.json"
change() { # ARGUMENT...
    run whatif "$folder/change.json" llama3-8b --strategy "$folder/strategy.json" \
        --platform h100 "$@"
    want_rc 0
}
change
want_out "1 of 4 predictions are marked: 1 evidence"
change --csv
[ "$(cut -d, -f20 "$folder/out" | tr '\n' ,)" = "guards,,,evidence,," ] ||
    complain "other marks: $out"
change --json
python3 - "$folder/out" <<'PY' || complain "a ratio does not hold both corrections"
import json, sys
whatif = json.load(open(sys.argv[1]))
again, other, same = whatif["scenarios"]
assert whatif["guards"]["marked"] == 1, whatif["guards"]
assert again["guards"] == [] and 1.1 < again["ratio"]["predicted"] < 1.34, again
assert other["guards"] == ["evidence"] and other["ratio"]["high"] > 0.9, other["ratio"]
assert same["guards"] == [] and same["ratio"]["high"] == 1, same["ratio"]
PY

# The same of a table of jobs, in which rows stand beside each other.
columns=model,platform,gpus,tp,pp,zero,micro_batch,global_batch,sequence,recompute
for recompute in none full; do
    echo "llama3-8b,h100,64,4,2,1,1,256,8192,$recompute"
done | sed "1i $columns" >"$folder/jobs.csv"
run validate --rows "$folder/jobs.csv" --csv
want_rc 0
[ "$(awk -F, '{ printf "%s,", $NF }' "$folder/out")" = "guards,,," ] ||
    complain "other marks: $out"
run validate --rows "$folder/jobs.csv"
[[ $out != *marked* ]] || complain "a mark: $out"

# A larger batch that takes less, and what does not fit at all.
echo '{"scenarios": [{"name": "512", "changes": [{"batch": 512}]},
    {"name": "16384", "changes": [{"batch": 16384}]}]}' >"$folder/sizes.json"
run whatif --platform t4 "$folder/sizes.json" "$samples/gpt2"
want_rc 0
want_out "2 of 3 predictions are marked: 2 memory"
[[ $out =~ 16384\ +([0-9.]+)\ s ]] || complain "no time of batch 16384: $out"
[ "${BASH_REMATCH[1]%.*}" -gt 600 ] || complain "batch 16384 takes ${BASH_REMATCH[1]} s"

mkdir "$folder/points"
python3 "$(dirname "$0")/guard_points.py" "${MSIM_GUARD_POINTS:-3000}" \
    "$folder/points" || complain "random points break rules"
finish
