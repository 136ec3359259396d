#!/usr/bin/env bash
# Recorded passes of a stage's model ("trace"): a request takes what they took, of
# a model that is described and of one that is not; sizes are read off the trace or
# stated, and what cannot be such a pass is refused.
. "$(dirname "$0")/made.bash"

# Five steps of a given length on an A100, all of it one kernel, of a pass that
# looks up [samples, tokens] and attends to earlier keys.
make <<'PYTHON'
from made_steps import *

def passes(path, us, samples, tokens, keys, look_up=True):
    events = []
    for i in range(5):
        at = us * i
        sizes = [[32000, 768], [samples, tokens]] if look_up else [[64, 64]] * 2
        events += [mark(i + 1, at, us),
                   op("aten::embedding" if look_up else "aten::mm", at + 1, 5, sizes),
                   op("aten::scaled_dot_product_attention", at + 10, 5,
                      [[samples, 12, tokens, 64], [samples, 12, keys, 64],
                       [samples, 12, keys, 64]]) if look_up else [],
                   op("aten::mm", at + 20, 30, [[samples * tokens, 768], [768, 768]]),
                   call("cudaLaunchKernel", at + 25, 10, i + 1),
                   kernel("gemm", at + 30, us - 40, i + 1),
                   call("cudaDeviceSynchronize", at + 60, us - 65)]
    save(path, [e for e in events if e])

passes("encode.json", 6000, 8, 128, 128)
passes("prompt.json", 150000, 1, 512, 512)
passes("token.json", 40000, 1, 1, 512)
passes("tokens.json", 44000, 2, 1, 512)
passes("bare.json", 6000, 8, 128, 128, look_up=False)
PYTHON

# app FILE STAGE: one stage, eight requests at once of 128 tokens (an LLM: one).
app() {
    cat >"$folder/$1" <<END
{"schema": "mystique-sim/app/1", "classes": [{"name": "all", "share": 1,
   "input_tokens": ${3:-128}, "output_tokens": ${4:-1}}],
 "stages": {"it": {"platform": "a100", $2}}}
END
}
printf 't_s\n0\n0\n0\n0\n0\n0\n0\n0\n' >"$folder/eight.csv"
printf 't_s\n0\n' >"$folder/one.csv"

# at FIGURE VALUE: a mean of the class is that to a part in a thousand, ms.
at() {
    python3 - "$folder/out" "$@" <<'PYTHON' || complain "want a mean $1 of $2"
import json, sys
got = json.load(open(sys.argv[1]))["classes"]["all"][sys.argv[2]]["mean"]
assert abs(got / float(sys.argv[3]) - 1) < 1e-3, got
PYTHON
}
batched='"batching": {"max_batch": 8, "max_wait_ms": 1}'

# A batch as recorded takes what it took: beside a description, and without one.
app described.json "\"kind\": \"model\", \"model\": \"bert-base\", $batched,
    \"trace\": [\"encode.json\"]"
run serve "$folder/described.json" --requests "$folder/eight.csv" --json
want_rc 0
at e2e_ms 6
want_out 'by 1 recorded pass, 90 % within x 1.22'
app alone.json "\"kind\": \"model\", $batched, \"trace\": [\"encode.json\"]"
run serve "$folder/alone.json" --requests "$folder/eight.csv" --json
want_rc 0
at e2e_ms 6
want_out "$folder/encode.json on a100 as predict prices them, x 1 by 1 recorded pass"

# One request alone waits for the others for 1 ms, and is the pass reshaped to a batch
# of one, as `whatif` has it.
run whatif "$folder/encode.json" --platform a100 --grid batch=1 --json
alone=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["scenarios"][0]["period_us"]["predicted"] / 1e3 + 1)' "$folder/out")
[[ $alone == [1-5].* ]] || complain "a batch of one takes as long as one of eight: $alone"
run serve "$folder/alone.json" --requests "$folder/one.csv" --json
at e2e_ms "$alone"

# Prompts and tokens of an engine: the first token takes the recorded prompt, each
# other one the recorded step; stated sizes are as good as those of the trace.
engine='"kind": "llm", "model": "llama3-8b"'
app plain.json "$engine" 512 2
app engine.json "$engine, \"trace\": {\"prefill\": [\"prompt.json\"],
    \"decode\": [{\"file\": \"token.json\", \"context\": 512}]}" 512 2
