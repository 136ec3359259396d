#!/usr/bin/env bash
# plan --set: a spec on the command line is the spec of a file.
. "$(dirname "$0")/lib.bash"

echo '{"model": "llama3-8b", "platforms": ["h100", "a100"], "gpus": [8, 16], "global_batch": 64,
    "sequence": 2048, "tp": 1, "pp": 1, "zero": 3, "micro_batch": 1, "recompute": "full",
    "tokens": 1e10, "limits": {"days": 30}}' >"$folder/spec.json"
run plan "$folder/spec.json" --law-only --json
want_rc 0
cp "$folder/out" "$folder/want"
rest=(--set sequence=2048 --set tp=1 --set pp=1 --set zero=3 --set micro_batch=1
    --set recompute=full --set tokens=1e10 --set limits.days=30 --law-only --json)
run plan llama3-8b --set platforms=h100,a100 --set gpus=8,16 --set global_batch=64 "${rest[@]}"
want_rc 0
cmp -s "$folder/out" "$folder/want" || complain "another answer than by the file"
run plan --set model=llama3-8b --set 'platforms=["h100","a100"]' --set gpus=1 --set gpus=8,16 \
    --set global_batch=64 "${rest[@]}"
cmp -s "$folder/out" "$folder/want" || complain "another answer without an operand"
# What it says comes before what the file says.
sed 's/2048/4096/; s/"full"/"none"/' "$folder/spec.json" >"$folder/other.json"
run plan "$folder/other.json" --set sequence=2048 --set recompute=full --law-only --json
cmp -s "$folder/out" "$folder/want" || complain "another answer beside a file"
run plan /dev/stdin --set sequence=2048 --set recompute=full --law-only --json <"$folder/other.json"
cmp -s "$folder/out" "$folder/want" || complain "another answer beside a pipe"
# A platform may stand alone.
run plan "$folder/spec.json" --set platforms=h100 --set 'limits={"days": 9}' --law-only
want_rc 0
want_out "2 points: 2 feasible"

# A folder of traces is one of them, too.
traced=(--set samples=1e6 --set platforms=t4 --set gpus=1 --set micro_batch=2 --json)
run plan --set "trace=${SOURCE_DIR:?the source folder}/data/traces/gpt2" "${traced[@]}"
want_rc 0
cp "$folder/out" "$folder/want"
run plan "$SOURCE_DIR/data/traces/gpt2" "${traced[@]}"
cmp -s "$folder/out" "$folder/want" || complain "another answer by the folder"
run synth "$folder" -o "$folder/x"
want_rc 3
want_err "$folder: is a directory, want a file"

usage_error "want a spec, a model of data/models, a folder of traces, or '--set'" plan
usage_error "want a member of the spec and its value" plan llama3-8b --set gpus
usage_error "no model 'lama3-8b' (did you mean llama3-8b?)" plan lama3-8b --set gpus=8
run plan llama3-8b --set gpus=8
want_rc 3
want_err "--set: global_batch is missing"
run plan "$folder/spec.json" --set limit.days=3
want_rc 3
want_err "spec.json: limit is not known, did you mean limits?"

finish
