#!/usr/bin/env bash
# What stands beside a job's ranks in their files: processes that are none, calls
# that both ranks lost, messages that cross. Times are microseconds.
. "$(dirname "$0")/made.bash"

# iteration: that which the last run predicted.
iteration() {
    grep -m1 '^  "iteration_us"' out | grep -o '"predicted": [0-9.]*' | grep -o '[0-9.]*'
}

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
alone=$(iteration)
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

# ---- calls that both ranks lost ------------------------------------------------
# Each of two ranks lost another of its collectives, so that their numbers are
# equal. The nth is not the nth: by size, or by when they ran. Nothing waits.
make <<'PYTHON'
from made_steps import *


def rank(path, number_of, sizes, lost=(), marked=True, begin=0):
    events = []
    for s in range(4):
        t = begin + 10000 * s
        events += [mark(s + 1, t, 10000)] if marked else []
        for k, elements in enumerate(sizes):
            at, n = t + 100 + 3000 * k, next(number)
            events += launch("aten::mm", at, at + 60, 90, "gemm")
            if (s, k) in lost:
                continue
            about = {"Collective_name": "allreduce", "In_msg_nelems": elements,
                     "Out_msg_nelems": elements, "Group_size": 2, "dtype": "Float",
                     "Process_Group_Name": "0", "Process_Group_Ranks": "[0, 1]"}
            called = op("record_param_comms", at + 200, 30)
            called["args"].update({k.replace("_", " "): v for k, v in about.items()})
            events += [called, call("cudaLaunchKernel", at + 205, 10, n),
                       kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 500, 200, n,
                              stream=20, **about)]
        events.append(call("cudaDeviceSynchronize", t + 9500, 400))
    save(f"{path}/rank{number_of}.json", events, distributedInfo={
        "backend": "nccl", "rank": number_of, "world_size": 2})


MIB = 1 << 20
for sizes, name in (((MIB, MIB, MIB), "alike"), ((MIB, 2 * MIB, 4 * MIB), "unlike")):
    for first, second, what in ((None, None, "whole"), ((0, 1), (3, 1), "far"),
                                ((1, 0), (1, 2), "near")):
        for marked in (True, False):
            where = f"both/{name}_{what}{'' if marked else '_unmarked'}"
            rank(where, 0, sizes, {first}, marked)
            rank(where, 1, sizes, {second}, marked)
            if what == "whole":
                rank(where.replace(what, "off"), 0, sizes, (), marked)
                rank(where.replace(what, "off"), 1, sizes, (), marked, 5000)
PYTHON
for kind in {alike,unlike}_{whole,far,near}{,_unmarked}; do
    run --json --platform a100 --costs model "both/$kind"
    want_rc 0
    case $kind in
    *whole*) declare "${kind/whole/is}=$(iteration)" ;;
    *) whole=${kind/far/is} && whole=${whole/near/is}
        want iteration_us "${!whole}"
        want_err "rank0.json and 1 more: 2 collectives are not recorded that other ranks" ;;
    esac
    grep -m1 '^  "communication_us"' out | grep -q '"wait": 0}' ||
        complain "$kind: ranks wait: $(grep -m1 '^  "communication_us"' out)"
    [[ $err != *"disagree"* && $err != *"its clock is"* ]] || complain "$kind: $err"
done
# A clock that is off says nothing of when a rank began, under model costs either.
for kind in {alike,unlike}_off{,_unmarked}; do
    run --json --platform a100 --costs model "both/$kind"
    want_rc 0
    whole=${kind/off/is}
    want iteration_us "${!whole}"
    want_err "rank 1: its clock is 5.000 ms off rank 0's"
done

# ---- messages of execution traces ----------------------------------------------
# Messages to different ranks run at once, and so do both ways of a pair that both
# ranks send first, or that go round: behind each other they would wait for ever.
# Where one sends first and the other receives first, they are two calls. A rank
# counts its messages with all others, so that two ends may have two numbers.
make <<'PYTHON'
from made_run import *


def message(number, kind, peer, ranks, rank, sequence):
    listed = [[[3, 3, 0, 1 << 26, 4, f"cuda:{rank}"]]]
    inner = node(number, "record_param_comms", 2)
    inner["inputs"] = {
        "values": [*listed, [sequence, True], ["0", "default_pg"], peer, kind, [], [], 0, 1, ranks],
        "shapes": [[[1 << 26]], [[], []], [[], []], [], [], [], [], [], [], []],
        "types": ["GenericList[Tensor(float)]", "Tuple[Int,Bool]", "Tuple[String,String]", "Int",
                  "String", "GenericList[]", "GenericList[]", "Int", "Int", "Int"]}
    inner["attrs"] += [{"name": k, "type": "string", "value": v} for k, v in
                       {"collective_name": kind, "dtype": "Float", "pg_name": "0"}.items()]
    inner["attrs"] += [{"name": k, "type": "uint64", "value": v} for k, v in
                       {"in_msg_nelems": 1 << 26, "out_msg_nelems": 1 << 26,
                        "pg_size": ranks}.items()]
    return inner


