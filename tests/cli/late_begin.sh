#!/usr/bin/env bash
# Ranks whose recordings begin at different steps, or with work before the first
# mark: what the ranks do together is the same. Times are microseconds.
. "$(dirname "$0")/made.bash"

# Two ranks, five steps of 10000: a kernel of 8000, an all-reduce of 1000, and the
# host waits. Rank 1 is recorded from step 4 on, or `ahead` of that: while rank 0
# waits for what it computes last.
make <<'PYTHON'
from made_steps import *


def rank(folder, rank, first, marked=1, ahead=0, rest=0, waits=0):
    about = {"Collective_name": "allreduce", "In_msg_nelems": 1 << 20,
             "Out_msg_nelems": 1 << 20, "Group_size": 2, "dtype": "Float",
             "Process_Group_Name": "0", "Process_Group_Ranks": "[0, 1]"}
    events = []
    for s in range(first, 6):
        t = 10000 * s - ahead
        wait = waits if s % 2 else 0
        events += [mark(s, t, 10000)] if s >= marked else []
        events += launch("aten::mm", t + 20, t + 60, 8000, "gemm")
        n = next(number)
        called = op("record_param_comms", t + 60, 30)
        called["args"].update({k.replace("_", " "): v for k, v in about.items()})
        events += [called, call("cudaLaunchKernel", t + 65, 10, n),
                   kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 8060, 1000 + wait, n,
                          stream=20, **about)]
        if rest:
            events += launch("aten::mm", t + 100, t + 9060, rest, "gemm", stream=20)
        events.append(call("cudaDeviceSynchronize", t + 140, 8920 + wait + rest))
    save(f"{folder}/rank{rank}.json", events, distributedInfo={
        "backend": "nccl", "rank": rank, "world_size": 2})


for folder, first, how in (("together", 4, {}), ("late", 1, {}), ("unmarked", 1, {"marked": 4})):
    rank(folder, 0, first, **how)
    rank(folder, 1, 4)
rank("ahead", 0, 1, rest=900)
rank("ahead", 1, 4, ahead=500, waits=500)
rank("alone", 0, 1, waits=600)
rank("once", 0, 5, marked=6, waits=3000)
rank("once", 1, 5, marked=6, ahead=-3000)
PYTHON
cd "$folder" || exit 1

same() { # JOB OTHER: by all ways, ranks take and wait as long in both
    for how in "--costs measured" "--costs model --platform a100" \
        "--costs scaled --platform h100" "--scale kernels=0.1 --scale host=0.1" \
        "--scale kernels=0 --scale host=0"; do
        # shellcheck disable=SC2086
        run --json $how "$1"
        want_rc 0
        one=$(grep -m1 '^  "iteration_us"' out | grep -o '"predicted": [0-9.]*' | grep -o '[0-9.]*')
        wait=$(grep -m1 '^  "communication_us"' out | grep -o '"wait": [0-9.]*}')
        # shellcheck disable=SC2086
        run --json $how "$2"
        want_rc 0
        want iteration_us "$one"
        want_out "$wait"
    done
}
same together late
same together unmarked

# Of the wait that rank 1 begins in, no more is left than what such a call takes.
run --json --costs model --platform a100 ahead
want_rc 0
python3 - out <<'PYTHON' || complain "rank 1 is late"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["iteration_us"]["predicted"] < 1.05 * d["period_us"]["predicted"]
PYTHON

# But where all that is recorded is the iteration, that wait is part of it.
run --json --costs model --platform a100 once
want_rc 0
python3 - out <<'PYTHON' || complain "the wait of 3000 is lost"
import json, sys
assert json.load(open(sys.argv[1]))["iteration_us"]["predicted"] > 3000
PYTHON

# A rank whose peer has no trace: half of all kernels' time is half a step, since
# the peer runs the same program, by each verb. That it comes when it came is asked
# for, and needs nothing else to be without a change.
echo '{"scenarios": [{"name": "half", "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]}]}' >half.json
run whatif --json half.json alone
want_rc 0
half=$(python3 -c 'import json; print(json.load(open("out"))["scenarios"][0]["period_us"]["predicted"])')
awk "BEGIN { exit !($half > 5000 && $half < 6500) }" || complain "half of all kernels: $half"
run --json --scale kernels=0.5 alone
want period_us "$half"
run --json --scale kernels=0.5 --peers follow alone
want period_us "$half"
run --json --scale kernels=0.5 --peers fixed alone
as_fixed=$(python3 -c 'import json; print(json.load(open("out"))["period_us"]["predicted"])')
awk "BEGIN { exit !($as_fixed > 9000) }" || complain "the peer came earlier: $as_fixed"
run --json alone
traced=$(python3 -c 'import json; print(json.load(open("out"))["period_us"]["predicted"])')
run --json --peers fixed alone
want period_us "$traced"

# A rank that is slower by itself: the others come no later for it.
echo '{"scenarios": [{"name": "slow", "changes": [{"straggler": {"rank": 0, "factor": 1.5}}]}]}' >slow.json
run whatif --json slow.json alone
slow=$(python3 -c 'import json; print(json.load(open("out"))["scenarios"][0]["period_us"]["predicted"])')
run --json --scale kernels=1.5 --scale copies=1.5 --scale host=1.5 --peers fixed alone
want period_us "$slow"
run --json --scale kernels=1.5 --scale copies=1.5 --scale host=1.5 alone
python3 - out "$slow" <<'PYTHON' || complain "the peer is as slow as rank 0"
import json, sys
assert json.load(open(sys.argv[1]))["period_us"]["predicted"] > float(sys.argv[2]) + 100
PYTHON
finish
