#!/usr/bin/env bash
# GPU activities that cannot be as they are recorded: beside others of their
# stream, behind a synchronisation that waited for them, twice. Times are
# microseconds.
. "$(dirname "$0")/made.bash"

# Three steps of 1000 of five kernels of 100; the host waits for them.
make <<'PYTHON'
import copy
from made_steps import *


def job(graph=False):
    events = []
    for s in (1, 2, 3):
        t = 1000 * s
        events.append(mark(s, t, 1000))
        if graph:
            events.append(call("cudaGraphLaunch", t + 5, 5, next(number)))
        for k in range(5):
            events += launch("aten::mm", t + 10 + 40 * k, t + 30 + 110 * k, 100, "gemm")
        events.append(call("cudaDeviceSynchronize", t + 250, 500))
    return events


def longer(events, which, us):
    events = copy.deepcopy(events)
    kernels = [e for e in events if e["cat"] == "kernel"]
    for e in kernels[which]:
        e["dur"] += us
    return events


whole = job()
save("whole.json", whole)
save("twice.json", whole + [e for e in whole if e["cat"] == "kernel"])
save("last.json", longer(whole, slice(-1, None), 100000))
save("few.json", longer(whole, slice(None, None, 4), 100000))
save("half.json", longer(whole, slice(None, None, 2), 100000))
save("graph.json", longer(job(graph=True), slice(None, None, 2), 100000))
PYTHON
cd "$folder" || exit 1

run --json whole.json
want_rc 0
want kernel_us 500
want_no_err
run --json twice.json
want_rc 0
want kernel_us 500
want_err "15 GPU activities are recorded a second time, the same in all: they count once"
want_out '"kind": "twice", "name": null, "count": 15,'
run --json last.json # it ends 750 behind its step's begin, in place of 570
want_rc 0
want kernel_us 560
want_err "1 GPU activity is recorded to end long after a synchronisation that waited for it"
run --json few.json # each ends 110 behind its start
want_rc 0
want_err "4 GPU activities are recorded to end when later ones of their stream have run"
run --json half.json
want_rc 0
want_err "activities are recorded beside later ones of their stream, more than a third of it, and no graph explains it"
run --json --costs model --platform h100 half.json
want_out '"records": []'
run --json graph.json # branches of the graph may be among them
want_rc 0
[[ $err != *"beside later ones"* ]] || complain "branches of a graph run beside each other"
finish