def job(name, ranks, calls, numbered=True):
    group = json.dumps([{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl",
                         "ranks": [], "group_size": ranks, "group_count": 1}])
    for rank in range(ranks):
        init = node(50, "## process_group:init ##")
        init["inputs"] = {"values": [group], "shapes": [[]], "types": ["String"]}
        write_et(f"messages/{name}/rank{rank}.json", [init] + [
            message(200 + 10 * i, kind, peer % ranks, ranks, rank, i + 1 if numbered else 1)
            for i, (kind, peer) in enumerate(calls(rank))])


job("one", 2, lambda r: [(("send", "recv")[r], 1 - r)])
job("both", 2, lambda r: [("send", 1 - r), ("recv", 1 - r)])
job("unnumbered", 2, lambda r: [("send", 1 - r), ("recv", 1 - r)], numbered=False)
job("in_turn", 2, lambda r: [("send", 1), ("recv", 1)] if r == 0 else [("recv", 0), ("send", 0)])
job("ring", 4, lambda r: [("send", r + 1), ("recv", r - 1)])
job("ring_unnumbered", 4, lambda r: [("send", r + 1), ("recv", r - 1)], numbered=False)
job("same_way", 2, lambda r: [(("send", "recv")[r], 1 - r)] * 2)
PYTHON
for job in one both unnumbered in_turn ring ring_unnumbered same_way; do
    run --json --platform a100 --costs model "messages/$job"
    want_rc 0
    want_no_err
    case $job in in_turn | same_way) times=2 ;; *) times=1 ;; esac
    [ "$job" = one ] && one=$(iteration)
    awk -v got="$(iteration)" -v one="$one" -v times="$times" \
        'BEGIN { exit !(got > 0.95 * times * one && got < 1.05 * times * one) }' ||
        complain "$job takes $(iteration), and one message $one"
    [[ $out != *'"bytes": 268435456, "ranks": 1,'* ]] || complain "$job: the two ends meet"
done

# The same of a recorded pipeline of three stages, whose middle counts what it
# receives with what it sends: a step is as long as without numbers.
make <<'PYTHON'
from made_steps import *


def message(kind, rank, at, begin, end, sequence):
    about = {"Collective_name": kind, "In_msg_nelems": 1 << 20, "Out_msg_nelems": 1 << 20,
             "Group_size": 3, "dtype": "Float", "Process_Group_Name": "0",
             "Process_Group_Ranks": "[0, 1, 2]", **sequence,
             "Src_Rank": rank if kind == "send" else rank - 1,
             "Dst_Rank": rank + 1 if kind == "send" else rank}
    n, called = next(number), op("record_param_comms", at, 30)
    called["args"].update({k.replace("_", " "): v for k, v in about.items()})
    return [called, call("cudaLaunchKernel", at + 5, 10, n),
            kernel("ncclDevKernel_SendRecv", begin, end - begin, n,
                   stream=20 if kind == "recv" else 21, **about)]


def stage(folder, rank, numbered, lost):
    events, count = [], 0
    for s in range(3):
        t = 20000 * s
        events.append(mark(s + 1, t, 20000))
        for m in range(4):
            at = t + 100 + 2000 * m + 1500 * rank
            for kind, due, end in (("recv", at, at + 400), ("send", at + 1100, at + 1900)):
                if rank == (0 if kind == "recv" else 2):
                    continue
                count += 1
                if (s, m, kind) not in lost:
                    events += message(kind, rank, due, due + 20, end,
                                      {"Seq": count} if numbered else {})
            events += launch("aten::mm", at + 500, at + 520, 500, "gemm")
        events.append(call("cudaDeviceSynchronize", t + 19000, 400))
    save(f"pipeline/{folder}/rank{rank}.json", events,
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": 3})


for rank in range(3):
    stage("plain", rank, False, ())
    stage("numbered", rank, True, ())
    stage("lost", rank, True, {(1, 1, "recv")} if rank == 1 else ())
PYTHON
for job in plain numbered lost; do
    run --json --platform a100 --costs model "pipeline/$job"
    want_rc 0
    [ "$job" = plain ] && plain=$(iteration)
    want iteration_us "$plain"
    [[ $out == *'"name": "send", "group": "0", "bytes": 4194304, "ranks": 2, "calls": 8,'* ]] ||
        complain "$job: eight messages of two ends: $(grep '"group"' out)"
done
want_err "lost/rank1.json: 1 collective is not recorded that other ranks of its group recorded"
finish
