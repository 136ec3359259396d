#!/usr/bin/env bash
# A platform that is a CPU: what operators compute takes the thread that calls
# them, so that nothing overlaps and nobody waits.
. "$(dirname "$0")/lib.bash"

sample=${SOURCE_DIR:?the source folder}/data/traces/gpt2

sheet() { # KIND
    cat <<JSON
{"name": "mine", "generation": "zen4", "kind": "$1", "data_sheet": {
  "fp32_flops": 3e11, "fp16_flops": 3e11, "sms": 2, "memory_bytes": 2e10,
  "l2_bytes": 3e7, "memory_bandwidth": 3e10}}
JSON
}

sheet cpu >"$folder/cpu.json"
run --platform "$folder/cpu.json" --json "$sample"
want_rc 0
if command -v python3 >/dev/null; then
    python3 - "$folder/out" <<'PYTHON' || complain "a CPU overlaps or waits"
import json, math, sys

p = json.load(open(sys.argv[1]))
parts = p["breakdown_us"]
assert parts["compute"] > 0 and parts["host"] > 0, parts
assert parts["idle"] < 1e-3 * p["iteration_us"]["predicted"], parts
assert math.isclose(parts["compute"], p["kernel_us"]["predicted"],
                    rel_tol=1e-9), "work overlaps"
assert not any(p["overlapped_us"].values()), p["overlapped_us"]
PYTHON
fi


sheet abacus >"$folder/odd.json"
run --platform "$folder/odd.json" "$sample"
want_rc 3
want_err 'kind is "abacus", want gpu or cpu'

# Kernels of a GPU were called, and ran later: of a CPU that says nothing.
if [ -n "${MSIM_TRACES:-}" ]; then
    run --platform "$folder/cpu.json" "$MSIM_TRACES/traces/vgg13-h100"
    want_rc 2
    want_err "the trace holds kernels of a GPU, and platform 'mine' is a CPU"
fi

finish
