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
run plan llama3-8b --platform h100,a100 --set gpus=8,16 --set global_batch=64 "${rest[@]}"
cmp -s "$folder/out" "$folder/want" || complain "another answer by --platform"
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
# So is one file of them, packed or not, and a description of a model: ours, Hugging Face's.
et=$(ls "$SOURCE_DIR"/data/traces/gpt2/et/*.json.gz)
gunzip -c "$et" >"$folder/et.json"
sed 's/^/ /' "$SOURCE_DIR/data/models/llama3-8b.json" >"$folder/own.json"
echo '{"model_type": "llama", "name": "llama3-8b", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
    "vocab_size": 128256, "tie_word_embeddings": false}' >"$folder/config.json"
for file in "$et" "$folder/et.json"; do
    run plan "$file" "${traced[@]}"
    want_rc 0
    want_out '"trace": "'"${file##*/}"'"'
done
described=(--set platforms=h100 --set gpus=8 --set global_batch=64 --law-only --json)
run plan llama3-8b "${described[@]}"
cp "$folder/out" "$folder/want"
for file in own.json config.json; do
    run plan "$folder/$file" "${described[@]}"
    cmp -s "$folder/out" "$folder/want" || complain "another answer by $file"
done
# And its numbers may stand in the spec itself.
echo "{\"model\": $(cat "$folder/config.json"), \"platforms\": \"h100\", \"gpus\": 8,
    \"global_batch\": 64}" >"$folder/within.json"
run plan "$folder/within.json" --law-only --json
cmp -s "$folder/out" "$folder/want" || complain "another answer by numbers in the spec"
sed -i 's/"num_attention_heads": 32/"num_attention_heads": 31/' "$folder/within.json"
run plan "$folder/within.json"
want_rc 3
want_err 'within.json: model.num_attention_heads is 31, want a divisor of the model'"'"'s width'
printf '{"model": "llama3-8b", ' >"$folder/cut.json"
run plan "$folder/cut.json"
want_rc 3
want_err "cut.json:22: not well-formed JSON"
run synth "$folder" -o "$folder/x"
want_rc 3
want_err "$folder: is a directory, want a file"

usage_error "want a spec, a model, traces, or '--set'" plan
usage_error "want a member of the spec and its value" plan llama3-8b --set gpus
usage_error "no model 'lama3-8b' (did you mean llama3-8b?)" plan lama3-8b --set gpus=8
run plan llama3-8b --set gpus=8
want_rc 3
want_err "--set: global_batch is missing"
run plan "$folder/spec.json" --set limit.days=3
want_rc 3
want_err "spec.json: limit is not known, did you mean limits?"

finish
