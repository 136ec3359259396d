#!/usr/bin/env bash
# What a recording says that cannot be, or that another part of it gainsays. It is
# dropped and counted, said, or refused; no answer is made of it in silence. Times
# are microseconds.
. "$(dirname "$0")/made.bash"
cd "$folder" || exit 1

# ---- copies without their bytes ------------------------------------------------
# The tensors of the operator tell them. Where none do it is a guess, not covered.
make <<'PYTHON'
from made_steps import *


def copy(name, args, inside=True, cat="gpu_memcpy", kind="Memcpy HtoD (Pinned -> Device)"):
    n = next(number)
    moved = event(cat, kind, 30, 500, 0, 7, device=0, stream=7, correlation=n)
    moved["args"].update(args)
    by = "cudaMemsetAsync" if cat == "gpu_memset" else "cudaMemcpyAsync"
    save(f"copy/{name}.json", [
        mark(1, 0, 1000), *([op("aten::copy_", 10, 30, [[1024, 1024]] * 2)] if inside else []),
        call(by, 15, 10, n), moved, call("cudaDeviceSynchronize", 100, 500)])


copy("bytes", {"bytes": 4 * 2 ** 20})
copy("none", {})
copy("negative", {"bytes": -1})
copy("alone", {}, inside=False)
copy("set", {}, False, "gpu_memset", "Memset (Device)")
PYTHON
for costs in scaled model; do
    run --json --platform h100 --costs $costs copy/bytes.json
    bytes=$(grep -m1 '"memory_copy"' out)
    for name in none negative; do
        run --json --strict --platform h100 --costs $costs copy/$name.json
        want_rc 0
        [ "$(grep -m1 '"memory_copy"' out)" = "$bytes" ] || complain "tensors tell the bytes: $bytes"
    done
    for name in alone set; do
        run --json --platform h100 --costs $costs copy/$name.json
        want_rc 0
        want_out '"coverage": {"ops": 0, "device_time": 0}'
        run --strict --platform h100 --costs $costs copy/$name.json
        want_rc 3
        want_err "no model covers copy 'Mem"
    done
done

# ---- two files of one rank that do not agree -----------------------------------
make <<'PYTHON'
from made_steps import *


def pair(folder, size, first=1):
    events, nodes, rf = [], [], 0
    for i in range(2):
        events.append(mark(1 + i, 1000 * i, 1000))
        nodes.append(node(1000 * i + 1000, f"ProfilerStep#{first + i}"))
        for k in range(10):
            rf, n, at = rf + 1, next(number), 1000 * i + 10 + 50 * k
            events += [op("aten::mm", at, 30, [[64, 64]] * 2, rf=rf),
                       call("cudaLaunchKernel", at + 5, 10, n), kernel("gemm", at + 20, 20, n)]
            nodes.append(node(1000 * i + 1010 + 10 * k, "aten::mm", 1000 * i + 1000,
                              [[size, 64]] * 2, rf=rf))
    save(f"{folder}/kineto.json", events)
    write_et(f"{folder}/et.json", nodes)


pair("agrees", 64)
pair("sizes", 512)
pair("later", 64, first=3)
PYTHON
run info --json agrees
want_rc 0
want_no_err
run info --json sizes
want_rc 0
want_err "kineto.json: 20 operators have other sizes in the execution trace beside it, whose are taken: it may be of another run: 'aten::mm' of 64 x 64 has a node of 512 x 64"
want_out '"kind": "other_sizes", "name": null, "count": 20,'
run info later
want_rc 0
want_err "et.json: marks ProfilerStep#3 and 'later/kineto.json' ProfilerStep#1, and no step is in both"
# ---- ids of more than 32 bits --------------------------------------------------
# A counter that crosses 2^32, and ids that begin behind small ones.
make <<'PYTHON'
from made_steps import *

def moved(events, by):
    for e in events:
        if e["args"].get("correlation"):
            e["args"]["correlation"] += by
    return events


number = itertools.count(1)
save("ids/crosses.json", moved(steps(), 2 ** 32 - 2))
save("ids/begins.json", steps() + moved(steps(4), 2 ** 63 - 100)[:6])
PYTHON
for name in crosses begins; do
    run info ids/$name.json
    want_rc 0
    [[ $out != *"have no kernel"* ]] || complain "each launch has its kernel: $out"