run serve "$folder/plain.json" --requests "$folder/one.csv" --json
first=$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["classes"]["all"]
print(d["ttft_ms"]["mean"], d["tpot_ms"]["mean"])' "$folder/out")
run serve "$folder/engine.json" --requests "$folder/one.csv" --json
want_rc 0
at tpot_ms 40
at e2e_ms "$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["classes"]["all"]["ttft_ms"]["mean"] + 40)' "$folder/out")"
want_out 'by 1 recorded prompt, x '
want_out 'by 1 recorded step, 90 % within x 1.22'
python3 - "$folder/out" "$first" <<'PYTHON' || complain "the first token is not the recorded prompt's"
import json, sys
ttft = json.load(open(sys.argv[1]))["classes"]["all"]["ttft_ms"]["mean"]
arrival = ttft - 150 # the engine's own, before the first step
assert 0 <= arrival < float(sys.argv[2].split()[0]), ttft
PYTHON

# Two that disagree: their mean, and a wider interval.
app both.json "$engine, \"trace\": {\"decode\": [\"token.json\", \"tokens.json\"]}" 512 2
run serve "$folder/both.json" --requests "$folder/one.csv" --json
want_rc 0
want_out 'by 2 recorded steps'
! grep -q 'within x 1.22' "$folder/out" || complain "no width of what they disagree by"

# apps has them, too.
mkdir "$folder/suite"
cp "$folder/alone.json" "$folder/encode.json" "$folder/suite"
mv "$folder/suite/encode.json" "$folder/suite/.encode.json"
sed -i 's/"encode.json"/".encode.json"/' "$folder/suite/alone.json"
sed -i 's/"stages"/"arrivals": {"process": "constant", "rate": 1}, "stages"/' \
    "$folder/suite/alone.json"
run apps "$folder/suite/alone.json" --json
want_rc 0
python3 - "$folder/out" "$alone" <<'PYTHON' || complain "apps has another time"
import json, sys
p = json.load(open(sys.argv[1]))["points"][0]
assert abs(p["p50_ms"] / (float(sys.argv[2])) - 1) < 0.01, p
PYTHON

# refused NAME TEXT STAGE: by the stage, exit code 3.
refused() {
    app wrong.json "$2" 512 2
    run serve "$folder/wrong.json" --requests "$folder/one.csv"
    want_rc 3
    want_no_out
    want_err "$1"
}
refused 'stages.it.trace[0].file is missing, want a trace' \
    '"kind": "model", "model": "bert-base", "trace": [{"batch": 2}]'
refused 'stages.it.trace is "encode.json", want a list of 1 to 100 recorded passes' \
    '"kind": "model", "model": "bert-base", "trace": "encode.json"'
refused 'stages.it.trace is [], want a list of 1 to 100 recorded passes' \
    '"kind": "model", "model": "bert-base", "trace": []'
refused 'stages.it.trace.decode[1] is 7, want a trace'"'"'s file' \
    "$engine"', "trace": {"decode": ["token.json", 7]}'
refused 'stages.it.trace is ["token.json"], want {"prefill": [...], "decode": [...]}' \
    "$engine"', "trace": ["token.json"]'
refused 'did you mean decode' "$engine"', "trace": {"decod": ["token.json"]}'
refused 'stages.it.model is missing' '"kind": "llm", "trace": {"decode": ["token.json"]}'
refused 'stages.it.precision is "fp8", want none without "model"' \
    '"kind": "model", "precision": "fp8", "trace": ["encode.json"]'
refused 'gone.json' '"kind": "model", "model": "bert-base", "trace": ["gone.json"]'
refused 'the trace has a backward pass: it is a step of training' \
    '"kind": "model", "trace": ["'"$MSIM_DATA"'/traces/bert/et"]'
refused "does not tell its pass's batch" \
    '"kind": "model", "model": "bert-base", "trace": ["bare.json"]'
refused "does not tell its pass's tokens: want {\"file\"" \
    '"kind": "model", "model": "bert-base", "trace": [{"file": "bare.json", "batch": 8}]'
refused "does not tell its pass's context" "$engine"', "trace": {"decode":
    [{"file": "bare.json", "batch": 8, "tokens": 1}]}'
refused 'the pass has 512 tokens a sample: a step of decoding has one' \
    "$engine"', "trace": {"decode": ["prompt.json"]}'
refused 'of what the model takes for a batch of 1 with 1 tokens each' \
    '"kind": "model", "model": "bert-base", "trace": [{"file": "prompt.json", "tokens": 1}]'
refused 'is no step of an engine' "$engine"', "trace": {"prefill":
    [{"file": "prompt.json", "batch": 1000000}]}'

# Whoever fits the law to a measured run has no use for them.
printf 't_s,input_tokens,output_tokens,ttft_ms,e2e_ms\n0,512,2,100,130\n' >"$folder/run.csv"
run learn "$folder/engine.json" --requests "$folder/run.csv" -o "$folder/fit.json"
want_rc 3
want_err 'are read by serve and apps alone'

finish
