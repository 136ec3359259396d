#!/usr/bin/env bash
# The time from one iteration to the next where the host runs ahead of the GPU.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || exit 77

# trace FILE STEPS [CUT]: each step launches ten kernels of 100 us in 300 us; of
# the last step CUT launches are recorded without their kernels.
trace() {
    python3 - "$@" <<'PYTHON'
import json, sys

steps, cut = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
events, free, n = [], 0, 0

def add(cat, name, ts, dur, tid, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": tid // 100,
                   "tid": tid, "ts": ts, "dur": dur, "args": args})

for step in range(steps):
    begin = 1000 + 300 * step
    add("user_annotation", f"ProfilerStep#{step}", begin, 300, 101)
    for i in range(10):
        n += 1
        at = begin + 30 * i
        add("cpu_op", "aten::mm", at, 29, 101)
        add("cuda_runtime", "cudaLaunchKernel", at + 10, 5, 101, correlation=n)
        if step == steps - 1 and i >= 10 - cut:
            continue
        start = max(free, at + 16)
        free = start + 100
        add("kernel", "gemm", start, 100, 7, correlation=n, stream=7, device=0,
            grid=[64, 1, 1], block=[256, 1, 1])
json.dump({"schemaVersion": 1, "traceEvents": events,
           "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB",
                                 "numSms": 108}]}, open(sys.argv[1], "w"))
PYTHON
}

# period WANT TEXT ARGUMENT...: predicted and measured period within 0.5 % of
# WANT (predicted, or predicted/measured), TEXT: states and what is busiest.
period() {
    local want=$1 text=$2
    shift 2
    run --json "$@"
    want_rc 0
    python3 - "$folder/out" "$want" "$text" <<'PYTHON' || complain "no period $want, $text"
import json, sys

p = json.load(open(sys.argv[1]))
wants = [float(x) for x in sys.argv[2].split("/")]
us, of = p["period_us"], p["period_of"]
got = [us["predicted"], us["measured"]][:len(wants)]
text = " ".join([i["state"] for i in p["iterations"]]
                + [of["busiest_kind"], of["busiest"]])
assert all(abs(g / w - 1) < 0.005 for g, w in zip(got, wants)), (us, wants)
assert us["low"] <= us["predicted"] <= us["high"]
assert us["predicted"] >= of["busiest_us"] * (1 - 1e-9), of
assert text == sys.argv[3], text
PYTHON
}

# The GPU needs 1000 us, whatever the host takes; a host ten times faster, and
# one that is slower than the GPU.
trace "$folder/five.json" 5
all='first run-up run-up run-up run-up'
period 1000/1000 "$all compute stream 7" "$folder/five.json"
period 1000 "$all compute stream 7" --scale host=0.1 "$folder/five.json"
period 500 "$all compute stream 7" --scale kernels=0.5 "$folder/five.json"
period 1200 "$all host thread 101" --scale host=4 "$folder/five.json"
run "$folder/five.json"
want_out 'period               1.000 ms   measured 1.000 ms'
want_out 'host 300.0 us, GPU 1.000 ms; bound by stream 7 (compute), 100.0 % busy'
want_out 'without ProfilerStep#0 (first)'

# One iteration by itself: its GPU work follows that of one like it.
trace "$folder/one.json" 1
period 1000/1000 'first compute stream 7' "$folder/one.json"
period 1000 'first compute stream 7' --scale host=0.1 "$folder/one.json"
period 300 'first host thread 101' --scale kernels=0.1 "$folder/one.json"
run --json --iteration 3 "$folder/five.json"
want_out '"period_us": {"predicted": 1000'

# The recording ends before the GPU has done the last step, which is left out.
trace "$folder/cut.json" 4 3
period 1000/1000 'first run-up run-up compute stream 7' \
    "$folder/cut.json"

# A prediction says what it changes, and against what.
run "$folder/five.json"
[[ $out == *error* && $out != *change* ]] || complain "want error, not change"
run --json "$folder/five.json"
want_out '"scenario": null'
run --scale kernels=0.5 "$folder/five.json"
want_out 'as traced (costs: measured), --scale kernels=0.5'
want_out 'traced 1.000 ms -> predicted 500.0 us, x 0.500'
want_out 'traced 1.000 ms, change -50.0 %'
[[ $out != *error* ]] || complain "want change, not error"
run --json --scale kernels=0.5 "$folder/five.json"
want_out '"options": ["--scale", "kernels=0.5"], "baseline": "traced", "baseline_us": 1000, "ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5'
run --csv --scale kernels=0.5 "$folder/five.json"
want_out ",'--scale kernels=0.5" # a text, no formula
run --timeline "$folder/t.json" --scale kernels=0.5 "$folder/five.json"
grep -q '"options": \["--scale", "kernels=0.5"\]' "$folder/t.json" ||
    complain 'no options in the timeline'

