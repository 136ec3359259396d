#!/usr/bin/env bash
# --ranks: the traced ranks stand for a larger job, and are simulated once.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces
job=$samples/dlrm-ddp-2ranks/kineto

# judged WHAT: a Python program on standard input judges small and large.
judged() {
    command -v python3 >/dev/null || return 0
    python3 - "$folder/small" "$folder/large" || complain "$1"
}

# As many as are traced: nothing changes but that the group's size is known.
run --platform a100 --json "$job"
want_rc 0
cp "$folder/out" "$folder/small"
run --platform a100 --json --ranks 2 "$job"
want_rc 0
cmp -s "$folder/out" "$folder/small" || complain "2 of 2 ranks are another job"

# 512: collectives of all ranks cost more, compute does not change.
run --platform a100 --json --ranks 512 "$job"
want_rc 0
want_err "each of the 2 traced ranks stands for 256: collectives of all ranks"
cp "$folder/out" "$folder/large"
judged "512 ranks are not as they should be" <<'PYTHON'
import json, sys

small, large = (json.load(open(f)) for f in sys.argv[1:])
assert small["ranks"] == 2 and large["ranks"] == 512, large["ranks"]
assert [r["ranks"] for r in small["ranks_detail"]] == [1, 1]
assert [r["ranks"] for r in large["ranks_detail"]] == [256, 256]
assert small["kernel_us"] == large["kernel_us"]
before, after = (p["communication_us"]["transfer"] for p in (small, large))
assert after > 2 * before > 0, (before, after)
assert large["iteration_us"]["measured"] is None
for r in large["ranks_detail"]:
    total = sum(r["breakdown_us"].values())
    assert abs(total - r["iteration_us"]["predicted"]) < 1e-3
PYTHON

run --platform a100 --ranks 512 "$job"
want_rc 0
want_out "512      simulated as 2"

# One trace of a job stands for as many as are asked for.
run --platform a100 --json --ranks 1000 "$samples/resnet/kineto"
want_rc 0
want_out '"ranks": 1000,'

usage_error "option '--ranks' is 3, want a multiple of the 2 ranks in" \
    --platform a100 --ranks 3 "$job"
usage_error "option '--ranks' is 1, want a multiple of the 2 ranks in" \
    --platform a100 --ranks 1 "$job"
usage_error "option '--ranks' is '0', want a whole number from 1" \
    --ranks 0 "$job"
usage_error "option '--ranks' is 'many'" --ranks many "$job"

if [ -n "${MSIM_TRACES:-}" ]; then
    job=$MSIM_TRACES/traces/dlrm-8xv100/kineto
    run --json "$job"
    cp "$folder/out" "$folder/small"
    run --json --ranks 512 "$job"
    want_rc 0
    want_err "'--costs model' costs them for 512 ranks"
    cp "$folder/out" "$folder/large"
    judged "measured times have changed" <<'PYTHON'
import json, sys

small, large = (json.load(open(f)) for f in sys.argv[1:])
for key in ["kernel_us", "communication_us", "breakdown_us", "ops"]:
    assert small[key] == large[key], key
assert large["ranks"] == 512 and len(large["ranks_detail"]) == 8
PYTHON
fi

finish
