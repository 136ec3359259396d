#!/usr/bin/env bash
# What a recording does not say: steps that do not count, kernels and totals that
# were not recorded, records that one rank lost, two hosts in one file. It is
# said, or refused; nothing else stands in for it. Times are microseconds.
. "$(dirname "$0")/made.bash"

make <<'PYTHON'
from made_steps import *

save("lost.json", [e for e in steps() if e["cat"] != "kernel" or e["ts"] > 1000])
save("cut.json", [e for e in steps(5, 4) if e["ts"] <= 3000])
for rank in (0, 1):
    save(f"ranks/rank{rank}.json", steps(2 + rank),
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})
    save(f"lost_both/rank{rank}.json", [e for e in steps() if e["cat"] != "kernel" or e["ts"] > 1000],
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})
waits = steps()
for e in waits[-2:]: # the last kernel, and the host's wait for it
    e["ts" if e["cat"] == "kernel" else "dur"] += 150
save("waits.json", waits)
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

# One is said to be one, whichever rank says it.
run --json lost_both
want_rc 0
want_err "kernels that were launched in iteration 1 are not recorded: it is left out"
run --json waits.json
want_rc 0
want_err "the GPU is idle in 1 place, 150.0 us in all"
want_err "1 GPU activity began later than the traces explain, by 0.1 ms in all; it keeps its distance"

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
    want_out "1.00 GiB"
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

# ---- records that one rank lost ------------------------------------------------
# Two ranks, four steps, three all-reduces each; one record of rank 1 is lost.
# None of the others waits for the call behind its own. So it is without marks of
# steps, and of messages.
make <<'PYTHON'
from made_steps import *


def rank(folder, number_of, lost=(), marked=True, messages=False):
    about = {"Collective_name": "allreduce", "In_msg_nelems": 1 << 20,
             "Out_msg_nelems": 1 << 20, "Group_size": 2, "dtype": "Float",
             "Process_Group_Name": "0", "Process_Group_Ranks": "[0, 1]"}
    if messages:
        about["Collective_name"] = ("send", "recv")[number_of]
        about.update({"Src_Rank": 0, "Dst_Rank": 1})
    events = []
    for s in range(4):
        t = 10000 * s
        events += [mark(s + 1, t, 10000)] if marked else []
        for k in range(3):
            at = t + 100 + 3000 * k
            for i in range(8):
                events += launch("aten::mm", at + 40 * i, at + 60 + 100 * i, 90, "gemm")
            if (s, k) in lost:
                continue
            n = next(number)
            called = op("record_param_comms", at + 400, 30)
            called["args"].update({k.replace("_", " "): v for k, v in about.items()})
            events += [called, call("cudaLaunchKernel", at + 405, 10, n),
                       kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 900, 200, n,
                              stream=20, **about)]
        events.append(call("cudaDeviceSynchronize", t + 9500, 400))
    save(f"{folder}/rank{number_of}.json", events, distributedInfo={
        "backend": "nccl", "rank": number_of, "world_size": 2,
        "pg_config": [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}]})


for folder, lost in (("whole", ()), ("first", {(1, 0)}), ("two", {(0, 2), (2, 1)})):
    for kind, how in (("", {}), ("_unmarked", {"marked": False}), ("_sent", {"messages": True})):
        rank(folder + kind, 0, {(3, 2)} if folder == "two" else (), **how)
        rank(folder + kind, 1, lost, **how)
PYTHON
run --json --platform a100 --costs model whole
want_rc 0
want_out '"communication_us": {"transfer": 187.17'
for job in {first,two}{,_sent} first_unmarked; do
    run --json --platform a100 --costs model "$job"
    want_rc 0
    want_out '"external_wait_us": 0'
    [[ $out == *'"communication_us": {"transfer": '*', "wait": 0},'* ]] ||
        complain "ranks wait: $(grep -m1 '^  "communication_us"' out)"
    want_err "$([[ $job = two* ]] && echo "3 collectives are" || echo "1 collective is") not recorded that other ranks"
    [[ $err != *"its clock is"* ]] || complain "no clock is off"
