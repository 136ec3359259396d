#!/usr/bin/env bash
# What predict writes: JSON as the contract has it, CSV, a timeline, a chart.
. "$(dirname "$0")/lib.bash"

sample=${SOURCE_DIR:?the source folder}/data/traces/dlrm-ddp-2ranks/kineto

# checked WHAT: a Python program on standard input judges $folder/out.
checked() {
    command -v python3 >/dev/null || return 0
    python3 - "$folder/out" || complain "$1 is not as it should be"
}

run --platform a100 --json "$sample"
want_rc 0
cp "$folder/out" "$folder/first"
checked JSON <<'PYTHON'
import json, math, sys

p = json.load(open(sys.argv[1]))
keys = ["schema", "version", "platform", "costs", "ranks", "iterations",
        "iteration_us", "period_us", "scenario", "kernel_us", "communication_us",
        "external_wait_us", "breakdown_us", "overlapped_us", "coverage",
        "memory_bytes", "flops", "mfu", "ops", "ranks_detail", "critical_path", "warnings"]
assert list(p)[:len(keys)] == keys, list(p)
assert p["schema"] == "mystique-sim/prediction/1"
assert p["platform"] == "a100" and p["costs"] == "model", p["costs"]
assert p["ranks"] == 2 and len(p["ranks_detail"]) == 2
for f in [p["iteration_us"], p["kernel_us"]]:
    assert 0 < f["low"] <= f["predicted"] <= f["high"], f

def close(a, b, what):
    assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-3), (what, a, b)

mean = sum(i["predicted_us"] for i in p["iterations"]) / len(p["iterations"])
close(mean, p["iteration_us"]["predicted"], "mean of iterations")
kernels = sum(o["predicted_us"] for o in p["ops"] if not o["communication"])
close(kernels, p["kernel_us"]["predicted"], "sum of ops")
for r in p["ranks_detail"]:
    close(sum(r["breakdown_us"].values()), r["iteration_us"]["predicted"],
          "breakdown of a rank")
slowest = max(r["iteration_us"]["predicted"] for r in p["ranks_detail"])
close(sum(p["breakdown_us"].values()), slowest, "breakdown")
times = [o["predicted_us"] for o in p["ops"]]
assert times == sorted(times, reverse=True)
PYTHON

# The same bytes again, whatever the number of threads.
for threads in 1 2; do
    run --platform a100 --json --threads "$threads" "$sample"
    cmp -s "$folder/out" "$folder/first" || complain "the bytes differ"
done

run --platform a100 --csv "$sample"
want_rc 0
checked CSV <<'PYTHON'
import csv, sys

rows = list(csv.reader(open(sys.argv[1], newline="")))
assert rows[0] == ["name", "calls", "predicted_us", "low_us", "high_us",
                   "measured_us", "model", "source", "options",
                   "communication", "limit", "peak_share", "slack_us", "flops",
                   "bytes", "intensity", "flops_per_second",
                   "bytes_per_second", "peak_flops_per_second"], rows[0]
assert len(rows) > 10
for row in rows[1:]:
    assert len(row) == 19 and row[8] == "" and float(row[2]) >= 0, row
PYTHON

# Files are written beside the report.
run --platform a100 --timeline "$folder/run.json.gz" "$sample"
want_rc 0
want_out " on a100 (costs: model)"
gzip -dc "$folder/run.json.gz" >"$folder/out" || complain "no timeline"
checked "the timeline" <<'PYTHON'
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
assert names == {"rank 0", "rank 1", "critical path"}, names
threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
assert len(spans) > 100
for e in spans:
    assert (e["pid"], e["tid"]) in threads and e["dur"] >= 0, e
assert any(e["cat"] == "kernel" for e in spans)
PYTHON

if command -v gnuplot >/dev/null; then
    run --platform a100 --chart "$folder/run.svg" "$sample"
    want_rc 0
    grep -q '</svg>' "$folder/run.svg" || complain "no picture"
    run --platform a100 --chart "$folder/run.png" "$sample"
    want_rc 0
    [ "$(head -c 4 "$folder/run.png" | tail -c 3)" = PNG ] ||
        complain "no picture"
fi

# What cannot be written is said, and leaves nothing half done.
run --platform a100 --timeline "$folder/absent/run.json" "$sample"
want_rc 3
want_no_out
want_err "$folder/absent/run.json: cannot write: No such file or directory"
echo old >"$folder/kept.svg"
last="--chart kept.svg without gnuplot"
PATH=$folder "$sim" --platform a100 --chart "$folder/kept.svg" "$sample" \
    >"$folder/out" 2>"$folder/err"
