#!/usr/bin/env bash
# `--markdown` and `--brief`: tables whose cells no name can leave, and the first
# part of the text.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
data=${SOURCE_DIR:?}/data/traces

# Every line of a table has as many cells as its head.
tables() {
    awk '/^\|/ { line = $0; gsub(/\\\|/, "", line); n = gsub(/\|/, "", line)
                 if (before && n != before) print "error: " $0; before = n; next }
         { before = 0 }' "$folder/out" | grep . && complain "a row of another length"
}

run --platform a100 --markdown "$data/gpt2"
want_rc 0
want_out "### "
want_out '| period | '
want_out '| `aten::linear` | 5 | '
want_out ' other operators are not shown.'
tables

python3 - "$folder/hostile.json" <<'PYTHON'
import json, sys

names = ["a|b", "`code` @user [x](http://y)", "<img src=x>", "two\nlines | # head", "**b**"]
events = []
for i, name in enumerate(names):
    events += [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 20 * i,
                "dur": 10, "args": {"External id": i + 1}},
               {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                "tid": 1, "ts": 20 * i + 1, "dur": 2, "args": {"correlation": i + 1, "External id": i + 1}},
               {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 20 * i + 5,
                "dur": 9, "args": {"device": 0, "stream": 7, "correlation": i + 1, "External id": i + 1}}]
json.dump({"schemaVersion": 1, "traceEvents": events}, open(sys.argv[1], "w"))
PYTHON
run --markdown "$folder/hostile.json"
want_rc 0
want_out "| \`a\\|b\` |"
want_out "| \`'code' @user [x](http://y)\` |"
want_out "| \`<img src=x>\` |"
want_out "| \`**b**\` |"
tables

run compare --markdown --platform a100,h100 "$data/gpt2" "$data/gpt2"
want_rc 0
want_out '| | A | B | difference | B / A |'
want_out '| kernels | '
tables

cat >"$folder/scenarios.json" <<'JSON'
{"scenarios": [
  {"name": "half | kernels", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
  {"name": "none", "changes": [{"batch": {"from": 7, "to": 9}}]}]}
JSON
run whatif --markdown --platform a100 "$folder/scenarios.json" "$data/gpt2"
want_rc 0
want_out "| \`half \\| kernels\` | "
want_out "- none cannot be predicted: "
want_out " | yes | peak |" # the guard's word, and its sentence
want_out '1 of 2 predictions are marked: 1 peak (it takes less than'
tables

# A described job has the same table.
cat >"$folder/jobs.json" <<'JSON'
{"scenarios": [
  {"name": "8 | GPUs", "changes": [{"world": 8}, {"shard": "fsdp"}]},
  {"name": "none", "changes": [{"clock": "0.5"}]}]}
JSON
run whatif --markdown --platform h100 "$folder/jobs.json" llama3-8b
want_rc 0
want_out "| scenario | step | of the base | 90 % | tokens a second | memory | fits | marked |"
[[ $out =~ \|\ \`8\ \\\|\ GPUs\`\ \|\ [0-9.]+\ ms\ \|\ 0\.[0-9]+\ \| ]] || complain "no row of 8 GPUs: $out"
want_out " GiB | yes | evidence |"
want_out "- none cannot be predicted: "
tables

# The first part of the text is that of the whole.
run --platform a100 --brief "$data/gpt2"
want_rc 0
want_out 'in all'
brief=$out
run --platform a100 "$data/gpt2"
[[ $out == "$brief"* ]] || complain "--brief says else than the begin of the report"
[ "${#out}" -gt $((2 * ${#brief})) ] || complain "--brief is not brief"
usage_error "got --brief with --json" --platform a100 --brief --json "$data/gpt2"
usage_error "got --brief with several platforms" --platform a100,h100 --brief "$data/gpt2"
usage_error "no file 'gpt2' is here, want '$data/gpt2' for the sample of that name" predict gpt2
run predict "$folder/gpt2"
want_err "gpt2: cannot open"
# Before a model is recorded, which takes longer: also that a platform cannot be read.
usage_error "got --brief with several platforms" --platform a100,h100 --brief --model "$folder/nosuch.py:make"
echo '{"schema": 3}' >"$folder/odd.json"
for platform in "$folder/nosuch.json" "a100,$folder/nosuch.json"; do
    run --platform "$platform" --model "$folder/nosuch.py:make"
    want_err "$folder/nosuch.json: cannot be opened"
done
run --platform "h100,$folder/odd.json" --model "$folder/nosuch.py:make"
want_err "$folder/odd.json: name is missing"
usage_error "got --markdown with several platforms" \
    --platform a100,h100 --markdown "$data/gpt2"

finish