done
want_out '"kind": "comm_match"'
run --json first # as traced the others still meet
want_rc 0
[[ $err != *"disagree"* ]] || complain "ranks agree"

# ---- whose a collective is -----------------------------------------------------
make <<'PYTHON'
import json
from made_chakra import *
from made_steps import *

GIB = 2 ** 30
for rank in range(4):
    pair = "1" if rank % 2 else "2"
    both = [collective(1, 0, GIB, pg_name="0"), collective(2, 0, GIB, [1], pg_name=pair)]
    write_chakra(f"listed/run.{rank}.et", both)
    write_chakra(f"callers/run.{rank}.et", both)
    write_chakra(f"stated/run.{rank}.et", both, process_groups=json.dumps(
        [{"pg_name": "0", "ranks": [0, 1, 2, 3]}, {"pg_name": "1", "ranks": [1, 3]},
         {"pg_name": "2", "ranks": [0, 2]}]))
write("listed/comm_group.json", {"0": [0, 1, 2, 3], "1": [1, 3], "2": [0, 2]})

# Groups of one name, of other ranks: each rank calls each of its two once.
for rank in range(4):
    events = [mark(1, 0, 10000)]
    for k, ranks in enumerate(([0, 1, 2, 3], [0, 1] if rank < 2 else [2, 3])):
        about = {"Collective_name": "allreduce", "In_msg_nelems": 1024,
                 "Out_msg_nelems": 1024, "Group_size": len(ranks), "dtype": "Float",
                 "Process_Group_Name": str(k), "Process_Group_Ranks": str(ranks)}
        n, at = next(number), 100 + 3000 * k
        called = op("record_param_comms", at, 30)
        called["args"].update({k.replace("_", " "): v for k, v in about.items()})
        events += [called, call("cudaLaunchKernel", at + 5, 10, n),
                   kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 20, 200, n, **about)]
    save(f"names/rank{rank}.json", events, distributedInfo={
        "backend": "nccl", "rank": rank, "world_size": 4})

# Groups of which no file says which ranks they have, or even a name: two of two
# ranks each, and one of all. Ranks 2 and 3 call half a step later.
for rank in range(4):
    for job, names in (("sizes", {}), ("alike", {4: "dp", 2: "tp"})):
        events = [mark(1, 0, 10000)]
        for k, size in enumerate((4, 2, 2)):
            about = {"Collective_name": "allreduce", "In_msg_nelems": 1 << 20,
                     "Out_msg_nelems": 1 << 20, "Group_size": size, "dtype": "Float"}
            if names:
                about["Process_Group_Name"] = names[size]
            n, at = next(number), 100 + 1000 * k + (3000 if k and rank > 1 else 0)
            called = op("record_param_comms", at, 30)
            called["args"].update({k.replace("_", " "): v for k, v in about.items()})
            events += [called, call("cudaLaunchKernel", at + 5, 10, n),
                       kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 20, 200, n, **about)]
        save(f"{job}/rank{rank}.json", events, distributedInfo={"backend": "nccl", "rank": rank})
PYTHON
for job in listed stated; do
    run --json --platform h100 "$job"
    want_rc 0
    want_no_err
