#!/usr/bin/env bash
# The backend for NVIDIA GPUs on one: an experiment of every kind that its
# greeting lists is answered; CUPTI and events agree; and a program that is
# recorded leaves a trace that mystique-sim reads. Skips without a GPU.
. "$(dirname "$0")/../cli/lib.bash"

prof=${BUILD_DIR:?the build folder}/mystique-prof-cuda
"$prof" </dev/null >"$folder/greeting" 2>"$folder/err"
rc=$?
if [ "$rc" -eq 3 ]; then
    echo "$(<"$folder/err"): skipped"
    exit 77
fi
last="mystique-prof-cuda"
want_rc 0
if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi

python3 - "$prof" "$folder/greeting" <<'END' || complain "answers are wrong"
import json
import subprocess
import sys

greeting = json.loads(open(sys.argv[2]).readline())
print(json.dumps(greeting, indent=1))


def experiment(table, kind):
    first, _, second = kind.partition(":")
    if table == "gemm":
        return {"dtype": kind, "m": 512, "n": 512, "k": 512}
    if table == "conv":
        return {"op": first, "dtype": second, "n": 4, "c": 32, "h": 28,
                "w": 28, "k": 64, "r": 3, "s": 3, "pad": 1}
    if table == "vector":
        return {"op": first, "dtype": second, "shape": "4096x1000"}
    if table == "collective":
        return {"collective": first, "ranks": greeting["ranks"],
                "bytes": 1 << 20}
    if table == "copy":
        return {"op": first, "bytes": 1 << 22, "memory": second or "pinned"}
    return {"op": first}


asked = [{"id": 0, "table": "copy", "op": "p2p", "bytes": 0}]
for table, kinds in greeting["tables"].items():
    for kind in kinds:
        asked.append({"id": len(asked), "table": table,
                      **experiment(table, kind)})
asked.append({"id": len(asked), "table": "gemm", "dtype": "fp32", "m": 1024,
              "n": 1024, "k": 1024,
              "beside": {"table": "copy", "op": "d2d", "bytes": 1 << 26}})
counted = {"table": "copy", "op": "read", "bytes": 1 << 28, "counters": True}
asked.append({"id": len(asked), **counted})
asked.append({"id": len(asked), **counted, "op": "write"})
asked.append({"id": len(asked), **counted, "op": "d2d"})
asked.append({"id": len(asked), "table": "latency", "op": "launch",
              "counters": True})
asked.append({"id": len(asked), "table": "collective", "bytes": 1024,
              "collective": "all_reduce", "ranks": greeting["ranks"] + 1})
lines = "".join(json.dumps(a) + "\n" for a in asked)
run = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True)
answers = {a["id"]: a for a in map(json.loads, run.stdout.splitlines()[1:])}
wrong = 0


# Kernels that only read or write are known to the byte; the caches hold little
# of 256 MiB. Where counters cannot be read the answer says so, as the greeting.
def counts(a, answer):
    if a["table"] == "latency" or greeting["counters"] is not True:
        return "counters" not in answer and answer["counters_error"]
    if "counters_error" in answer:
        return False
    c = answer["counters"]
    near = [0.95 < c[k] / a["bytes"] < 1.1
            for k in ("dram_read_bytes", "dram_write_bytes")]
    return {"read": near[0], "write": near[1], "d2d": all(near)}[a["op"]]


for a in asked:
    answer = answers.get(a["id"], {"error": "no answer"})
    state = answer.get("state", {})
    both = state.get("cupti_us", 0), state.get("event_us", 0)
    ok = answer.get("time_us", 0) > 0
    # Events are around all that CUPTI saw; 10 us are gaps between kernels.
    if ok and both[0] > 0:
        ok = 0.9 * both[0] - 1 < both[1] < 1.5 * both[0] + 10
    if a is asked[0]:
        ok = "'bytes'" in answer.get("error", "")
    if a is asked[-1]:
        ok = answer.get("unsupported") and (
            "not run" in answer["error"] or "built without" in answer["error"])
    ok = ok and ("counters" not in a or counts(a, answer))
    wrong += not ok
    print("ok  " if ok else "BAD ", json.dumps(a), json.dumps(answer))
if run.returncode:
    print(run.stderr)
sys.exit(1 if wrong or run.returncode else 0)
END

# Recorded: the test of the kernels, which is a CUDA program.
trace=$folder/trace.json.gz
CUDA_INJECTION64_PATH=$BUILD_DIR/libmystique-cupti.so MSIM_CUPTI_OUT=$trace \
    "$BUILD_DIR/tests/test_kernels" >"$folder/log" 2>&1 ||
    complain "the recorded program failed: $(tail -5 "$folder/log")"
[ -s "$trace" ] || complain "no trace: $(tail -5 "$folder/log")"
run info "$trace"
want_rc 0
want_out "NVIDIA"
run --costs measured "$trace"
want_rc 0
want_out "kernels"

finish
