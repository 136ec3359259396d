#!/usr/bin/env bash
# Where the time goes: what predict --json says of the critical path, waits,
# edges and collectives adds up, and the annotated timeline loads again.
. "$(dirname "$0")/lib.bash"

sample=${SOURCE_DIR:?the source folder}/data/traces/dlrm-ddp-2ranks/kineto

command -v python3 >/dev/null || exit 77

judge() {
    python3 - "$folder/out" || complain "$1 does not add up"
}

# where ARGUMENT...: predict, and check all sums.
where() {
    run --json "$@"
    want_rc 0
    judge "where the time goes" <<'PYTHON'
import json, sys
from fractions import Fraction

text = open(sys.argv[1]).read()
p = json.loads(text, parse_float=Fraction, parse_int=Fraction)
path = p["critical_path"]
longest = max(p["iterations"], key=lambda i: i["predicted_us"])
near = lambda a, b: abs(a - b) <= Fraction(1, 1000) + abs(b) / 10**9

# Pieces follow each other and sum to the iteration, to the picosecond.
assert sum(x["us"] for x in path) == p["critical_path_of"]["us"], "sum"
assert near(p["critical_path_of"]["us"], longest["predicted_us"])
for a, b in zip(path, path[1:]):
    assert a["start_us"] + a["us"] == b["start_us"], (a, b)
    assert b["us"] >= 0
owners = p["critical_owners"]
mean = sum(i["predicted_us"] for i in p["iterations"]) / len(p["iterations"])
assert near(sum(o["us"] for o in owners), mean), "owners"
assert near(sum(o["share"] for o in owners), 1)
assert all(e["edge_source"] is None or e["edge"] for e in path)

for e in p["edges"]:
    assert 0 <= e["binding"] <= e["count"] and e["count"] > 0, e
for waits in [p["waits_us"]] + [r["waits_us"] for r in p["ranks_detail"]]:
    assert list(waits) == ["main_thread", "threads", "gpu_idle", "streams"]
    for kind, us in waits["main_thread"].items():
        assert 0 < us <= waits["threads"][kind] + Fraction(1, 1000), kind
for rows, total in [(p["iterations"], "predicted_us"),
                    (p["ranks_detail"], None)]:
    for r in rows:
        us = r[total] if total else r["iteration_us"]["predicted"]
        assert near(sum(r["breakdown_us"].values()), us), r
        assert set(r["overlapped_us"]) == {"communication", "memory_copy"}

# Nobody waits in a collective but for the last to arrive.
if len(p["ranks_detail"]) > 1:
    waited = sum(c["wait_us"] * c["ranks"] for c in p["collectives"])
    caused = sum(s["wait_caused_us"] for s in p["stragglers"])
    assert abs(waited - caused) <= waited / 1000, (waited, caused)
for c in p["collectives"]:
    if c["ranks"] > 1:
        assert 0 <= c["skew_us"]["mean"] <= c["skew_us"]["max"], c
for op in p["ops"]:
    assert op["slack_us"] >= 0, op
PYTHON
}

# annotated FILE: bars of a lane do not overlap, arrows have two ends.
annotated() {
    cp "$1" "$folder/out"
    judge "the timeline" <<'PYTHON'
import collections, json, sys
from fractions import Fraction

events = json.load(open(sys.argv[1]), parse_float=Fraction)["traceEvents"]
lanes = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        lanes[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        assert (e["cat"] == "wait") == e["name"].startswith("wait: "), e
assert any(e.get("args", {}).get("critical") for e in events)
tracks = {e["args"]["name"]: (e["pid"], e["tid"]) for e in events
          if e["name"] == "thread_name"}
path, = {(e["pid"], e["tid"]) for e in events
         if e["name"] == "thread_name" and e["args"]["name"] == "critical path"}
pieces = sorted((e["ts"], e["dur"]) for e in events
                if e["ph"] == "X" and (e["pid"], e["tid"]) == path)
steps = [e for e in events if e["ph"] == "X" and e["cat"] == "step"]
assert pieces and steps
assert any(name.startswith("waits of ") for name in tracks), tracks
kernels = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel"
           and "stream" in e.get("args", {})]
assert any("operator" in e["args"] for e in kernels)
counts = [e for e in events if e["ph"] == "C"]
assert {e["name"] for e in counts} == {"GPU busy", "launch queue"}
assert all(e["args"]["activities"] >= 0 for e in counts)
last = {(e["pid"], e["name"]): e["args"]["activities"] for e in counts}
assert not any(last.values()), last
for spans in lanes.values():
    spans.sort()
    for a, b in zip(spans, spans[1:]):
        assert a[1] <= b[0], (a, b)
ends = collections.Counter(e["id"] for e in events if e["ph"] in "sf")
assert all(n == 2 for n in ends.values()), ends
begins = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
for e in events:
    if e["ph"] in "sf":
        assert (e["pid"], e["tid"]) in lanes, e
        assert begins[e["id"]] <= e["ts"], ("back in time", e)
PYTHON
}

