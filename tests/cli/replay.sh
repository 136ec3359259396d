#!/usr/bin/env bash
# replay: a step runs in the CPU backend; its trace is read by the other verbs;
# parts add up; broken inputs are refused before anything runs.
. "$(dirname "$0")/lib.bash"

[ -x "${BUILD_DIR:?the build folder}/mystique-prof-cpu" ] ||
    { echo "no mystique-prof-cpu: skipped"; exit 77; }
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# made FILE: a small model's step as an execution trace. Each argument is
# NAME:AxB,BxC, tensors of fp32; ^ in front: inside the operator before.
made() {
    python3 - "$@" <<'PYTHON'
import json, sys

def tensors(sizes, at):
    values = [[at + i, at + i, 0, 1, 4, "cpu"] for i in range(len(sizes))]
    return {"values": values, "shapes": sizes,
            "types": ["Tensor(float)"] * len(sizes)}

nodes = [{"id": 1, "name": "[pytorch|profiler|execution_trace|process]",
          "ctrl_deps": 1, "inputs": tensors([], 0), "outputs": tensors([], 0),
          "attrs": []}]
last = 1
for i, text in enumerate(sys.argv[2:]):
    name, sizes = text.lstrip("^").rsplit("=", 1)
    sizes = [[int(n) for n in s.split("x")] for s in sizes.split(",")]
    parent = last if text[0] == "^" else 1
    if text[0] != "^":
        last = i + 2
    nodes.append({"id": i + 2, "name": name, "ctrl_deps": parent,
                  "inputs": tensors(sizes, 100 * i + 100),
                  "outputs": tensors([[sizes[max(0, len(sizes) - 2)][0],
                                       sizes[-1][-1]]],
                                     100 * i + 150),
                  "attrs": [{"name": "tid", "type": "uint64", "value": 1}]})
json.dump({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "",
           "start_ts": 0, "nodes": nodes, "finish_ts": 1},
          open(sys.argv[1], "w"))
PYTHON
}

made "$folder/step.json" \
    aten::linear=64x128,128x256 ^aten::addmm=256,64x128,128x256 \
    aten::add=64x256,64x256 aten::relu=64x256 \
    aten::clone=512x256 aten::mm=64x256,256x32 aten::softmax=64x32 \
    ^aten::_softmax=64x32

# ---- text, JSON, trace -------------------------------------------------------

