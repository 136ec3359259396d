#!/usr/bin/env bash
# Whom a call of a rank meets on the others, and whose clocks agree: process
# groups whose lists, names and sizes say less than they should, and calls that
# one rank lost. Times are microseconds.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >"$folder/groups_made.py" <<'PYTHON'
import itertools
from made_run import *
from made_chakra import node as chakra, write_chakra, COMP, SEND, RECV

A100 = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85 * 10 ** 9,
         "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
number = itertools.count(1)


def launch(name, ts, start, us, kernel_name, stream=7, about={}):
    """An operator of 30 whose kernel begins at `start`."""
    n = next(number)
    return [op(name, ts, 30, [[64, 64]] * 2), call("cudaLaunchKernel", ts + 5, 10, n),
            kernel(kernel_name, start, us, n, stream=stream, **about)]


def comm(ts, start, end, what="allreduce", group="g", elements=1024, **about):
    """A call at `ts` whose kernel runs from `start` to `end`. `about`: what else
    is recorded of it, with '_' for ' '."""
    return launch(f"c10d::{what}", ts, start, end - start, f"ncclDevKernel_{what}", 21,
                  {"Collective_name": what, "In_msg_nelems": elements,
                   "Out_msg_nelems": elements, "dtype": "Float",
                   "Process_Group_Name": group, **about})


def listed(ranks, **about):
    return {"Process_Group_Ranks": str(ranks), "Group_size": len(ranks), **about}


def save(path, rank, world, events, **top):
    if world:
        top["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world,
                                  **top.get("distributedInfo", {})}
    write_kineto(path, events, deviceProperties=A100, **top)
PYTHON
make() {
    (cd "$folder" && PYTHONPATH=$SOURCE_DIR/tests/cli:$folder python3)
}

# ranks FIELD...: of each rank that field, predicted or of its communication.
ranks() {
    python3 - "$folder/out" "$@" <<'PYTHON'
import json, sys
for r in json.load(open(sys.argv[1]))["ranks_detail"]:
    all = {"iteration": r["iteration_us"]["predicted"], **r["communication_us"]}
    print(*(f"{all[f]:.0f}" for f in sys.argv[2:]))
PYTHON
}

# same FOLDER FOLDER [OPTION...]: their ranks are predicted alike.
same() {
    local one=$1 other=$2 want
    shift 2
    run "$folder/$other" --json "$@"
    want=$(ranks iteration transfer wait)
    [ -n "$want" ] || complain "no ranks"
    run "$folder/$one" --json "$@"
    [ "$(ranks iteration transfer wait)" = "$want" ] ||
        complain "want the ranks of $other: $want; got $(ranks iteration transfer wait)"
}

# ---- peers of messages ---------------------------------------------------------

# Rank 0 sends to 2, 1 to 3, 5000 after these began to receive. Kineto and Chakra
# record the ranks of the job, which are not the places in groups of two.
make <<'PYTHON'
from groups_made import *
for name, group in (("two", None), ("all", [0, 1, 2, 3])):
    for a, b in ((0, 2), (1, 3)):
        ranks = listed(group or [a, b])
        of = f"g{a}" if not group else "all"
        save(f"peer_{name}/rank{a}.json", a, 4, sum((
            [mark(s, 10000 * s, 10000)] +
            launch("aten::mm", 10000 * s + 10, 10000 * s + 30, 4990, "gemm") +
            comm(10000 * s + 100, 10000 * s + 5050, 10000 * s + 5150, "send", of,
                 Dst_Rank=b, **ranks) +
            [call("cudaDeviceSynchronize", 10000 * s + 200, 4960)]
            for s in range(3)), []))
        save(f"peer_{name}/rank{b}.json", b, 4, sum((
            [mark(s, 10000 * s, 10000)] +
            comm(10000 * s + 10, 10000 * s + 50, 10000 * s + 5150, "recv", of,
                 Src_Rank=a, **ranks) +
            [call("cudaDeviceSynchronize", 10000 * s + 100, 5060)]
            for s in range(3)), []))
        name_of = {"pg_name": of}
        about = dict(is_cpu_op=False, comm_size=2 ** 20, comm_src=a, comm_dst=b)
        write_chakra(f"chakra_{name}/run.{a}.et", [
            chakra(1, "work", COMP, us=5000, is_cpu_op=False),
            chakra(2, "send", SEND, (1,), **about, **name_of)])
        write_chakra(f"chakra_{name}/run.{b}.et", [
            chakra(1, "recv", RECV, **about, **name_of)])
    write(f"chakra_{name}/comm_group.json",
          {"all": group} if group else {"g0": [0, 2], "g1": [1, 3]})
PYTHON
same peer_two peer_all --scale kernels=0.5
same peer_two peer_all
[ "$(ranks transfer wait)" = $'100 0\n100 0\n100 5000\n100 5000' ] ||
    complain "messages are not of 100 after 5000: $(ranks transfer wait)"
same chakra_two chakra_all --platform h100