done
run --json --platform h100 listed/*.et # the list is beside them
want_no_err
run --json --platform h100 listed/*.et listed/comm_group.json
want_rc 0
want_no_err
run --json --platform h100 callers
want_rc 0
want_out '"group": "1", "bytes": 1073741824, "ranks": 2, "calls": 1,'
want_err "process groups have no list of ranks: each is of the ranks whose files name it"
cp listed/comm_group.json listed/other.json
run --json --platform h100 listed/*.et
want_rc 0
want_err "2 files beside 'listed/run.0.et' list process groups"

run --json names
want_rc 0
[ "$(grep -c '"group": "1", "bytes": 4096, "ranks": 2, "calls": 1, "transfer_us": 200,' out)" -eq 2 ] ||
    complain "groups of one name: $(grep '"group"' out)"

for job in sizes alike; do
    run --json --costs model --platform a100 "$job"
    want_rc 0
    want_out '"ranks": 4, "calls": 1,'
    [ "$(grep -c '"ranks": 2, "calls": 2,' out)" -eq 2 ] ||
        complain "two groups of two: $(grep '"group"' out)"
    want_err "is 2 of 4 ranks, and no file says which: taken as neighbours"
    [[ $err != *"disagree"* && $out == *'"external_wait_us": 0'* ]] || complain "pairs meet"
done

# ---- both ways at once ---------------------------------------------------------
# A link carries what is sent beside what is received; two of one direction share.
make <<'PYTHON'
from made_chakra import *


def message(number, kind, source, target):
    return node(number, f"MESSAGE_{number}", kind, is_cpu_op=False, comm_size=2 ** 30,
                comm_src=source, comm_dst=target)


for rank in (0, 1):
    peer = 1 - rank
    send, receive = message(1, SEND, rank, peer), message(2, RECV, peer, rank)
    write_chakra(f"both/run.{rank}.et", [send, receive])
    write_chakra(f"one/run.{rank}.et", [receive if rank else send])
PYTHON
run --json --platform h100 one
want_rc 0
one=$(grep -m1 '^  "iteration_us"' out | grep -o '"predicted": [0-9.]*' | grep -o '[0-9.]*')
run --json --platform h100 both
want_rc 0
want iteration_us "$one"

# ---- two processes of one pid --------------------------------------------------
make <<'PYTHON'
from made_steps import *

number = itertools.count(1)
one = steps()
two = [{**e, "ts": e["ts"] + 137} for e in one]
save("hosts.json", one + two)
PYTHON
run hosts.json
want_rc 3
want_err "of process 100: processes with one pid"

# ---- an execution trace that is cut --------------------------------------------
make <<'PYTHON'
from made_steps import *

nodes, events, rf = [], [], 1
for i in (1, 2, 3):
    t = 1000 * i
    events.append(mark(i, t, 1000, rf=rf))
    nodes.append(node(10000 * i, f"ProfilerStep#{i}", rf=rf))
    for k in range(60):
        rf, n, at = rf + 1, next(number), t + 10 + 12 * k
        events += [op("aten::mm", at, 10, [[64, 64]] * 2, rf=rf),
                   call("cudaLaunchKernel", at + 2, 4, n), kernel("gemm", at + 10, 9, n)]
        nodes.append(node(10000 * i + 10 + 10 * k, "aten::mm", 10000 * i, [[64, 64]] * 2, rf=rf))
    rf += 1
    events.append(call("cudaDeviceSynchronize", t + 800, 100))
for name, share in (("little", 0.97), ("much", 0.6)):
    save(f"{name}/kineto.json", events)
    write_et(f"{name}/et.json", nodes)
    text = open(f"{name}/et.json").read()
    write(f"{name}/et.json", text[:int(share * len(text))])
PYTHON
run --json --salvage little
want_rc 0
want_err "et.json: has no node of 4 of the 180 operators of 'little/kineto.json', for it is broken"
want_out '"kind": "no_node", "name": null, "count": 4,'
run --json --salvage much
want_rc 0
want_err "et.json: has no node of 72 of the 180 operators"

# ---- what to do instead --------------------------------------------------------
echo '{"scenarios": [{"name": "half", "changes": [{"scale": {"select": "kernels",
    "factor": 0.5}}]}]}' >half.json
usage_error "half.json: holds scenarios and stands where the trace is wanted: 'mystique-sim whatif half.json lost.json'" \
    whatif lost.json half.json
mkdir stages
cp lost.json stages/1-TP-0-EXTEND.trace.json
cp lost.json stages/1-TP-0-DECODE.trace.json
run stages
want_rc 3
want_err "EXTEND.trace.json: is a Kineto trace of the rank that 'stages/1-TP-0-DECODE.trace.json' is of, by their names"
finish