run replay --backend cpu --iterations 3 --warmup 1 "$folder/step.json"
want_rc 0
[[ $out =~ ^measured\ [0-9.]+\ ms\ a\ step\ \([0-9.]+\ to\ [0-9.]+,\ 3\ iterations ]] ||
    complain "no measured time on the first line: $out"
want_out "  native "
want_out "aten::mm"

run replay --backend cpu --iterations 4 --warmup 1 --json \
    -o "$folder/replayed.json.gz" "$folder/step.json"
want_rc 0
python3 - "$folder/out" "$folder/replayed.json.gz" <<'PYTHON' || complain "wrong JSON or trace"
import gzip, json, sys

d = json.load(open(sys.argv[1]))
assert d["schema"] == "mystique-sim/replay/1", d["schema"]
assert d["iterations"] == 4 == len(d["iterations_us"]), d
assert d["warm_up"] == 1 and d["backend"] == "cpu", d
names = [o["name"] for o in d["operators"]]
assert names == ["aten::addmm", "aten::add", "aten::relu", "aten::clone",
                 "aten::mm", "aten::_softmax"], names
assert [o["node"] for o in d["operators"]] == [3, 4, 5, 6, 7, 9], d
assert all(o["us"] > 0 and o["low_us"] <= o["high_us"] for o in d["operators"])
total = d["operators_us"]
beside = json.load(gzip.open(sys.argv[2]))["mystiqueSystem"]
assert beside == d["system"] and "cpu_us" in beside, beside
for parts in ("operators", "coverage", "families"):
    assert abs(sum(p["us"] for p in d[parts]) - total) < 1e-6 * total, parts
assert abs(sum(p["share"] for p in d["coverage"]) - 1) < 1e-9
mean = sum(d["iterations_us"]) / 4
assert abs(total + d["between_us"] - mean) < 1e-6 * mean
assert d["step_low_us"] <= d["step_us"] <= d["step_high_us"], d
native = {o["name"] for o in d["operators"] if o["run"] == "native"}
assert {"aten::addmm", "aten::mm", "aten::add"} <= native, native
assert d["system"]["rss_bytes"] > 1e6, d["system"]
t = json.load(gzip.open(sys.argv[2]))["traceEvents"]
steps = [e for e in t if e["name"].startswith("ProfilerStep#")]
assert [e["name"] for e in steps] == [f"ProfilerStep#{i}" for i in range(4)]
for step, us in zip(steps, d["iterations_us"]):
    inside = [e for e in t if e["cat"] == "cpu_op" and
              step["ts"] <= e["ts"] < step["ts"] + step["dur"]]
    assert [e["name"] for e in inside] == [
        "aten::linear", "aten::addmm", "aten::add", "aten::relu", "aten::clone",
        "aten::mm", "aten::softmax", "aten::_softmax"], inside
    assert abs(step["dur"] - us) < 0.01, (step, us)
    assert inside[1]["args"]["Input Dims"] == [[256], [64, 128], [128, 256]], inside[1]
    assert inside[1]["args"]["Input type"] == 3 * ["float"], inside[1]
assert not [e for e in t if e["cat"] == "kernel"]
PYTHON

run info --json "$folder/replayed.json.gz"
want_rc 0
want_out '"steps": 4'
run predict --costs measured "$folder/replayed.json.gz"
want_rc 0
want_out "mean of 4 iterations"
run compare "$folder/replayed.json.gz" "$folder/replayed.json.gz"
want_rc 0
# Replaying what was replayed runs the same operators.
run replay --backend cpu --iterations 1 --warmup 0 --json --iteration 2 \
    "$folder/replayed.json.gz"
want_rc 0
want_out '"step": "ProfilerStep#2"'
[ "$(grep -o '"name": "aten::[a-z_]*"' "$folder/out" | tr -d '\n')" = \
    '"name": "aten::addmm""name": "aten::add""name": "aten::relu""name": "aten::clone""name": "aten::mm""name": "aten::_softmax"' ] ||
    complain "other operators than were replayed: $out"

# ---- parts of a step ---------------------------------------------------------

operators() { # ARGUMENT...: how many operators run
    run replay --backend cpu --iterations 1 --warmup 0 --json "$@" \
        "$folder/step.json"
    want_rc 0
    grep -c '"node": ' "$folder/out"
}
for part in "5:--kind=compute" "1:--kind=copies" "1:--subtree=aten::linear" \
    "2:--range=3..4" "1:--ops=aten::linear" "5:--exclude=aten::linear"; do
    [ "$(operators "${part#*:}")" = "${part%%:*}" ] ||
        complain "${part#*:} runs other than ${part%%:*} operators"
done

# ---- refusals ----------------------------------------------------------------

refused() { # TEXT NODES...
    local text=$1
    shift
    made "$folder/bad.json" "$@"
    run replay --backend cpu "$folder/bad.json"
    want_rc 3
    want_no_out
    want_err "$text"
}
refused "operator 'aten::mm' (ET node 3) has a tensor whose bytes no number holds" \
    aten::relu=8x8 aten::mm=1099511627776x1099511627776,1099511627776x8
refused "operator 'aten::mm' (ET node 2) wants 1e+04 GB of operands" \
    aten::mm=1000000x2500000,2500000x1
refused "found no operator to run" aten::view=8x8
python3 - "$folder/step.json" "$folder/bad.json" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
d["nodes"][1]["ctrl_deps"] = 3
json.dump(d, open(sys.argv[2], "w"))
PYTHON
run replay --backend cpu "$folder/bad.json"
want_rc 3
want_err "cycle"
run replay --backend cpu --kind communication "$folder/step.json"
want_rc 3
want_err "no operator to run in what was chosen"
run replay --backend none "$folder/step.json"
want_rc 3
want_err "no backend 'none'"
run replay --backend "echo '{\"backend\": \"old\", \"tables\": {\"copy\": [\"d2d\"]}}'; cat >/dev/null" \
    "$folder/step.json"
want_rc 3
want_err "backend 'old' runs no sequences"
usage_error "want one backend" replay --backend cpu,cuda "$folder/step.json"
usage_error "one of the trace's 0 steps" replay --backend cpu --iteration 4 \
    "$folder/step.json"
finish