where --platform a100 "$sample"
run --platform a100 --timeline "$folder/run.json" "$sample"
want_rc 0
annotated "$folder/run.json"
run info --json "$folder/run.json"
want_rc 0

# Two ranks made up: rank 1 arrives 30 us after rank 0, and the transfer takes
# 10 us. Rank 0 waits for it; both end together.
rank_trace() { # RANK ARRIVAL
    cat <<TRACE
{"distributedInfo": {"rank": $1, "world_size": 2}, "traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
  "tid": 1, "ts": 1000, "dur": 200, "args": {}},
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1,
  "ts": $(($2 - 6)), "dur": 10, "args": {"External id": 5,
  "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1024,
  "Out msg nelems": 1024, "Group size": 2, "Process Group Name": "0",
  "Process Group Ranks": "[0, 1]"}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
  "tid": 1, "ts": $(($2 - 5)), "dur": 2, "args": {"correlation": 9}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
  "pid": 0, "tid": 7, "ts": $2, "dur": $((1080 - $2)), "args": {"device": 0,
  "stream": 7, "correlation": 9, "Collective name": "allreduce",
  "dtype": "Float", "In msg nelems": 1024, "Out msg nelems": 1024,
  "Group size": 2, "Process Group Name": "0",
  "Process Group Ranks": "[0, 1]"}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1,
  "tid": 1, "ts": 1074, "dur": 8, "args": {"correlation": 10}}
]}
TRACE
}
mkdir "$folder/ranks"
rank_trace 0 1040 >"$folder/ranks/rank-0.json"
rank_trace 1 1070 >"$folder/ranks/rank-1.json"
where --costs measured "$folder/ranks"
judge "who is waited for" <<'PYTHON'
import json, sys

p = json.load(open(sys.argv[1]))
assert p["stragglers"] == [
    {"rank": 1, "last_in": 1, "wait_caused_us": 30}], p["stragglers"]
c, = p["collectives"]
assert c["name"] == "all_reduce" and c["bytes"] == 4096 and c["ranks"] == 2
assert c["calls"] == 1 and c["last_rank"] == 1, c
assert c["transfer_us"] == 10 and c["wait_us"] == 15, c
assert c["skew_us"] == {"mean": 30, "max": 30}, c
assert p["waits_us"]["main_thread"] == {"device synchronisation": 6}, p["waits_us"]
zero, one = p["ranks_detail"]
assert zero["communication_us"] == {"transfer": 10, "wait": 30}, zero
assert zero["waits_us"]["streams"] == {"collective": 30}, zero
assert one["communication_us"] == {"transfer": 10, "wait": 0}, one
PYTHON

# A path of 40,000 pieces is told in fewer, which add up all the same.
python3 - >"$folder/long.json" <<'PYTHON'
events = []
for i in range(10000):
    x = '{"ph": "X", "pid": 1, "tid": 1, "cat": "%s", "name": "%s", ' \
        '"ts": %d, "dur": %d, "args": {"correlation": %d}}'
    events += [x % ("cpu_op", "aten::add", 20 * i, 10 + i % 7, 0),
               x % ("cuda_runtime", "cudaLaunchKernel", 20 * i + 3, 2, i + 1)]
print('{"traceEvents": [%s]}' % ",\n".join(events))
PYTHON
where --costs measured "$folder/long.json"
judge "a long path" <<'PYTHON'
import json, sys

path = json.load(open(sys.argv[1]))["critical_path"]
several = [x for x in path if x["kind"] == "several"]
pieces = sum(int(x["name"].split()[0]) - 1 for x in several)
assert several and len(path) < 40000 <= len(path) + pieces + 1, len(path)
PYTHON

if [ -n "${MSIM_TRACES:-}" ]; then
    for set in ranking-a100 torchrec-4xv100 dlrm-8xv100/kineto; do
        where --costs measured "$MSIM_TRACES/traces/$set"
    done
    where --costs measured --iteration 5 "$MSIM_TRACES/traces/torchrec-4xv100"
    run --costs measured --timeline "$folder/run.json" \
        "$MSIM_TRACES/traces/torchrec-4xv100"
    want_rc 0
    annotated "$folder/run.json"
    grep -q '"traced_us"' "$folder/run.json" || complain "no traced starts"

    # With the GPU's work taken out, nobody waits for it.
    run --json --costs measured --scale kernels=0 --scale copies=0 \
        --scale communication=0 "$MSIM_TRACES/traces/torchrec-4xv100"
    want_rc 0
    judge "waiting for nothing" <<'PYTHON'
import json, sys

p = json.load(open(sys.argv[1]))
for r in p["ranks_detail"]:
    left = set(r["waits_us"]["threads"]) - {"hand-over between threads"}
    assert not left, left
    assert set(r["waits_us"]["streams"]) <= {"launch"}, r["waits_us"]
PYTHON
fi

finish
