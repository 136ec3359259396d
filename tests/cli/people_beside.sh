#!/usr/bin/env bash
# What stands beside a job's ranks in their files: processes that are none, calls
# that both ranks lost, messages that cross. Times are microseconds.
. "$(dirname "$0")/made.bash"

# ---- processes that launch nothing ---------------------------------------------
# One that loads data, or serves requests: neither its steps nor its time are the
# job's. What has no operators is a part of the rank, such as a track of marks.
make <<'PYTHON'
import made_steps
from made_steps import *


def process(pid, device=0, us=100, first_id=1, recorded=True):
    made_steps.number = itertools.count(first_id)
    events = []
    for e in sum((step(1000 * i, 1 + i, us) for i in range(3)), []):
        if e["cat"] != "kernel":
            e["pid"] = e["tid"] = pid
        elif recorded:
            e["args"]["device"] = e["pid"] = device
        else:
            continue
        events.append(e)
    return events


def without_marks(events):
    return [e for e in events if e["cat"] != "user_annotation"]


def loader(us, pid=50):
    """Three steps of its own, of one operator each."""
    return sum(([mark(1 + i, us * i, us, pid=pid, tid=pid),
                 op("aten::stack", us * i + 10, us - 20, pid=pid, tid=pid)] for i in range(3)), [])


one, two = process(100), process(101, 1, 300, 50)
save("alone.json", without_marks(one))
save("loader.json", loader(5000) + one)
save("unmarked.json", without_marks(one) + loader(5000))
save("two.json", one + two + loader(5000, 200))
save("track.json", without_marks(one) + [
    {**e, "pid": 50, "tid": 50} for e in one if e["cat"] == "user_annotation"])
save("lost.json", one + process(101, 1, 300, 50, recorded=False))
PYTHON
cd "$folder" || exit 1

run --json alone.json
alone=$(grep -m1 '^  "iteration_us"' out | grep -o '"predicted": [0-9.]*' | grep -o '[0-9.]*')
run --json unmarked.json
want_rc 0
want iteration_us "$alone"
want kernel_us 300
want_err "unmarked.json: 6 events of processes that launched nothing on a GPU are left out"
want_out '"kind": "bystander", "name": null, "count": 6'
run --json loader.json
want_rc 0
want iteration_us 1000
[[ $out != *"aten::stack"* ]] || complain "a loader's operators are not the job's"
run --json two.json
want_rc 0
want_out '"ranks": 2'
want_err "two.json: 6 events of processes that launched nothing on a GPU are left out"
run info two.json
want_out "read: 30 of 36 records"
run --json track.json # its steps are the rank's
want_rc 0
want iteration_us 1000
want_no_err

# One whose launches were not recorded is a rank, and no verdict stands.
run --json lost.json
want_rc 0
want_out '"ranks": 2'
want_out '"verdict": null'
want_err "3 kernel launches and no GPU activity on some of the ranks"
finish
