#!/usr/bin/env bash
# What a job holds, when, and what would make it fit where it does not.
. "$(dirname "$0")/lib.bash"

trace=$MSIM_DATA/traces/gpt2
run --platform a100 --json --timeline "$folder/t.json" "$trace"
want_rc 0
want_out '"fits": "yes"'
want_out '"cuda_context": 536870912, "nccl_buffers": 0'
if command -v python3 >/dev/null; then
    cp "$folder/out" "$folder/p.json"
    python3 - "$folder" <<'PY' || complain "the time line is not what it should be"
import json, sys
p = json.load(open(sys.argv[1] + "/p.json"))
m = p["memory_bytes"]
line = m["timeline"]
assert 10 < len(line) <= 200
assert max(sum(x["by"].values()) for x in line) == m["peak"]
assert any(x["by"] == m["by"] for x in line)
at = [x["at_us"] for x in line]
assert at == sorted(at) and at[-1] <= p["iteration_us"]["predicted"] * 1.001
assert line[-1]["operator"] is None and "would_fit" not in m
assert p["ranks_detail"][0]["memory_bytes"]["peak"] == m["peak"]
events = [e for e in json.load(open(sys.argv[1] + "/t.json"))["traceEvents"] if e["ph"] == "C"]
held = [e["args"]["bytes"] for e in events if e["name"] == "memory held"]
assert max(held) == m["peak"]
assert len(held) == sum(e["name"] == "memory" for e in events) == len(line)
PY
fi

# A GPU of 8 GB, and a batch that it cannot hold: the batch that is offered fits,
# and one more does not.
sizes() { # BATCH: a scenario with it on a P4
    printf '{"name": "%s", "changes": [{"gpu": "p4"}, {"batch": %s}]}' "$1" "$1"
}
printf '{"scenarios": [%s]}' "$(sizes 64)" >"$folder/large.json"
run whatif --platform a100 "$folder/large.json" "$trace"
want_rc 0
want_out "64 does not fit: needs"
want_out "at the peak: parameters "
[[ $out =~ would\ fit:\ batch\ ([0-9]+)\ instead\ of\ 64\ \(([0-9.]+)\ GiB\) ]] ||
    complain "no batch is offered: $out"
batch=${BASH_REMATCH[1]:-1} peak=${BASH_REMATCH[2]:-0}
printf '{"scenarios": [%s, %s]}' "$(sizes "$batch")" "$(sizes $((batch + 1)))" >"$folder/edge.json"
run whatif --platform a100 "$folder/edge.json" "$trace" --json
want_rc 0
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
a, b = [r["memory_bytes"] for r in json.load(sys.stdin)["scenarios"]]
assert a["needed"] <= a["capacity"] < b["needed"] and a["fits"] == b["fits"] == "edge", (a, b)
assert "%.2f" % (a["needed"] / 2**30) == sys.argv[1], (a, sys.argv[1])
assert not "would_fit" in a and any(w["fits"] for w in b["would_fit"])' "$peak" <"$folder/out" ||
        complain "batch $batch is not the largest: $out"
fi

# What is offered for recomputing is what the scenario itself holds.
printf '{"scenarios": [%s, {"name": "again", "changes": [{"gpu": "p4"}, {"batch": 1024}, {"recompute": "full"}]}]}' \
    "$(sizes 1024)" >"$folder/again.json"
run whatif --platform a100 "$folder/again.json" "$MSIM_DATA/traces/resnet" --json
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
a, b = [r["memory_bytes"] for r in json.load(sys.stdin)["scenarios"]]
way = [w for w in a["would_fit"] if w["change"] == "recompute all blocks"]
assert way and way[0]["peak"] == b["peak"], (way, b["peak"])' <"$folder/out" ||
        complain "recompute is not what it says: $out"
fi

# What is offered to ranks that share is what the scenario that asks for it holds,
# and the table has it, too.
printf '{"scenarios": [{"name": "ddp", "changes": [{"gpu": "p4"}, {"batch": 512}, {"world": 2}]},
 {"name": "zero", "changes": [{"gpu": "p4"}, {"batch": 512}, {"world": 2}, {"shard": "zero1"}]}]}' >"$folder/share.json"
run whatif --platform a100 "$folder/share.json" "$MSIM_DATA/traces/resnet" --json
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
a, b = [r["memory_bytes"] for r in json.load(sys.stdin)["scenarios"]]
way = [w for w in a["would_fit"] if w["change"] == "zero1"]
assert a["nccl_buffers"] > 0 and a["needed"] == a["reserved"] + a["cuda_context"] + a["nccl_buffers"], a
assert way and way[0]["peak"] == b["peak"], (way, b["peak"])' <"$folder/out" ||
        complain "zero1 is not what it says: $out"
fi
run whatif --platform a100 "$folder/share.json" "$MSIM_DATA/traces/resnet" --csv
want_out ",needed_bytes,capacity_bytes,measured_bytes,measured_reserved_bytes,fits,would_fit,reason"
[[ $(sed -n 3p "$folder/out") =~ ,no,.*batch\ [0-9]+\ instead\ of\ 512\ \([0-9.]+\ GiB\) ]] || complain "no way in the table: $out"

# The chart has the panel.
if command -v gnuplot >/dev/null; then
    run --platform a100 --chart "$folder/c.svg" "$trace"
    want_rc 0
    grep -q "optimizer state" "$folder/c.svg" || complain "no panel of memory"
fi
# What would make a batch fit is found in little memory and time, however large it is:
# more than three micro batches hold no more.
echo '{"scenarios": [{"name": "vast", "changes": [{"batch": 9999999}]}]}' >"$folder/vast.json"
last="a vast batch"
limit=()
[ "${MSIM_SANITIZE:-0}" = 1 ] || limit=(prlimit --as=3000000000)
"${limit[@]}" timeout 60 "$sim" whatif --platform a100 "$folder/vast.json" \
    "$MSIM_DATA/traces/gpt2" >"$folder/out" 2>"$folder/err" || complain "$(tail -n 1 "$folder/err")"
grep -Eq 'accumulate [0-9]+ micro batches of [0-9]+ \([0-9.]+ GiB\)' "$folder/out" ||
    complain "no way that fits: $(cat "$folder/out")"


# Of several GPUs, those whose memory is too small come last, however fast they are. A
# recording without a GPU was not misread where it needs more than one has: its work
# takes its time.
echo '{"scenarios": [{"name": "large", "changes": [{"batch": 290}]}]}' >"$folder/large.json"
run whatif --platform a100 "$folder/large.json" "$MSIM_DATA/traces/gpt2" --write "$folder/large"
want_rc 0
run --platform rtx-5090,h20,rtx-4090 "$folder/large/large" --csv
want_rc 0
[ "$(cut -d, -f1,20 "$folder/out" | tr '\n' ' ')" = "platform,fits h20,edge rtx-5090,no rtx-4090,no " ] ||
    complain "not in the order of what fits: $out"
run --platform rtx-5090,h20,rtx-4090 "$folder/large/large"
want_out "!: not expected to fit into the memory of the GPU"
run --platform h20 "$folder/large/large"
want_out "is not expected to fit: needs 92"
for platform in h100 rtx-4090; do
    run --platform $platform "$folder/large/large" --csv
    grep -E '^autograd::engine::evaluate_function: LogSoftmaxBackward0,' "$folder/out" | cut -d, -f3 >"$folder/$platform"
done
awk 'NR == FNR {us = $1; next} $1 < us {exit 1}' "$folder/h100" "$folder/rtx-4090" ||
    complain "more than the GPU's memory takes less: $(cat "$folder/h100" "$folder/rtx-4090")"
finish
