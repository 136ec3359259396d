#!/usr/bin/env bash
# plan: every way to train a described model on the GPUs of a spec.
. "$(dirname "$0")/lib.bash"

spec() { # MEMBERS: a spec in $folder/spec.json
    echo "{\"model\": \"llama3-8b\", \"global_batch\": 64, \"platforms\": [
        {\"name\": \"h100\", \"price_per_gpu_hour\": 2, \"power_w\": 1000}, \"a100\"],
        \"gpus\": [8, 16] $1}" >"$folder/spec.json"
}

spec ', "tokens": 1e9'
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 0
want_out "recommended   "
want_out "runner-up"
want_out "frontier: shorter or cheaper"
[[ $out =~ cost\ +[0-9.]+\ (k\ )?\[ ]] || complain "the cost has no interval: $out"
for file in report.html points.csv frontier.csv plan.json; do
    [ -s "$folder/plan/$file" ] || complain "no $file"
done
grep -q 'The answer' "$folder/plan/report.html" || complain "the page has no answer"
! grep -Eq '(src|href)=.?[^"'"'"'#]' "$folder/plan/report.html" ||
    complain "the page links to other files"
if command -v gnuplot >/dev/null; then
    [ "$(grep -c '<svg' "$folder/plan/report.html")" -eq 4 ] ||
        complain "not four charts in the page"
fi

! grep -q currentColor "$folder/plan/report.html" || complain "a colour is not named"
if "${MSIM_PYTHON:-python3}" -c "import weasyprint" 2>/dev/null; then
    [ "$(head -c 5 "$folder/plan/report.pdf")" = %PDF- ] || complain "no PDF"
else
    want_err "note: no report.pdf: "
    want_err "(Debian: apt install weasyprint)"
fi

# The memory of what is recommended goes up to its peak within a step.
if command -v python3 >/dev/null; then
    python3 - "$folder/plan/plan.json" <<'PY' || complain "the time line of memory is not what it should be"
import json, sys
m = json.load(open(sys.argv[1]))["recommended"]["memory_bytes"]
line = m["timeline"]
first = max(m["by"]["activations"] + m["by"]["loss"], m["by"]["temporaries"]) + line[0]["held"]
most = max(p["held"] + p["activations"] + p["loss"] + p["temporaries"] for p in line)
assert abs(most / first - 1) < 1e-9 and most <= m["peak"] * (1 + 1e-9), (most, first, m["peak"])
assert m["room"] > 0 and m["cuda_context"] > 0
PY
fi

# What costs least is not sure to fit: it stands beside what is, and why.
cat >"$folder/edge.json" <<'JSON'
{"model": "llama3-70b", "sequence": 8192, "global_batch": 1024, "platforms": ["b200"], "gpus": 256}
JSON
run plan "$folder/edge.json"
want_rc 0
[[ $out == *" leave"$'\n'*"of all that surely fit"*"cheaper?    256 x b200: "*"not sure to fit ("* ]] ||
    complain "what may be cheaper is not named: $out"
[[ $out != *"leave: not sure to fit"* ]] || complain "what is not sure is recommended: $out"

# A peak that is not sure to fit has a mark in the page, as no other has.
run plan "$folder/edge.json" -o "$folder/edge"
want_rc 0
grep -q 'GiB?<' "$folder/edge/report.html" || complain "the page does not say what is not sure to fit"
# Of one number of GPUs nothing scales, and of one GPU none is the best.
[ ! -e "$folder/edge/scaling.svg" ] || complain "one number of GPUs is drawn as a curve"
! grep -q 'The best on each GPU' "$folder/edge/report.html" || complain "one GPU has a table of the best"
for column in days cost energy MFU; do
    grep -q "<th class=n>$column" "$folder/edge/report.html" && echo "$column"
done >"$folder/columns"
[ "$(cat "$folder/columns")" = MFU ] || complain "columns of what is not known: $(cat "$folder/columns")"
cut -d, -f22 "$folder/plan/frontier.csv" | grep -q edge ||
    ! grep -q 'GiB?<' "$folder/plan/report.html" || complain "the page doubts what fits"

# Platforms with stacks are platforms of their own.
cat >"$folder/stacks.json" <<'JSON'
{"model": "llama3-8b", "global_batch": 64, "platforms": ["h100@pytorch-2.5", {"name": "h100@pytorch-2.9"}],
 "gpus": 8, "tp": 8, "zero": 1, "recompute": "none"}
JSON
run plan "$folder/stacks.json"
want_rc 0
want_out "8 x h100@pytorch-2.5: "
want_out "8 x h100@pytorch-2.9: "

# Where nothing fits, the point that is nearest, and what would make it fit.
cat >"$folder/tight.json" <<'JSON'
{"model": "llama3-70b", "sequence": 8192, "global_batch": 64, "platforms": ["h100"], "gpus": 32,
 "tp": [1, 2], "pp": 1, "zero": 1, "micro_batch": 2, "recompute": "none"}
JSON
run plan "$folder/tight.json"
want_rc 1
[[ $out =~ nearest\ to\ it:\ 32\ x\ h100:\ tp\ 2,.*\ of\ the\ 7[0-9]\.[0-9]\ GiB\ that\ CUDA\ and\ NCCL\ leave ]] || complain "no nearest point: $out"
[[ $out =~ would\ fit:\ .*recompute\ full,\ zero\ 3\ \([0-9.]+\ GiB ]] || complain "nothing would fit: $out"
run plan "$folder/tight.json" --json
want_out '"would_fit": [{"change": "'
# That change is feasible.
sed 's/"zero": 1/"zero": 3/; s/"none"/"full"/' "$folder/tight.json" >"$folder/wider.json"
run plan "$folder/wider.json"
want_out "recommended   32 x h100"

# The same bytes on any number of threads; JSON is JSON.
run plan "$folder/spec.json" --json --threads 1
cp "$folder/out" "$folder/one.json"
run plan "$folder/spec.json" --json --threads 4
cmp -s "$folder/out" "$folder/one.json" || complain "threads change the plan"
cmp -s "$folder/out" "$folder/plan/plan.json" || complain "plan.json differs"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; json.load(sys.stdin)["recommended"]["step_us"]["low"]' \
        <"$folder/out" || complain "no JSON"
fi

# The frontier is in the points, and every row of points is a row of a table
# that validate --rows predicts alike.
[ "$(tail -n +2 "$folder/plan/frontier.csv" | grep -cvxFf "$folder/plan/points.csv")" -eq 0 ] ||
    complain "the frontier has points of its own"
{
    echo "model,$(head -1 "$folder/plan/points.csv" | cut -d, -f1-17)"
    sed -n 2p "$folder/plan/points.csv" | cut -d, -f1-17 | sed 's/^/llama3-8b,/'
} >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --csv
[ "$(sed -n 2p "$folder/out" | cut -d, -f19-21)" = \
    "$(sed -n 2p "$folder/plan/points.csv" | cut -d, -f18-20)" ] ||
    complain "validate --rows predicts another step: $out"

# Nodes and programs are searched as a table of jobs has them.
spec ', "tp": 1, "pp": 1, "zero": 1, "micro_batch": 1, "nodes": [null, 4, 16], "framework": [null, "megatron"]'
run plan --law-only "$folder/spec.json" -o "$folder/nodes"
want_rc 0
want_out "nodes "
grep -q megatron "$folder/nodes/points.csv" || complain "no program was tried"
{
    echo "model,$(head -1 "$folder/nodes/points.csv" | cut -d, -f1-18)"
    tail -n +2 "$folder/nodes/points.csv" | cut -d, -f1-18 | sed 's/^/llama3-8b,/'
} >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --csv
[ "$(tail -n +2 "$folder/out" | cut -d, -f20-22)" = \
    "$(tail -n +2 "$folder/nodes/points.csv" | cut -d, -f19-21)" ] ||
    complain "validate --rows predicts other steps of these nodes and programs: $out"
[ "$(cut -d, -f3 "$folder/nodes/points.csv" | sort -u | tr '\n' ' ')" = "1 16 2 4 nodes " ] ||
    complain "not all nodes were tried: $(cut -d, -f2,3 "$folder/nodes/points.csv")"
[ "$(cut -d, -f2,3,19 "$folder/nodes/points.csv" | grep ^16 | sort -u | wc -l)" -ge 3 ] ||
    complain "nodes make no difference"

# Techniques are searched like all else, and their rows are rows of a table, too.
spec ', "tp": 1, "pp": 1, "zero": 3, "precision": "bf16", "optimizer_bits": [null, 8],
    "loss_chunks": 8, "compile": [true, false], "lora_rank": [null, 64], "offload": ["none", "optimizer"]'
run plan "$folder/spec.json" -o "$folder/tuned"
want_rc 0
[[ $out =~ recommended\ +[^$'\n']*loss_chunks\ 8 ]] || complain "no technique is named: $out"
head -1 "$folder/tuned/points.csv" >"$folder/head"
grep -q ',recompute,offload,lora_rank,loss_chunks,optimizer_bits,compile,predicted_ms,' "$folder/head" ||
    complain "no columns of techniques: $(cat "$folder/head")"
{
    echo "model,$(cut -d, -f1-22 "$folder/head")"
    tail -n +2 "$folder/tuned/points.csv" | cut -d, -f1-22 | sed 's/^/llama3-8b,/'
} >"$folder/rows.csv"
run validate --rows "$folder/rows.csv" --csv
[ "$(tail -n +2 "$folder/out" | cut -d, -f24-26)" = \
    "$(tail -n +2 "$folder/tuned/points.csv" | cut -d, -f23-25)" ] ||
    complain "validate --rows predicts another step of techniques"
for value in true false; do
    grep -q ",$([ $value = true ] && echo yes || echo no),[0-9.]*," "$folder/tuned/points.csv" ||
        complain "no point has compile $value"
done

# Limits, and what cannot be. How likely it is that they are kept is said.
spec ', "tokens": 1e9, "limits": {"days": 300, "gpus": 8}, "currency": "EUR"'
run plan "$folder/spec.json"
want_rc 0
want_out "limits      kept with a chance of above 99 %"
[[ $out =~ cost\ +[^$'\n']*\]\ EUR ]] || complain "no currency: $out"
[[ $out =~ recommended\ +8\ x ]] || complain "more GPUs than the limit: $out"
spec ', "limits": {"gpu": 8}'
run plan "$folder/spec.json"
want_rc 3
want_err "limits.gpu is not known, did you mean gpus?"
spec ', "tokens": 1e9, "limits": {"days": 1e-6}'
run plan "$folder/spec.json"
want_rc 1
want_out "no point keeps the limits"
want_out "limits.days is 1e-06: 0 of"
[[ $out =~ limits.days\ is\ 1e-06:\ 0\ of\ [0-9]+\ points\ keep\ it\;\ the\ least\ is\ 0\.[0-9]+,\ of\ 16\ x\ h100 ]] ||
    complain "which limit, and how near: $out"
spec ', "tokens": 1e9, "limits": {"days": 300, "gpus": 4, "tokens_per_second": 1e9}'
run plan "$folder/spec.json" -o "$folder/limited"
want_rc 1
[[ $err != *"no charts"* ]] || complain "bars of an empty frontier: $err"
want_out "limits.gpus is 4: 0 of"
want_out "the least is 8, of 8 x"
[[ $out =~ limits.days\ is\ 300:\ ([0-9]+)\ of\ ([0-9]+)\ points && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] ||
    complain "all points keep 300 days: $out"
grep -q "limits.tokens_per_second is 1e+09: 0 of .*; the most is" "$folder/limited/report.html" ||
    complain "the page does not say which limit"
# No price: the limit would bind nothing.
spec ', "tokens": 1e9, "limits": {"cost": 1}'
sed 's/"price_per_gpu_hour": 2, //' "$folder/spec.json" >"$folder/free.json"
run plan "$folder/free.json"
want_rc 3
want_err 'want one with "price_per_gpu_hour", since limits.cost is of money'
run plan "$folder/spec.json" # a100 has none, so that nobody knows whether it keeps the limit
want_rc 1
[[ $out =~ limits.cost\ is\ 1:\ 0\ of ]] || complain "an unknown cost keeps no limit: $out"
spec ', "tokens": 1e9, "limits": {"memory_gib": 1}'
run plan "$folder/spec.json"
want_rc 1
want_out "no point is feasible: a larger limits.memory_gib"
want_out "GiB that CUDA and NCCL leave of limits.memory_gib, 1"
spec ', "precision": "fp8"'
run plan "$folder/spec.json"
want_rc 0
[[ $out =~ \ ([0-9]+)\ have\ no\ model ]] && [ "${BASH_REMATCH[1]}" -gt 0 ] ||
    complain "fp8 on a100 is feasible: $out"

# What users mistype.
spec ', "tpp": 4'
run plan "$folder/spec.json"
want_rc 3
want_err "tpp is not known, did you mean"
spec ', "tp": "four"'
run plan "$folder/spec.json"
want_rc 3
want_err 'tp is "four", want a whole number from 1'
sed 's/h100/h1000/' "$folder/spec.json" | sed 's/"four"/4/' >"$folder/gpu.json"
run plan "$folder/gpu.json"
want_rc 2
want_err "h1000"
usage_error "" plan

# Several processes share a plan through its folder, whichever ends first; what a
# stopped one has left is taken, but not what is broken or of another spec.
large=', "tokens": 1e9, "vp": [1, 2, 4], "cp": [1, 2, 4], "ep": 1'
spec "$large"
run plan "$folder/spec.json" -o "$folder/alone"
want_rc 0
[ ! -e "$folder/alone/parts" ] || complain "parts are left"
process() { # N OF DIR: that process of several
    OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 run plan "$folder/spec.json" -o "$folder/$3"
    want_rc 0
}
same_plan() { # DIR: the same as by one process
    for file in points.csv frontier.csv plan.json report.html; do
        cmp -s "$folder/alone/$file" "$folder/$1/$file" || complain "$file in $1 differs"
    done
    [ ! -e "$folder/$1/parts" ] || complain "parts are left in $1"
}
process 2 3 shared
[ -z "$out" ] || complain "the third process reports: $out"
[ -s "$folder/shared/parts/2.part" ] || complain "the third process keeps nothing"
[ ! -e "$folder/shared/parts/0.part" ] || complain "it has the first one's points"
[ ! -e "$folder/shared/report.html" ] || complain "the third process writes the report"
process 0 3 shared
same_plan shared
process 1 2 broken
head -c 100 "$folder/broken/parts/1.part" >"$folder/part"
mv "$folder/part" "$folder/broken/parts/1.part"
process 0 1 broken
same_plan broken
spec ', "tokens": 2e9, "vp": [1, 2, 4], "cp": [1, 2, 4], "ep": 1'
process 1 2 other
spec "$large"
process 0 1 other
same_plan other
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run plan "$folder/spec.json"
want_rc 2
want_err "2 processes share a plan through its folder, want '-o DIR'"

# The model's file lies beside the spec, as traces do, else where the program runs.
mkdir "$folder/beside"
echo '{"name": "beside-8", "layers": 8, "hidden": 512, "heads": 8, "ffn": 1024, "vocab": 8192}' >"$folder/beside/m.json"
echo '{"model": "m.json", "platforms": ["h100"], "gpus": 2, "global_batch": 8, "sequence": 256}' >"$folder/beside/spec.json"
run plan --law-only "$folder/beside/spec.json"
want_rc 0
want_out "plan of beside-8"
sed 's/beside-8/here-8/' "$folder/beside/m.json" >"$folder/m.json"
cd "$folder" || exit 1
run plan --law-only beside/spec.json
want_out "plan of beside-8"
rm beside/m.json
run plan --law-only beside/spec.json
want_out "plan of here-8"
finish
