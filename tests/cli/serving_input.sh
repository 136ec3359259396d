#!/usr/bin/env bash
# Files of serving that are wrong: each is refused with exit code 3, and the
# member's path or the line; names in them cannot drive a terminal.
. "$(dirname "$0")/hold.bash"
hold_runs

app=$folder/app.json

# put SED_SCRIPT: a good application, changed.
put() {
    sed "$1" >"$app" <<'END'
{"schema": "mystique-sim/app/1", "name": "n",
 "slo": [{"class": "read", "metric": "e2e", "percentile": 99, "limit_ms": 80}],
 "classes": [{"name": "read", "share": 0.7}, {"name": "write", "share": 0.3}],
 "arrivals": {"process": "poisson", "rate": 50},
 "stages": {
  "a": {"kind": "measured", "workers": 4, "call": "rpc", "service": 2},
  "b": {"kind": "tool", "service": {"lognormal": {"mean": 3, "cv": 1}}}},
 "flow": {"start": "a", "edges": [{"from": "a", "to": "b", "prob": 0.5}]}}
END
}

refuse() { # SED_SCRIPT MESSAGE
    put "$1"
    run serve "$app" --num-requests 10
    want_rc 3
    want_err "$app: $2"
    want_no_out
}

put ''
run serve "$app" --num-requests 10
want_rc 0

refuse 's/"workers"/"wrokers"/' \
    'stages.a.wrokers is not known, did you mean workers?'
refuse 's/"workers": 4/"workers": 0/' 'stages.a.workers is 0, want'
refuse 's/"workers": 4/"workers": "4"/' 'stages.a.workers is "4", want'
refuse 's/0.3}/0.4}/' 'classes[].share add up to 1.1, want 1'
refuse 's/"prob": 0.5/"prob": 1.5/' 'flow.edges[0].prob is 1.5, want'
refuse 's/"prob": 0.5/"prob": -0.5/' 'flow.edges[0].prob is -0.5, want'
refuse 's/"service": 2/"service": -2/' 'stages.a.service is -2, want'
refuse 's/"mean": 3/"mean": -3/' 'stages.b.service.lognormal.mean is -3, want'
refuse 's/: 99,/: 0.99,/' 'slo[0].percentile is 0.99, want a number from 50 to 99.999: 0.99 is meant as 99'
refuse 's/: 99,/: 100,/' 'slo[0].percentile is 100, want'
refuse 's/: 99,/: 49,/' 'slo[0].percentile is 49, want'
refuse 's/"class": "read"/"class": "gold"/' 'slo[0].class is "gold", want'
refuse 's/"to": "b"/"to": "c"/' 'flow.edges[0].to is "c", want'
refuse 's/"start": "a"/"start": "c"/' 'flow.start is "c", want'
refuse 's/"prob": 0.5}/}, {"from": "b", "to": "a"}/; s/"b", }/"b"}/' \
    "flow.edges lead from stage 'a' back to it"
refuse 's/"rate": 50/"rate": 0/' 'arrivals.rate is 0, want'
refuse 's/"rate": 50/"rat": 50/' 'arrivals.rat is not known, did you mean rate?'
refuse 's/"poisson"/"pareto"/' 'arrivals.process is "pareto", want'
refuse 's/"measured"/"measure"/' 'stages.a.kind is "measure", want'
refuse 's/"rpc"/"grpc"/' 'stages.a.call is "grpc", want'
refuse 's,app/1,app/9,' 'schema is "mystique-sim/app/9", want'
refuse 's/"rate": 50/"rate": 1e400/' 'arrivals.rate is a number beyond'
# One call gives one answer; two edges of a step with three copies give four.
refuse 's/"prob": 0.5/"wait": 5/' 'flow.edges[0].wait is 5, want at most the calls of its step, 1'
put 's/"prob": 0.5}/"wait": 4}, {"from": "a", "to": "b", "copies": 3}/'
run serve "$app" --num-requests 10
want_rc 0
put 's/"prob": 0.5/"wait": 5, "copies": {"geometric": 2}/'
run serve "$app" --num-requests 10
want_rc 0
put 's/"service": 2/"service": {"samples": "no.csv"}/'
run serve "$app"
want_rc 3
want_err "$folder/no.csv: "

# Plans and logs.
put ''
echo '{"stages": {"search": {"replicas": 3}}}' >"$folder/plan.json"
run serve "$app" --plan "$folder/plan.json"
want_rc 3
want_err "$folder/plan.json: stages.search is not known"
printf 't_s\n0\n2\n1\n' >"$folder/log.csv"
run serve "$app" --requests "$folder/log.csv"
want_rc 3
want_err "$folder/log.csv: line 4: the time is 1 s and the line before has 2 s"
printf '{"t_s": 0}\n{"t_s": 1, "class": "gold"}\n' >"$folder/log.jsonl"
run serve "$app" --requests "$folder/log.jsonl"
want_rc 3
want_err "class 'gold' is none of the application's"

