#!/usr/bin/env bash
# Replays of graphs: kernels that name no launch, as HIP records them, and replays
# that are recorded in part. Times are microseconds.
. "$(dirname "$0")/made.bash"

# Four steps of 200, of two replays of six kernels of 10 each, and a copy whose
# launch is known.
make <<'PYTHON'
from made_steps import *


def decode(path, api="cuda", linked=True):
    events = []
    for s in range(4):
        t, n = 1000 + 200 * s, [next(number) for _ in range(4)]
        events += [mark(s, t, 200), op("forward", t + 1, 190),
                   call(api + "GraphLaunch", t + 2, 20, n[0]), call(api + "GraphLaunch", t + 24, 20, n[1]),
                   call(api + "MemcpyAsync", t + 46, 5, n[2]),
                   call(api + "DeviceSynchronize", t + 53, 140, n[3])]
        for r in (0, 1):
            for k in range(6):
                events.append(kernel(f"layer{k}", t + 30 + 70 * r + 11 * k, 10,
                                     n[r] if linked else 0, graph_node_id=1 + k))
        events.append(event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", t + 180, 5, 0, 7,
                            device=0, stream=7, correlation=n[2], bytes=4096))
    save(path, events)


decode("named.json")
decode("unnamed.json", "hip", linked=False)
PYTHON
cd "$folder" || exit 1

# ---- activities that name no launch --------------------------------------------
for job in named unnamed; do
    run --json $job.json
    want_rc 0
    want kernel_us 120
done
want_err "of 52 GPU activities 48 have no launch; they belong to the iteration in whose time they ran"
finish
