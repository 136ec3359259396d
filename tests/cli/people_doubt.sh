#!/usr/bin/env bash
# What a recording does not say: steps that do not count, kernels and totals that
# were not recorded, records that one rank lost, two hosts in one file. It is
# said, or refused; nothing else stands in for it. Times are microseconds.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >"$folder/people_made.py" <<'PYTHON'
import itertools
from made_run import *

A100 = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85 * 10 ** 9,
         "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
number = itertools.count(1)


def launch(name, ts, start, us, kernel_name, stream=7, about={}, **where):
    """An operator of 30 whose kernel begins at `start`."""
    n = next(number)
    return [op(name, ts, 30, [[64, 64]] * 2, **where),
            call("cudaLaunchKernel", ts + 5, 10, n, **where),
            kernel(kernel_name, start, us, n, stream=stream, **about)]


def step(ts, number, us=100):
    """A step of 1000: a kernel, for which the host waits."""
    return [mark(number, ts, 1000), *launch("aten::mm", ts + 10, ts + 30, us, "gemm"),
            call("cudaDeviceSynchronize", ts + 100, us)]


def steps(first=1, n=3):
    """Kernels of 100, 110, 120."""
    return sum((step(1000 * i, first + i, 100 + 10 * i) for i in range(n)), [])


def save(path, events, **top):
    write_kineto(path, events, deviceProperties=A100, **top)
PYTHON
make() {
    (cd "$folder" && PYTHONPATH=$SOURCE_DIR/tests/cli:$folder python3)
}

# want FIGURE VALUE: predicted, of the report that run has written.
want() {
    python3 - "$folder/out" "$@" <<'PYTHON' || complain "want $1 of $2"
import json, sys
d = json.load(open(sys.argv[1]))
got = d[sys.argv[2]]["predicted"]
assert abs(got - float(sys.argv[3])) < 0.01, got
PYTHON
}

make <<'PYTHON'
from people_made import *

save("lost.json", [e for e in steps() if e["cat"] != "kernel" or e["ts"] > 1000])
save("cut.json", [e for e in steps(5, 4) if e["ts"] <= 3000])
for rank in (0, 1):
    save(f"ranks/rank{rank}.json", steps(2 + rank),
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})
late = steps()
for e in late:
    e["ts"] += 10000
save("twice.json", steps() + late)

save("unrecorded.json", [e for e in steps() if e["cat"] != "kernel"])
save("replays.json", sum(
    ([mark(i, 1000 * i, 1000), op("forward", 1000 * i + 10, 300),
      call("cudaGraphLaunch", 1000 * i + 60, 30, next(number)),
      call("cudaDeviceSynchronize", 1000 * i + 100, 250)] for i in (1, 2, 3)), []))

held = {"Total Allocated": 2 ** 30, "Bytes": 1, "Addr": 1, "Device Id": 0, "Device Type": 1}
save("held.json", steps() + [{"ph": "i", "cat": "cpu_instant_event", "s": "t", "pid": 1,
                              "name": "[memory]", "tid": 1, "ts": 100, "args": held}])
PYTHON
cd "$folder" || exit 1

# ---- which step ----------------------------------------------------------------
# One that was left out is refused by its name; an index is answered by name.
usage_error "iteration 1 is left out of the run: kernels that it launched are not recorded, want one of 2, 3" \
    --iteration 1 lost.json
run --json --iteration 2 lost.json
want_rc 0
want kernel_us 110
run --json --iteration 0 lost.json
want_rc 0
want kernel_us 110
want_err "no step is marked ProfilerStep#0: this is ProfilerStep#2, the one at 0 from 0"
usage_error "iteration 8 is left out of the run: nothing was recorded in it, want one of 5, 6, 7" \
    --iteration 8 cut.json
usage_error "iteration 2 is left out of the run: not all ranks recorded it, want one of 3, 4" \
    --iteration 2 ranks
usage_error "iteration 1 is left out of the run" compare --iteration 1 lost.json lost.json
usage_error "'--iteration' is '1', a step that is left out of the run: kernels that it" \
    validate --iteration 1 lost.json lost.json
run --json --iteration 1 twice.json
want_rc 0
want kernel_us 100
want_err "ProfilerStep#1 is marked 2 times: steps of one number count as one iteration"

# ---- kernels that are not recorded ---------------------------------------------
for file in unrecorded replays; do
    run --json "$file.json"
    want_rc 0
    want_out '"verdict": null'
    want_err "3 kernel launches and no GPU activity: kernels were not recorded"
done
run --json --platform a100 unrecorded.json # priced, for nothing measured is known
want_rc 0
want_out '"verdict": "host-bound'

# ---- memory that no record tells -----------------------------------------------
run --json held.json
want_rc 0
want_out '"measured": {"allocated": 1073741824, "reserved": null, "gpus": [{"gpu": 0, "allocated": 1073741824, "reserved": null}]}'
for verb in "" info; do
    # shellcheck disable=SC2086
    run $verb held.json
    want_out "1.07 GB"
    [[ $out != *"B reserved"* ]] || complain "reserved memory is not recorded"
done
make <<'PYTHON'
from made_chakra import *

for rank in (0, 1):
    write_chakra(f"chakra/run.{rank}.et", [collective(1, 0, 2 ** 20)])
PYTHON
run --json --platform h100 chakra
want_rc 0
want_out '"memory_bytes": {"peak": null,'
want_out '"fits": null'

finish