done
# ---- two processes of one pid --------------------------------------------------
# Launches of graphs and copies count; ids may be their own; a few that were read
# wrong are no second process.
make <<'PYTHON'
from made_steps import *


def later(events, us, by=0):
    copy = [{**e, "ts": e["ts"] + us, "args": dict(e["args"])} for e in events]
    for e in copy:
        if e["args"].get("correlation"):
            e["args"]["correlation"] += by
    return copy


def replay(i, n):
    return [mark(i, 1000 * i, 1000), call("cudaGraphLaunch", 1000 * i + 60, 30, n),
            kernel("gemm", 1000 * i + 100, 50, n)]


graphs = sum((replay(i, next(number)) for i in (1, 2, 3)), [])
unmarked = [e for e in steps() if "Step" not in e["name"]]
save("merged/graphs.json", graphs + later(graphs, 5000))
save("merged/launches.json", unmarked + later(unmarked, 3, by=100))
save("merged/marks.json", steps() + later(steps(), 137, by=100))
long = steps()
next(e for e in long if "Step" in e["name"])["dur"] = 1200
save("merged/one.json", long)
save("merged/twice.json", graphs + graphs)
few = sum((step(1000 * i, i + 1) for i in range(40)), [])
again = [e for e in few if e["cat"] == "cuda_runtime" and e["args"]["correlation"]]
for name, wrong in (("little", 2), ("much", 3)):
    for e in again[:wrong]:
        e["args"]["correlation"] = again[-1]["args"]["correlation"]
    save(f"merged/{name}.json", few)
PYTHON
refused() {
    run info "merged/$1.json"
    want_rc 3
    want_err "$2 of process 100: processes with one pid, of several hosts or runs, or one twice"
}
refused graphs "3 of 6 launches have the correlation id of another launch"
refused much "3 of 40 launches have the correlation id of another launch"
refused launches "3 of 6 launches begin inside another of their thread"
refused twice "3 of 6 launches begin inside another of their thread"
refused marks "marks of steps overlap on one thread"
for read in little one; do # a record or two that are wrong
    run info "merged/$read.json"
    want_rc 0
done

# ---- ranks of two jobs ---------------------------------------------------------
make <<'PYTHON'
from made_steps import *

about = {"Collective_name": "allreduce", "In_msg_nelems": 1024, "Out_msg_nelems": 1024,
         "Group_size": 2, "dtype": "Float", "Process_Group_Name": "0",
         "Process_Group_Ranks": "[0, 1]"}
for rank, world in ((0, 2), (1, 4)):
    save(f"worlds/rank{rank}.json", steps(),
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": world})
for folder, ranks in (("own", (0, 1)), ("other", (1, 2))):
    for rank in ranks:
        n = next(number)
        save(f"{folder}/rank{rank}.json", [
            mark(1, 0, 1000), op("record_param_comms", 10, 30, **about),
            call("cudaLaunchKernel", 15, 10, n),
            kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, 100, n, **about)])
PYTHON
run info worlds
want_rc 3
want_err "rank 0 records that its job has 2 ranks, and rank 1 4: these are files of two jobs"
run info own
want_rc 0
want_no_err
run info other
want_rc 0
want_err "rank 2 calls collectives of group '0', whose 2 ranks it is none of"
# ---- times that are none -------------------------------------------------------
make <<'PYTHON'
from made_steps import *

for name, dur in (("none", None), ("null", None), ("true", True)):
    events = steps(n=20)
    if name == "none":
        del events[3]["dur"]
    else:
        events[3]["dur"] = dur
    save(f"dur/{name}.json", events)

# fp4, which an H100 lacks.
for name, dtype, shapes in (("aten::mm", "c10::Float4_e2m1fn_x2", [[512, 512]] * 2),
                            ("aten::mm", "float", [[512, 512]] * 2)):
    n = next(number)
    save(f"strict/{dtype[-2:]}.json", [
        mark(1, 0, 1000), op(name, 10, 30, shapes, dtype=dtype),
        call("cudaLaunchKernel", 15, 10, n), kernel("some_kernel", 50, 20, n)])
