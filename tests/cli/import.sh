#!/usr/bin/env bash
# What became of the records of a file: all are accounted for, and what is not
# read is named.
. "$(dirname "$0")/lib.bash"
in_turn core/read core/trace core/stream
command -v python3 >/dev/null || exit 77
samples=${SOURCE_DIR:?the source folder}/data/traces

# The log against the records of each file, which are counted here in another
# way; files that are refused are none of this test.
cat >"$folder/closes.py" <<'PYTHON'
import collections, gzip, io, json, os, subprocess, sys

APART = ("not needed", "not read", "dropped")
PHASES = {"s": "flow", "t": "flow", "f": "flow", "C": "counter"}
NEEDLESS = {"python_function": "python", "python_call": "python", "overhead": "overhead",
            "gpu_user_annotation": "gpu_label", "cuda_profiler_range": "range", "Trace": "window"}

def kind_of(e):
    ph = e.get("ph")
    if ph == "M":
        return "read" if e.get("name") == "thread_name" else "metadata"
    if ph == "i" and e.get("name") == "[memory]":
        args = e["args"]
        return "host_memory" if args.get("Device Type") == 0 else \
            "read" if "Total Allocated" in args else "memory_change"
    if ph in ("i", "I"):
        return "instant"
    return PHASES.get(ph) or NEEDLESS.get(e.get("cat")) if ph in ("X", *PHASES) else None

def records_of(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    try:
        top = json.loads(data)
    except ValueError:
        return None # Chakra, or not JSON as it should be
    if isinstance(top, dict) and "nodes" in top:
        return len(top["nodes"]), None
    events = top.get("traceEvents", []) if isinstance(top, dict) else top
    return len(events), collections.Counter(kind_of(e) for e in events if isinstance(e, dict))

files = sorted(os.path.join(d, f) for top in sys.argv[2:] for d, _, fs in os.walk(top) for f in fs
               if f.endswith((".json", ".json.gz", ".et", ".et.gz")))
seen = 0
for path in files:
    done = subprocess.run([sys.argv[1], "info", "--json", path], capture_output=True)
    if done.returncode:
        continue
    info, n = json.loads(done.stdout), collections.Counter()
    for f in info["files"]:
        rows = f["import"]["records"]
        apart = sum(r["count"] for r in rows if r["fate"] in APART)
        assert f["import"]["read"] + apart == f["events"], (path, f)
        n["all"] += f["events"]
        n.update({r["kind"]: r["count"] for r in rows if r["fate"] in APART and not r["name"]})
    found = records_of(path)
    if not found:
        continue
    seen += 1
    assert n["all"] == found[0], (path, n["all"], found[0])
    for kind, count in (found[1] or {}).items():
        assert kind in (None, "read") or n[kind] == count, (path, kind, n[kind], count)
print(seen)
PYTHON
tops=("$samples")
least=4
if [ -n "${MSIM_TRACES:-}" ]; then
    tops+=("$MSIM_TRACES/traces" "$MSIM_TRACES/cases")
    least=100
fi
last="info --json of every trace"
seen=$(python3 "$folder/closes.py" "$sim" "${tops[@]}") ||
    complain "records are not accounted for"
[ "${seen:-0}" -ge "$least" ] || complain "$seen files, want $least"

# One of each: what is left out, repaired, not known.
cat >"$folder/made.py" <<'PYTHON'
import json, sys
op = lambda i, **k: dict({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
                          "ts": 100 + 10 * i, "dur": 5, "args": {}}, **k)
events = [op(i) for i in range(40)] + [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    op(50, cat="npu_op", dur=7), op(51, cat="npu_op", dur=8), op(52, cat="tpu\u001b[31m", dur=1),
    {"ph": "X", "name": "bare", "pid": 1, "tid": 1, "ts": 700, "dur": 3},
    {"name": "no phase", "pid": 1}, {"ph": "b", "name": "async", "cat": "x", "id": 1, "ts": 1},
    {"ph": "E", "name": "stray", "pid": 1, "tid": 1, "ts": 701},
    op(53, dur=-4), op(54, name="half"), None, 7,
    {"ph": "B", "cat": "cpu_op", "name": "pair", "pid": 1, "tid": 1, "ts": 800},
    {"ph": "E", "name": "pair", "pid": 1, "tid": 1, "ts": 805},
    {"ph": "B", "cat": "odd", "name": "odd", "pid": 1, "tid": 1, "ts": 810},
    {"ph": "E", "name": "odd", "pid": 1, "tid": 1, "ts": 815},
    {"ph": "B", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 1, "ts": 820},
    {"ph": "C", "name": "counter", "ts": 1, "args": {}}, {"ph": "i", "name": "instant", "ts": 1},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 120,
     "args": {"Device Type": 0, "Device Id": -1, "Bytes": 8, "Total Allocated": 8}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 120,
     "args": {"Device Type": 1, "Device Id": 0, "Bytes": 8}},
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 120,
     "args": {"Device Type": 9, "Device Id": 0, "Bytes": 8, "Total Allocated": 8}}]
text = json.dumps({"traceEvents": events}).replace('"half"', '"ha\\qlf"')
open(sys.argv[1], "w").write(text)
PYTHON
python3 "$folder/made.py" "$folder/made.json"
run info --json "$folder/made.json"
want_rc 0
want_err "2 events of category 'npu_op' are not read (15 us)"
want_err "1 backslash that begins no escape, the first at byte"
python3 - "$folder/out" <<'PYTHON' || complain "not what is in the file"
import json, sys
f = json.load(open(sys.argv[1]))["files"][0]
rows = {(r["kind"], r["name"]): r for r in f["import"]["records"]}
count = {k: r["count"] for k, r in rows.items()}
assert count == {
    ("metadata", None): 1, ("counter", None): 1, ("instant", None): 1, ("host_memory", None): 1,
    ("memory_change", None): 1, ("end", None): 1, ("no_category", None): 1, ("no_phase", None): 1,
    ("stray_end", None): 1, ("entry", None): 2, ("unsound", None): 2, ("escape", None): 1,
    ("step", None): 1, ("category", "npu_op"): 2, ("category", "tpu\x1b[31m"): 1,
    ("category", "odd"): 1, ("phase", "b"): 1, ("other_memory", "9"): 1}, count
# 40 and the repaired one, the name of the thread, the pair and its end
assert f["import"]["read"] == 44 and f["events"] == 63, f
assert rows["unsound", None]["example"].startswith("event 50 'aten::mm'"), rows
assert rows["category", "npu_op"]["us"] == 15 and rows["no_category", None]["us"] == 3
text = open(sys.argv[1].replace("out", "made.json")).read()
assert text[rows["escape", None]["byte"]] == "\\", rows["escape", None]
assert text[:rows["category", "npu_op"]["byte"]].count('"npu_op"') == 1
PYTHON

# Each kind is explained.
while read -r word; do
    grep -q "[| ,]\`$word\`" "$SOURCE_DIR/docs/json.md" ||
        complain "docs/json.md does not have the kind '$word'"
done < <(sed -n 's/^    X([A-Z0-9_]*, "\([a-z0-9_]*\)", [A-Z]*,.*/\1/p' \
    "$SOURCE_DIR/core/trace/import_log.h")

# Two files: one line a kind, which says how many files there are.
cp "$folder/made.json" "$folder/rank0.json"
mv "$folder/made.json" "$folder/rank1.json"
run info "$folder/rank0.json" "$folder/rank1.json"
want_rc 0
want_err "rank0.json and 1 more: 4 events of category 'npu_op' are not read (30 us)"
want_out "read: 88 of 126 records"
finish
