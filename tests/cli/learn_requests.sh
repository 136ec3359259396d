#!/usr/bin/env bash
# learn --requests: the constants of an engine from a measured run, and what
# serve --fit makes of them. The run is one of this program with another host.
. "$(dirname "$0")/hold.bash"
hold_runs
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

app=$folder/app.json
cat >"$app" <<'EOF'
{"schema": "mystique-sim/app/1", "name": "chat",
 "classes": [{"name": "all", "share": 1, "input_tokens": {"lognormal": {"mean": 300, "cv": 1}},
              "output_tokens": {"lognormal": {"mean": 60, "cv": 0.5}}}],
 "arrivals": {"process": "poisson", "rate": 8},
 "stages": {"llm": {"kind": "llm", "model": "llama3-8b", "platform": "h100", "engine": "vllm", "precision": "bf16"}},
 "flow": {"start": "llm", "edges": []}}
EOF

# The shipped law with a host that takes three times as long, and prompts that
# take half as long again.
python3 - "$MSIM_DATA/laws/serving.json" "$folder/other.json" <<'EOF'
import json, sys
law = json.load(open(sys.argv[1]))
engine = law["engines"]["vllm"]
engine["host_us"] *= 3
for piece in engine:
    if piece.endswith("_of_many") or piece.endswith("_of_prompts"):
        engine[piece] *= 1.5
json.dump(law, open(sys.argv[2], "w"))
EOF
log=$folder/log.csv
run serve "$app" --num-requests 120 --fit "$folder/other.json" --csv
want_rc 0
cp "$folder/out" "$log"

run learn "$app" --requests "$log" -o "$folder/fit.json" --json
want_rc 0
cp "$folder/out" "$folder/found"
python3 - "$folder/found" "$folder/fit.json" <<'EOF' || complain "what was changed is not found"
import json, sys
found, fit = (json.load(open(path)) for path in sys.argv[1:])
assert found["requests"] == 120 and found["held_back"] == 36, found
assert 2 < found["factors"]["host"] < 4, found
assert found["error"]["tpot"] < 0.03 < found["error_before"]["tpot"], found
assert found["error"]["e2e"] < 0.03, found
assert fit["rows"]["models"] == ["llama3-8b"] and fit["rows"]["gpus"] == ["h100"], fit["rows"]
EOF

# The same again is the same to the byte, and reads as it was written.
run learn "$app" --requests "$log" -o "$folder/again.json"
want_rc 0
cmp -s "$folder/fit.json" "$folder/again.json" || complain "two fits of one run differ"
run serve "$app" --num-requests 20 --fit "$folder/fit.json" --csv
want_rc 0

refused() { # CODE WORDS ARGUMENT...
    local code=$1 words=$2
    shift 2
    run learn "$@"
    want_rc "$code"
    want_err "$words"
}
head -10 "$log" >"$folder/few.csv"
refused 3 "9 requests have e2e_ms, want 20 at least" "$app" --requests "$folder/few.csv" -o "$folder/x.json"
printf 't_s,input_tokens,output_tokens\n0,5,5\n' >"$folder/arrivals.csv"
refused 3 "0 requests have e2e_ms" "$app" --requests "$folder/arrivals.csv" -o "$folder/x.json"
sed 's/"kind": "llm", "model": "llama3-8b", "platform": "h100", "engine": "vllm", "precision": "bf16"/"kind": "measured", "service": 5/' \
    "$app" >"$folder/no_llm.json"
refused 3 "0 stages are of kind llm, want one" "$folder/no_llm.json" --requests "$log" -o "$folder/x.json"
refused 2 "exclude each other" "$app" --requests "$log" --runs "$folder" -o "$folder/x.json"
[ ! -e "$folder/x.json" ] || complain "a refused fit leaves a file"
finish