# Of different sizes they are no message. That has no group, whose size is not said.
make <<'PYTHON'
from groups_made import *
about = dict(is_cpu_op=False, comm_src=0, comm_dst=1)
write_chakra("sizes/run.0.et", [chakra(1, "send", SEND, **about, comm_size=2 ** 26)])
write_chakra("sizes/run.1.et", [chakra(1, "recv", RECV, **about, comm_size=2 ** 20)])
PYTHON
run "$folder/sizes" --platform h100
want_err "ranks disagree on the order of messages from rank 0 to rank 1: they are"

# ---- one group on several ranks ------------------------------------------------

# Two groups of one name, the second 1500 later, with other members: they are as
# those of two names. The clocks of all ranks are right.
make <<'PYTHON'
from groups_made import *
for folder, names in (("name_one", ("tp", "tp")), ("name_two", ("t0", "t1"))):
    for rank in range(4):
        group, members = names[rank // 2], [rank // 2 * 2, rank // 2 * 2 + 1]
        late = 100 + 1500 * (rank // 2)
        events = []
        for s in range(4):
            t = 10000 * s
            events += [mark(s, t, 10000)]
            events += launch("aten::mm", t + 10, t + 30, late - 40 + 500 * (rank % 2), "gemm")
            events += comm(t + 60, t + late + 500 * (rank % 2), t + late + 600, group=group,
                           **listed(members))
            events += [call("cudaDeviceSynchronize", t + 100, late + 510)]
        save(f"{folder}/rank{rank}.json", rank, 4, events)
PYTHON
same name_one name_two
want_no_err

# One rank has two groups of one name, a row and a column: they are as those of two.
make <<'PYTHON'
from groups_made import *
for folder, names in (("both_one", ("g", "g")), ("both_two", ("row", "column"))):
    for rank in range(4):
        row, column = [rank // 2 * 2, rank // 2 * 2 + 1], [rank % 2, rank % 2 + 2]
        events = []
        for s in range(3):
            t = 10000 * s
            events += [mark(s, t, 10000)]
            events += launch("aten::mm", t + 10, t + 30, 300 + 100 * rank, "gemm")
            events += comm(t + 60, t + 340 + 100 * rank, t + 540 + 100 * (rank | 1),
                           group=names[0], **listed(row))
            events += comm(t + 100, t + 550 + 100 * (rank | 1), t + 1000,
                           group=names[1], **listed(column))
            events += [call("cudaDeviceSynchronize", t + 150, 960)]
        save(f"{folder}/rank{rank}.json", rank, 4, events)
PYTHON
same both_one both_two
want_no_err

# An empty list, which recorders write for all ranks and where they do not know: a
# group of two of the four ranks, or of all, is known by its size. A list, and none
# with a start and a stride, are what they say.
make <<'PYTHON'
from groups_made import *
def job(folder, size, about, world=4):
    for rank in range(4):
        first = rank // size * size
        events = []
        for s in range(3):
            t = 10000 * s
            events += [mark(s, t, 10000)]
            events += launch("aten::mm", t + 10, t + 30, 300 + 100 * rank, "gemm")
            events += comm(t + 60, t + 350 + 100 * rank, t + 350 + 100 * (first + size),
                           Group_size=size, **about(first))
            events += [call("cudaDeviceSynchronize", t + 150, 960)]
        save(f"{folder}/rank{rank}.json", rank, world, events)
empty = lambda first: {"Process_Group_Ranks": "[]", "Global_rank_start": 0,
                       "Global_rank_stride": 1}
listed_of = lambda n: lambda first: {"Process_Group_Ranks":
                                     str(list(range(first, first + n)))}
job("list_empty", 2, empty)
job("list_no_text", 2, lambda first: {**empty(first), "Process_Group_Ranks": ""})
job("list_no_world", 2, empty, None)
job("list_two", 2, listed_of(2))
job("list_stride", 2, lambda first: {"Global_rank_start": first, "Global_rank_stride": 1})
job("list_empty_all", 4, empty)
job("list_all", 4, listed_of(4))
PYTHON
for i in empty no_text no_world; do
    same list_$i list_two
    want_err "process group 'g' is 2 of 4 ranks, and no file says which: taken as neighbours"
done
same list_stride list_two
want_no_err
same list_empty_all list_all
want_no_err

# Of 64 ranks the first 30 are listed. They go on one after the other, unless a rank
# calls the group that would then not be in it.
make <<'PYTHON'
from groups_made import *
about = {"Process_Group_Ranks": str(list(range(30)))[:-1] + ", ...]", "Group_size": 64}
for folder, ranks in (("cut_on", (0, 60)), ("cut_apart", (0, 60, 93))):
    for rank in ranks:
        save(f"{folder}/rank{rank}.json", rank, 128,
             [mark(1, 0, 1000), *comm(60, 100, 300, **about)])
PYTHON
run "$folder/cut_on" --json
[[ $err != *neighbours* ]] || complain "the list goes on: $err"
run "$folder/cut_apart" --json
want_err "process group 'g' is 64 of 128 ranks, and no file says which: taken as neighbours"

# ---- clocks --------------------------------------------------------------------

# Four ranks as a grid: 0 and 1, 2 and 3 share rows, 0 and 2, 1 and 3 columns. The
# clock of the second row is off: rank 3's can be known through another rank.
make <<'PYTHON'
from groups_made import *
def grid(folder, off, **top):
    for rank in range(4):
        row, column = [rank // 2 * 2, rank // 2 * 2 + 1], [rank % 2, rank % 2 + 2]
        events = []
        for s in range(4):
            t = 10000 * s + off * (rank // 2)
            events += [mark(s, t, 10000)]
            events += launch("aten::mm", t + 10, t + 30, 300 + 100 * rank, "gemm")
            events += comm(t + 60, t + 340 + 100 * rank, t + 740 + rank // 2 * 200,
                           group=f"r{row[0]}", **listed(row))
            events += comm(t + 100, t + 750 + rank // 2 * 200, t + 1100,
                           group=f"c{column[0]}", **listed(column))
            events += [call("cudaDeviceSynchronize", t + 150, 960)]
        about = {k: v(rank) for k, v in top.items()}
        save(f"{folder}/rank{rank}.json", rank, 4, events, **about)
grid("grid", 0)
grid("grid_off", 5000)
host = lambda rank: f"n{rank // 2}"
grid("grid_hosts", 5000, hostName=host)
grid("grid_same", 0.0002, hostName=host)
grid("grid_far", 5 * 10 ** 9)
PYTHON
same grid_off grid
want_err "rank 3: its clock is 5.000 ms off rank 0's; aligned"
same grid_hosts grid
want_err "rank 3: its clock is 5.000 ms off rank 0's; aligned"
same grid_same grid
want_no_err
same grid_far grid
want_err "rank 2: its clock is another one than rank 0's; aligned"
want_err "rank 3: its clock is another one than rank 0's; aligned"

# ---- lost calls ----------------------------------------------------------------

# Two all-reduces a step, after 4 x 250 on rank 0 and 4 x 240 on rank 1. Rank 1 lost
# one of them. With kernels of half the time, steps take half the time all the same:
# nobody waits for an instant of the recording.
make <<'PYTHON'
from groups_made import *
def job(folder, lost=(), numbered=False, marks=True, n=4):
    for rank in (0, 1):
        events = []
        for s in range(n):
            t = 3000 * s
            events += [mark(s, t, 3000)] if marks else []
            for i in range(2):
                at = t + 10 + 1400 * i
                for k in range(4):
                    events += launch("aten::mm", at + 32 * k, at + 20 + 250 * k,
                                     250 - 10 * rank, "gemm", 21)
                seq = {"Seq": 2 * s + i + 1} if numbered else {}
                if (rank, s, i) not in lost:
                    events += comm(at + 140, at + 1020 - 40 * rank, at + 1200,
                                   **listed([0, 1]), **seq)
                events += [call("cudaDeviceSynchronize", at + 180, 1030)]
        save(f"{folder}/rank{rank}.json", rank, 2, events)
lost = [(1, 2, 0)]
job("lost_none")
job("lost_one", lost)
job("lost_seq", lost, True)
job("first", [(1, 0, 0)], marks=False)
job("last", [(0, 3, 1)], marks=False)
job("first_seq", [(1, 0, 0)], True, marks=False)  # it may have begun later
job("amid_seq", [(1, 2, 0)], True, marks=False)
PYTHON
lost="is not recorded that other ranks of its group recorded"
for i in none one seq; do
    run "$folder/lost_$i" --json --scale kernels=0.5
    [ -n "${half:=$(ranks iteration)}" ] || complain "no ranks"
    [ "$(ranks iteration)" = "$half" ] || complain "want $half, got $(ranks iteration)"
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(abs(d["period_us"]["predicted"] - 3000) < 1000)' "$folder/out" ||
        complain "the period is the recorded one"
    [ $i = none ] || want_err "lost_$i/rank1.json: 1 collective $lost"
done

# Without steps, the first or the last one of a rank: those between meet as they did.
for i in first last; do
    run "$folder/$i" --json
    want_err "1 collective $lost"
    want_err "7 collectives meet those of their kind"
    [[ $err != *disagree* && $err != *"its clock"* ]] || complain "got: $err"
done
run "$folder/first_seq" --json
want_no_err
run "$folder/amid_seq" --json
want_err "rank1.json: 1 collective $lost"

# A rank that lost all that it received: it recorded what it sent.
make <<'PYTHON'
from groups_made import *
for rank in (0, 1):
    events = [mark(1, 0, 3000), *launch("aten::mm", 10, 30, 500, "gemm")]
    for i, sender in enumerate((0, 1)):
        what = "send" if rank == sender else "recv"
        if (rank, what) != (1, "recv"):
            events += comm(600 + 200 * i, 640 + 200 * i, 740 + 200 * i, what, "pp",
                           **listed([0, 1]), Src_Rank=sender, Dst_Rank=1 - sender)
    save(f"lost_way/rank{rank}.json", rank, 2, events)
PYTHON
run "$folder/lost_way" --json
want_err "lost_way/rank1.json: 1 collective $lost"

finish