# Model costs: what both share cancels, to the digit. The baseline is the same
# job by the same costs.
run --json --platform a100 --costs model --scale kernels=0.5 "$folder/five.json"
want_out '"baseline": "predicted"'

# Another GPU: against the traced run, which has no error there.
run --platform h100 "$folder/five.json"
want_out 'traced 1.000 ms -> predicted'
[[ $out != *error* ]] || complain "want change, not error"

# What selects nothing: a pattern is an error that names what is near, a class a
# warning. Names are those of reports.
usage_error "near it are 'aten::mm'" --scale op:aten::nm=0.5 "$folder/five.json"
usage_error "'host:nosuch*=2' selects nothing" --scale 'host:nosuch*=2' \
    "$folder/five.json"
run --scale copies=0.5 "$folder/five.json"
want_rc 0
want_out "warning: '--scale copies=0.5' has no effect"
run --json --scale host:aten::mm=10 "$folder/five.json"
want_rc 0
run --scale op:aten::mm=0.5 "$folder/five.json"
want_out 'x 0.500'
sample=${SOURCE_DIR:?the source folder}/data/traces/gpt2
run --json --platform a100 --scale op:MmBackward0=0.5 "$sample"
want_rc 0
short=$(sed -n 's/.*"scenario": {\(.*\)}.*/\1/p' <<<"$out" | sed 's/.*baseline//')
run --json --platform a100 --scale 'op:*: MmBackward0=0.5' "$sample"
want_out "$short"
run --json --platform a100 --scale 'op:MmBack...0=0.5' "$sample"
want_out "$short"
run --platform a100 --index-skew 1 "${sample%/*}/vit" # which looks nothing up
want_out 'warning: the options change no duration of this job'
run --peers fixed "$folder/five.json"
want_out "warning: '--peers fixed' has no effect: no rank"
run --peers fixed --costs model --platform a100 "$folder/five.json"
want_out "warning: '--peers fixed' has no effect: only a run"

# Several platforms: one table, best first; a mistyped name before any trace.
run --json --platform v100,h100,a100 "$sample"
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain 'the platforms do not add up'
import json, sys

d = json.load(open(sys.argv[1]))
rows, ratios = d["platforms"], d["ratios_to_best"]
assert d["schema"] == "mystique-sim/predictions/1"
us = [r["period_us"]["predicted"] for r in rows]
assert us == sorted(us) and len(us) == 3
assert {r["platform"] for r in rows} == {"v100", "h100", "a100"}
for u, r in zip(us, ratios):
    assert abs(r["ratio"] - u / us[0]) < 1e-9 and r["low"] <= r["ratio"], r
    assert r["ratio"] <= r["high"]
PYTHON
run --json --platform a100 "$sample"
alone=$(grep -m1 '"period_us"' <<<"$out")
run --json --platform a100,v100,h100 "$sample"
want_out "$alone"
run --platform h100,a100 "$sample"
want_out 'on 2 platforms, best first'
run --csv --platform h100,a100 "$sample"
want_out 'platform,costs,period_us,'
# All stand beside one host, which cancels in a ratio of a job that it bounds.
run --json --platform a100,l40s "$SOURCE_DIR/data/traces/vit"
python3 - "$folder/out" <<'PYTHON' || complain 'a ratio is as unsure as its host'
import json, math, sys

d = json.load(open(sys.argv[1]))
best, other = d["platforms"]
r = d["ratios_to_best"][1]
share = other["breakdown_us"]["host"] / other["period_us"]["predicted"]
sides = math.log(r["high"] / r["ratio"]), math.log(r["ratio"] / r["low"])
assert share > 0.5 and max(sides) < 0.5, (share, r)
PYTHON
# What it is counted by: one price for all, or each its own in the order typed.
want_price() { # PRICE, PLATFORM=USD...: of 1000 iterations, as one GPU has it
    run --platform a100,h100 --scale host=0 --price "$1" --per-iteration '4 samples' "$sample"
    want_rc 0
    want_out "samples/s"
    for price in "${@:2}"; do
        cost=$("$sim" --platform "${price%=*}" --scale host=0 --price "${price#*=}" "$sample" |
            sed -nE 's/^ *cost +([0-9.e-]+) USD.*/\1/p')
        grep -Eq "^ *${price%=*} .* $cost\$" "$folder/out" ||
            complain "not $cost USD on ${price%=*}: $out"
    done
}
want_price 2 a100=2 h100=2
want_price 1.25,3 a100=1.25 h100=3
run --csv --platform a100,h100 --power 300 "$sample"
want_out ',per_second,cost_usd,energy_joules'
usage_error "option '--price' has 2 numbers for 1 platform" --price 1,2 \
    --platform a100 "$sample"