PYTHON
for name in none null true; do
    run info dur/$name.json
    want_rc 0
    want_err "1 of 100 events is left out, for it cannot be"
    want_err "event 4 'gemm' has no number as its 'dur'"
done

# ---- numbers that cannot be ----------------------------------------------------
make <<'PYTHON'
import json
from made_steps import *

for name, total in (("far", 2 ** 63), ("near", 2 ** 60), ("good", 2 ** 30)):
    held = {"Total Allocated": total, "Total Reserved": total, "Bytes": 1, "Addr": 1,
            "Device Id": 0, "Device Type": 1}
    save(f"held/{name}.json", steps(n=20) + [
        {"ph": "i", "cat": "cpu_instant_event", "s": "t", "pid": 1, "name": "[memory]",
         "tid": 1, "ts": 100, "args": held}])

for name, shapes in (("minus", [[-1, 64], [64, 64]]), ("text", [["a", 64], [64, 64]]),
                     ("null", [[None, 64], [64, 64]]), ("absent", []), ("whole", [[64, 64]] * 2)):
    product = node(20, "aten::mm", 10, [[64, 64]] * 2)
    product["inputs"]["shapes"] = shapes
    write_et(f"sizes/{name}.json", [node(10, "ProfilerStep#1"), product])

write("mark.json", "\ufeff" + json.dumps({"schemaVersion": 1, "traceEvents": steps()}))
PYTHON
for name in far near; do
    run info held/$name.json
    want_rc 0
    want_err "event 101 '[memory]': a total is no number of bytes that there can be"
    [[ $out != *"memory recorded"* ]] || complain "no such total counts: $out"
done
run info held/good.json
want_out "memory recorded: 1.00 GiB, 1.00 GiB reserved"
for name in minus text null absent; do
    run --platform h100 sizes/$name.json
    want_rc 0
    want_err "sizes that cannot be, which are not known then"
    want_out "not covered by a law of their own"
done
run --platform h100 sizes/whole.json
want_no_err
run info mark.json
want_rc 0

# ---- what is not covered -------------------------------------------------------
run --json --platform h100 --costs model strict/x2.json
want_out '"coverage": {"ops": 0, "device_time": 0}'
run --strict --platform h100 --costs model strict/x2.json
want_rc 3
want_err "no law covers 'aten::mm' on 'h100'"
run --strict --platform h100 --costs model strict/at.json
want_rc 0

# ---- a replay of another step --------------------------------------------------
make <<'PYTHON'
from made_steps import *

save("few.json", [mark(1, 0, 1000), *launch("aten::mm", 10, 30, 100, "gemm")])
save("many.json", [mark(1, 0, 1000), *sum(
    (launch("aten::mm", 40 * i + 10, 100 * i + 30, 10, "gemm") for i in range(9)), [])])
PYTHON
run validate many.json many.json
want_no_err
run validate many.json few.json
want_rc 0
want_err "few.json: shares 11 % of its operators with a step of 'many.json'"

# ---- files beside those of the ranks -------------------------------------------
make <<'PYTHON'
from made_steps import *

for rank in (0, 1):
    save(f"front/rank{rank}.json", steps())
    save(f"both/rank{rank}.json", steps())
    gpu = {**A100[0], "name": f"NVIDIA {('A100-SXM4-80GB', 'H100 80GB HBM3')[rank]}"}
    write_kineto(f"differ/rank{rank}.json", steps(), deviceProperties=[gpu])
write_kineto("front/api.async_llm.json", [op("serve", 10, 900)])
save("both/merged.json", sum(([mark(1, 0, 1000, pid=100 + i), *launch(
    "aten::mm", 10, 30, 100, "gemm", pid=100 + i)] for i in (0, 1)), []))
PYTHON
run info front
want_rc 3
want_err "async_llm.json: says no rank and has no work of a GPU, as a front end's trace beside those of the ranks: leave it out"
run info both
want_rc 3
want_err "merged.json: holds several processes, of ranks that have files beside it"
run info differ
want_out "GPU: NVIDIA A100-SXM4-80GB"
want_out "GPU: NVIDIA H100 80GB HBM3"
run --platform h100 differ
want_err "the ranks ran on GPUs that differ ('NVIDIA A100-SXM4-80GB', 'NVIDIA H100 80GB HBM3'), so their GPU times are not used"
finish