rc=$?
err=$(cat "$folder/err")
want_rc 3
want_err "cannot run 'gnuplot': No such file or directory; charts need it"
[ "$(cat "$folder/kept.svg")" = old ] || complain "the old chart is gone"

# Each kernel has the arrow of its launch, from a bar of the host.
run --platform a100 --timeline "$folder/launches.json" "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
cp "$folder/launches.json" "$folder/out"
checked "the arrows of launches" <<'PYTHON'
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
flows = [e for e in events if e.get("cat") == "ac2g"]
ends = {e["id"]: e for e in flows if e["ph"] == "f"}
starts = {e["id"]: e for e in flows if e["ph"] == "s"}
assert ends.keys() == starts.keys() and len(flows) == 2 * len(ends)
kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")
           and "slack_us" in e.get("args", {})]
assert len(kernels) > 50
assert sorted((e["tid"], e["ts"]) for e in kernels) == sorted(
    (e["tid"], e["ts"]) for e in ends.values())
bars = [e for e in events if e["ph"] == "X" and e.get("cat") == "cpu_op"]
for flow in starts.values():
    assert flow["ts"] <= ends[flow["id"]]["ts"]
    assert any(bar["tid"] == flow["tid"] and
               bar["ts"] <= flow["ts"] <= bar["ts"] + bar["dur"] for bar in bars), flow
PYTHON

# --explain takes names as reports show them, and tells of the kernels that an
# operator's own operators launch.
run --platform a100 --explain AddmmBackward0 "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
want_out "aten::mm, model: gemm on a100"
want_out "predicted: "
run --platform a100 --explain aten::mm "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
want_out "x model: gemm on a100"
run --platform a100 --explain aten::mm --json "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
checked "JSON of --explain" <<'PYTHON'
import json, sys

answer = json.load(open(sys.argv[1]))
assert answer["schema"] == "mystique-sim/explanation/1" and answer["asked"] == "aten::mm"
assert answer["calls"] == sum(w["calls"] for w in answer["works"]) > 3, answer["calls"]
for work in answer["works"]:
    assert work["model"] == "gemm" and work["flops"] > 0 and work["bytes"] > 0
    assert work["low_us"] < work["predicted_us"] < work["high_us"]
    what = [line["what"] for line in work["because"]]
    assert {"law", "inputs", "rows", "predicted"} <= set(what), what
    said = [line["text"] for line in work["because"] if line["what"] == "predicted"][0]
    assert abs(float(said.split(" us")[0]) / work["predicted_us"] - 1) < 1e-3, said
PYTHON
for other in --csv --markdown --brief; do
    usage_error "got $other with --explain" \
        --platform a100 --explain aten::mm $other "$SOURCE_DIR/data/traces/gpt2"
done
run --platform a100 --explain aten::view "$SOURCE_DIR/data/traces/gpt2"
want_rc 2
want_err "launches no kernel"

# Look-ups of few rows again and again come from the cache.
run --platform p4 --costs model --json "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
cp "$folder/out" "$folder/uniform"
run --platform p4 --costs model --index-skew 2 --json \
    "$SOURCE_DIR/data/traces/gpt2"
want_rc 0
checked "JSON of skewed look-ups" <<PYTHON
import json, sys

kernels = [json.load(open(f))["kernel_us"]["predicted"]
           for f in (sys.argv[1], "$folder/uniform")]
assert kernels[0] < kernels[1], kernels
PYTHON
run --platform p4 --index-skew -1 "$SOURCE_DIR/data/traces/gpt2"
want_rc 2
want_err "option '--index-skew' is '-1', want a number from 0"

# What a host-bound job rests on stands in its report.
run --platform a100 "$SOURCE_DIR/data/traces/resnet"
[[ $out =~ host\ +generic\ +others\ take\ x\ 0\.[0-9]+\ to\ [1-9] ]] ||
    complain "the host is not named: $out"
run --platform a100 "$SOURCE_DIR/data/traces/dlrm-ddp-2ranks/kineto"
[[ $out =~ host\ +(traced|generic)\ +(in another run it takes|others take)\ x ]] ||
    complain "the host is not named: $out"

# What a CPU runs otherwise than a GPU, and no execution trace puts right, is named.
run --platform a100 "$SOURCE_DIR/data/traces/bert/kineto"
want_err "'Optimizer.step#AdamW.step' was recorded on a CPU, where it goes parameter by parameter"
want_err "'aten::_scaled_dot_product_attention_math' was recorded on a CPU, where it goes in parts"
run --platform a100 "$SOURCE_DIR/data/traces/bert"
[[ $err != *"recorded on a CPU"* ]] || complain "it was put right: $err"

finish
