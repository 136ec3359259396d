#!/usr/bin/env bash
# libmystique-cupti.so in a program on a GPU that is made up: streams, launches
# and copies of what it did, as mystique-sim reads them.
. "$(dirname "$0")/../cli/lib.bash"

fake=${BUILD_DIR:?the build folder}/fake_gpu

record() { # SETTINGS
    FAKE_GPU=$1 CUDA_INJECTION64_PATH=$fake/libmystique-cupti.so \
        MSIM_CUPTI_OUT=$folder/run-%p.json.gz \
        "$fake/fake_program" >"$folder/log" 2>&1
    rc=$?
    trace=$(find "$folder" -name 'run-*.json.gz')
}

last="libmystique-cupti.so"
record ""
want_rc 0
[ -s "$trace" ] || complain "no trace: $(<"$folder/log")"
run info --json "$trace"
want_rc 0
want_out '"gpu": "FAKE GPU'
want_out '"kernels": 40'
run --costs measured --json "$trace"
want_rc 0
gunzip -c "$trace" >"$folder/trace.json"
python3 - "$folder/trace.json" <<'END' || complain "not what ran"
import collections, json, sys

trace = json.load(open(sys.argv[1]))
events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
by = collections.Counter((e["cat"], e["name"]) for e in events)
assert by["kernel", "msim_write"] == by["kernel", "msim_read"] == 20, by
assert by["gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"] == 20, by
assert by["gpu_memset", "Memset (Device)"] == 1, by
assert by["cuda_runtime", "cudaLaunchKernel"] == 40, by
streams = {e["name"]: e["args"]["stream"] for e in events
           if e["cat"] in ("kernel", "gpu_memcpy")}
assert streams["msim_write"] != streams["msim_read"], streams
calls = {e["args"]["correlation"]: e for e in events
         if e["cat"] == "cuda_runtime"}
for e in events:
    if e["cat"] == "kernel":
        call = calls[e["args"]["correlation"]]
        assert call["name"] == "cudaLaunchKernel", call
        assert call["ts"] <= e["ts"], (call, e)
# The second stream reads what the first has written.
writes, reads = ([e for e in events if e["name"] == name]
                 for name in ("msim_write", "msim_read"))
for w, r in zip(writes, reads):
    assert w["ts"] + w["dur"] <= r["ts"] + 1e-6, (w, r)
END

# Where CUPTI cannot record, the program goes on, and a sentence says why.
rm -f "$trace"
record "no_cupti=1"
want_rc 0
grep -q "^mystique-cupti: nothing is recorded: " "$folder/log" ||
    complain "$(<"$folder/log")"
record "cuptiActivityFlushAll=always"
want_rc 0
grep -q "^mystique-cupti: some records may be missing: " "$folder/log" ||
    complain "$(<"$folder/log")"

finish
