#!/usr/bin/env bash
# A model alone is served by one engine on one replica: the answer of the
# application that says the same, and a sentence where something is not there.
. "$(dirname "$0")/lib.bash"

some=(--num-requests 50 --json)
# as_written JSON_OF_THE_STAGE ARGUMENT...: `serve ARGUMENT...` answers as that application.
as_written() {
    local stage=$1 tokens=${tokens:-'"input_tokens": 1024, "output_tokens": 128'}
    shift
    echo "{\"schema\": \"mystique-sim/app/1\", \"name\": \"llama3-8b\",
        \"classes\": [{\"name\": \"all\", \"share\": 1, $tokens}],
        \"stages\": {\"model\": {\"kind\": \"llm\", \"model\": \"llama3-8b\", $stage}}}" >"$folder/app.json"
    run serve "$folder/app.json" --rate 5 "${some[@]}"
    want_rc 0
    cp "$folder/out" "$folder/want"
    run serve "$@" --rate 5 --set name=llama3-8b "${some[@]}"
    want_rc 0
    cmp -s "$folder/out" "$folder/want" || complain "another answer than of the application"
}

as_written '"platform": "h100"' llama3-8b --platform h100
as_written '"platform": "h100"' meta-llama/Meta-Llama-3-8B-Instruct --platform h100 --set model=llama3-8b
as_written '"platform": "a100", "engine": "sglang", "parallel": {"tp_size": 2},
    "batching": {"max_running_requests": 7}' \
    llama3-8b --platform a100 --set engine=sglang --set tp_size=2 --set max_running_requests=7
tokens='"input_tokens": 300, "output_tokens": 9' as_written '"platform": "h100"' \
    llama3-8b --set platform=h100 --input-tokens 300 --output-tokens 9
# A file that describes a model, from where the program runs.
mkdir -p "$folder/models"
cp "$SOURCE_DIR/data/models/llama3-8b.json" "$folder/models/mine.json"
cd "$folder"
as_written '"platform": "h100"' models/mine.json --platform h100 --set model=llama3-8b
run serve models/mine.json --platform h100 --rate 5 "${some[@]}"
want_rc 0
# Of an application's file members are by their paths.
run serve app.json --rate 5 --set stages.model.platform=a100 "${some[@]}"
want_rc 0
want_out 'llama3-8b on a100'

# Clients: the rate is that of what ends, of ten requests of each at least.
run serve llama3-8b --platform h100 --concurrency 4 --num-requests 40
want_out 'requests/s of 4 clients are served'
run serve llama3-8b --platform h100 --concurrency 200 --output-tokens 2
want_out 'all: 2000 requests'

# Answers end where the model's context does: a token takes what it takes, not a share
# of what was asked for; and what no request is served with is not served.
per_token() { # OUTPUT-TOKENS
    run serve llama3-8b --platform h100 --rate 0.05 --num-requests 20 --output-tokens "$1" --json
    want_rc 0
    sed -n 's/.*"tpot_ms": {"mean": \([0-9]*\).*/\1/p' "$folder/out" | head -1
}
within=$(per_token 7168)
[ "$within" -gt 3 ] || complain "a token in '$within' ms"
[ "$(per_token 1000000)" = "$within" ] || complain "tokens that are not made are counted"
run serve llama3-8b --platform h100 --rate 0.05 --num-requests 20 --output-tokens 1000000
want_out "20 answers of all are cut: with their prompts they have more tokens than an LLM takes"
run serve llama3-8b --platform h100 --rate 1 --num-requests 20 --input-tokens 100000
want_out "1 requests/s (1.168 arrived): no request ever ends"

run serve llama3-8b --rate 5
want_rc 2
want_err "want --platform, the GPU that serves the model"
run serve lama3-8b --platform h100 --rate 5
want_err "no model 'lama3-8b' (did you mean llama3-8b?)"
run serve gone.json --platform h100 --rate 5
want_rc 3
want_err "gone.json: cannot be opened"
run serve llama3-8b --platform h100
want_rc 3
want_err "llama3-8b: arrivals.rate is missing, want a number above 0, or --rate"
run serve llama3-8b --platform h100 --rate 5 --set tpp=2
want_err "llama3-8b: stages.model.tpp is not known"
for wrong in =3 .tp=2 tp; do
    run serve llama3-8b --platform h100 --rate 5 --set "$wrong"
    want_err "option '--set' is '$wrong', want a member"
done
run serve llama3-8b --platform h100 --rate 5 --input-tokens 0
want_rc 2
want_err "option '--input-tokens' is '0', want tokens, from 1"
run serve app.json --platform h100
want_rc 2
want_err "app.json is an application: want --set stages.STAGE.platform=NAME"
finish