usage_error "option '--power' has 3 numbers for 2 platforms" --power 1,2,3 \
    --platform a100,h100 "$sample"
usage_error "option '--price' is '1,', want" --price 1, --platform a100 "$sample"
run --platform a100,h10O no-such-file
want_rc 2
want_err "unknown platform 'h10O', did you mean 'h100'?"
usage_error 'a name twice' --platform h100,h100 "$sample"
usage_error 'an empty name' --platform h100, "$sample"
usage_error 'got --chart with several platforms' --chart x.svg \
    --platform h100,a100 "$sample"
# The verdict: what brings most if it takes half the time; it is what --scale
# says. A job without GPU work says so.
run --platform a100 "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
[[ $out == "GPU-bound: twice as fast kernels would save "[1-4]*" %, host "* ]] ||
    complain "another first line: ${out%%$'\n'*}"
run --platform a100 --scale kernels=0.5 --json "$SOURCE_DIR/data/traces/gpt2"
cp "$folder/out" "$folder/half.json"
run --platform a100 --json "$SOURCE_DIR/data/traces/gpt2"
python3 - "$folder/out" "$folder/half.json" <<'PYTHON' || complain "sensitivity"
import json, sys

base, half = (json.load(open(f)) for f in sys.argv[1:])
rows = {r["select"]: r for r in base["sensitivity"]}
assert "communication" not in rows and rows["kernels"]["factor"] == 0.5, rows
assert rows["kernels"]["period_us"] == half["period_us"]["predicted"], rows
for r in rows.values():
    assert abs(r["ratio"] * base["period_us"]["predicted"]
               - r["period_us"]) < 1e-3, r
    assert r["ratio"] <= 1.01, r
PYTHON
# What a user counts by: 8 ranks for 3,600 USD an hour, 500 W each.
run --platform a100 --ranks 8 --per-iteration '32 samples' --price 3600 \
    --power 500 --json "$SOURCE_DIR/data/traces/dlrm-ddp-2ranks"
want_rc 0
python3 - "$folder/out" <<'PYTHON' || complain "rates"
import json, math, sys

p = json.load(open(sys.argv[1]))
s = p["period_us"]["predicted"] * 1e-6
near = lambda a, b: math.isclose(a, b, rel_tol=1e-6)
assert near(p["throughput"]["per_second"], 32 / s), p["throughput"]
assert p["throughput"]["unit"] == "samples"
assert p["throughput"]["low_per_second"] <= p["throughput"]["per_second"]
assert near(p["cost_usd"], 8 * s) and near(p["energy_joules"], 4000 * s)
PYTHON
run --platform a100 --per-iteration 32 --price 2 "$SOURCE_DIR/data/traces/gpt2"
want_out $'\n  throughput  '
want_out ' USD for 1000 iterations on 1 GPU'
usage_error "option '--per-iteration' is '0', want" --per-iteration 0 x
usage_error "option '--per-iteration' is '32x', want" --per-iteration 32x x
usage_error "option '--price' is '-1', want US dollars" --price -1 x
usage_error "option '--power' is '5kW', want the mean power" --power 5kW x

run "$SOURCE_DIR/data/traces/dlrm-ddp-2ranks"
want_rc 0
[[ $out == "no GPU work in the traces: --platform NAME"* ]] ||
    complain "another first line: ${out%%$'\n'*}"

# Two files: the ratio is the one that the second was saved with.
"$sim" --json --platform a100 "$folder/five.json" >"$folder/a.json" 2>/dev/null
"$sim" --json --platform a100 --scale kernels=0.5 "$folder/five.json" \
    >"$folder/b.json" 2>/dev/null
run compare "$folder/a.json" "$folder/b.json"
want_out 'the period of B is x 0.500 that of A'
want_out '--scale kernels=0.5'
[[ $out != *overlap* ]] || complain 'want a ratio, not overlap'

finish