# All at once there is no rate; an LLM has no room for what has no end.
printf 't_s\n0\n0\n' >"$folder/log.csv"
run serve "$app" --requests "$folder/log.csv"
want_rc 0
[[ $out != *inf* && $out == *"come all at once"* ]] || complain "a rate of inf"
put 's/"kind": "tool", "service": .*1}}}}/"kind": "llm", "model": "llama3-8b", "platform": "h100", "batching": {"max_model_len": 8}}}/; s/"share": 0.7/"input_tokens": 20, &/'
run serve "$app" --num-requests 100
want_rc 0
[[ $out == *"requests of read never end: they have more tokens"* ]] ||
    complain "requests never end, and nothing says why"
# What never ends has no latency: it is in no mean, and in no line.
run serve "$app" --num-requests 100 --json
[[ $out == *'"unfinished": '[1-9]* && $out != *'"mean": '[-0-9][0-9][0-9][0-9][0-9]* ]] ||
    complain "a latency of what never ends: $out"
# Models of data/models state theirs: 8,192 tokens of a Llama 3.
sed -i 's/, "batching": {"max_model_len": 8}//; s/"input_tokens": 20/"input_tokens": 9000/' "$app"
run serve "$app" --num-requests 20
want_rc 0
[[ $out == *"requests of read never end: they have more tokens"* ]] ||
    complain "a Llama 3 takes 9,000 tokens"
# A context that is not stated has no limit, and is not said to have one.
sed -i 's/llama3-8b/nanotron-8b/' "$app"
run serve "$app" --num-requests 20 --json
want_rc 0
[[ $out == *', else what the KV cache holds"'* && $out != *'requests of read never end'* ]] ||
    complain "not the limit of tokens that is taken"
run size "$app" --rate 1 -o "$folder/plan.json"
want_rc 3
want_err "stages.b.kind is 'llm', want 'measured' or 'tool'"

# That of a config.json is stated; YaRN makes it longer.
cp "$app" "$folder/llm.json"
cat >"$folder/config.json" <<'END'
{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
 "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192}
END
sed -i 's/nanotron-8b/config.json/' "$app"
run serve "$app" --num-requests 20
want_rc 0
[[ $out == *'requests of read never end'* ]] || complain "9000 tokens in a context of 8192"
sed -i 's/8192}/8192, "rope_scaling": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 8192}}/' \
    "$folder/config.json"
run serve "$app" --num-requests 20
want_rc 0
[[ $out != *'requests of read never end'* ]] || complain "YaRN is not read"
# What is wrong with it is said of it, in the names of its kind.
sed -i 's/"num_hidden_layers": 32, //' "$folder/config.json"
run serve "$app" --num-requests 20
want_rc 3
want_err "$folder/config.json: num_hidden_layers is missing, want a whole number from 1 (stages.b of $app)"
cp "$folder/llm.json" "$app"
sed -i 's/"platform"/"parallel": {"pp": 100}, &/' "$app"
run serve "$app" --num-requests 20
want_rc 3
want_err "stages.b: pp is 100, want at most the model's 32 layers"
sed -i 's/"parallel"/"trace": "step.json", &/' "$app"
run serve "$app" --num-requests 20
want_rc 3
want_err 'stages.b.trace is "step.json", want {"prefill": [...], "decode": [...]}'
cp "$folder/llm.json" "$app"

# Simulated clocks end before their numbers do.
put 's/"service": 2/"service": 1e12/'
run serve "$app" --num-requests 100
want_rc 3
want_err "$app: the run goes on for more than 53 simulated days"
want_no_out
put 's/"kind": "tool", "service": .*1}}}}/"kind": "llm", "model": "llama3-8b", "platform": "h100", "disaggregated": {"prefill": {}, "decode": {}, "kv_transfer_gbps": 1e-12}}}/; s/"share": 0.7/"output_tokens": 9, &/'
run serve "$app" --num-requests 100
want_rc 3
want_err "more than 53 simulated days"

# Names of stages come back from counters, also those that spreadsheets take for
# formulas, and those with what CSV has for itself.
for name in =b ' b ' 'b,c' 'b\\"c' "'b" 'b;c' 'é✓' '#b'; do
    put "s/\"b\"/\"$name\"/g"
    run serve "$app" --num-requests 200 --counters "$folder/counters.csv"
    want_rc 0
    run watch "$app" --counters "$folder/counters.csv" --csv
    want_rc 0
done

# Names that cannot be seen are refused: one would clear the screen, one turn the
# direction of reading, and none would come back from counters.
unseen() { # JSON_ESCAPE FOUND
    refuse "s/\"b\"/\"b\\\\$1\"/g" "stages.b?: the name has $2 in it"
    refuse "s/\"write\"/\"w\\\\$1\"/g" "classes[1].name: the name has $2 in it"
    ! grep -q $'\x1b' "$folder/err" || complain "an escape sequence in a message"
}
unseen u001b U+001B
unseen n U+000A
unseen u2028 U+2028
unseen u202e U+202E
put 's/"to": "b"/"to": "\\u001b[2J"/'
run serve "$app"
want_rc 3
! grep -q $'\x1b' "$folder/err" || complain "an escape sequence in a message"

finish
