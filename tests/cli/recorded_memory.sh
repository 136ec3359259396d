#!/usr/bin/env bash
# What the allocator of each GPU was recorded to hold is the measured peak: of
# the iterations that count, and of what is held when they begin.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || exit 77

# Steps 1 and 2 from 1000 and 2000 us. By GPU, in GiB, and when:
#   0: 1 before all, 5 between profiler's start and step 1, 2 when step 1 begins,
#      3 within it, 1 at its end; 2.5 within step 2
#   1: 4 before all, and nothing changes
#   host: 9, which is none of it
cat >"$folder/make.py" <<'PYTHON'
import json, sys
GIB, reverse, kind = 2 ** 30, sys.argv[2] == "sorted", int(sys.argv[3])
x = lambda cat, name, ts, dur, tid=1, **args: {
    "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
m = lambda ts, gpu, held, kept, type=kind: {
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
    "args": {"Total Reserved": int(kept * GIB), "Total Allocated": int(held * GIB), "Bytes": 1,
             "Addr": 1, "Device Id": gpu, "Device Type": type}}
events = [m(10, 0, 1, 1), m(20, 1, 4, 4.5), m(30, 0, 5, 6), m(900, 0, 2, 6), m(1100, 0, 3, 6),
          m(1200, -1, 9, 9, 0), m(1900, 0, 1, 2), m(2100, 0, 2.5, 2.75)]
for step in (1, 2):
    t = 1000 * step
    events += [x("user_annotation", f"ProfilerStep#{step}", t, 999),
               {**x("cpu_op", "aten::mm", t + 10, 20), "args": {
                   "Input Dims": [[64, 512], [512, 512]], "Input type": ["float", "float"]}},
               x("cuda_runtime", "cudaLaunchKernel", t + 15, 5, correlation=step),
               x("kernel", "gemm", t + 40, 300, 7, device=0, stream=7, correlation=step)]
text = json.dumps({"schemaVersion": 1, "traceEvents": events}, sort_keys=reverse)
open(sys.argv[1], "w").write(text)
PYTHON
python3 "$folder/make.py" "$folder/m.json" as-is 1

# peaks GIB...: allocated and reserved of both GPUs, then by GPU
peaks() {
    python3 - "$folder/out" "$@" <<'PYTHON' || complain "other peaks"
import json, sys
p = json.load(open(sys.argv[1]))
m = p["files"][0]["memory_bytes"] if "files" in p else p["memory_bytes"]["measured"]
got = [m["allocated"], m["reserved"]] + [v for g in m["gpus"] for v in (g["allocated"], g["reserved"])]
assert [g["gpu"] for g in m["gpus"]] == [0, 1], m
assert got == [float(v) * 2 ** 30 for v in sys.argv[2:]], [v / 2 ** 30 for v in got]
if "ranks_detail" in p:
    assert p["ranks_detail"][0]["memory_bytes"]["measured"] == m, p["ranks_detail"]
PYTHON
}
run --json "$folder/m.json"
want_rc 0
peaks 7 10.5 3 6 4 4.5
run --json --iteration 2 "$folder/m.json" # 1 is held when it begins
want_rc 0
peaks 6.5 7.25 2.5 2.75 4 4.5
run --json --platform h100 --costs model "$folder/m.json"
want_rc 0
peaks 7 10.5 3 6 4 4.5
run info --json "$folder/m.json" # all of the recording
want_rc 0
peaks 9 10.5 5 6 4 4.5
for kind in 6 12 20; do # of AMD, of Intel, of what has a name of its own
    python3 "$folder/make.py" "$folder/sorted.json" sorted "$kind"
    run --json "$folder/sorted.json"
    want_rc 0
    peaks 7 10.5 3 6 4 4.5
done

run "$folder/m.json"
want_out "memory recorded  GPU 0: 3.00 GiB, 6.00 GiB reserved; GPU 1: 4.00 GiB, 4.50 GiB reserved"
run info "$folder/m.json"
want_out "memory recorded: GPU 0: 5.00 GiB, 6.00 GiB reserved; GPU 1: 4.00 GiB, 4.50 GiB reserved"
want_out "1 allocation in the host's memory"

# Another batch needs other memory: nothing of it was measured.
echo '{"scenarios": [{"name": "quick",
  "changes": [{"speedup": {"select": "kernels", "factor": 2}}]},
 {"name": "half", "changes": [{"batch": {"from": 64, "to": 32}}]}]}' >"$folder/s.json"
run whatif --platform a100 --csv "$folder/s.json" "$folder/m.json"
want_rc 0
want_out ",measured_bytes,measured_reserved_bytes,"
[ "$(grep -c ",7516192768,11274289152," "$folder/out")" = 2 ] ||
    complain "not in the columns: $out"
[[ $out == *$'\nhalf,'[0-9]*,,,* ]] || complain "half is not predicted: $out"

# No totals: nothing is known.
sed 's/"Total Allocated": [0-9]*, //g' "$folder/m.json" >"$folder/old.json"
run --json "$folder/old.json"
want_rc 0
want_out '"measured": null'
finish
