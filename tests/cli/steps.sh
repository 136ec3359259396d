#!/usr/bin/env bash
# generate and replay take one step of a recording of several, and all forms of
# a recording give the same one: an execution trace (ET) alone, a Kineto trace
# beside it, marks in both, in one, in none.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# Three steps, #4 to #6, of the nodes 1010.., 2010.., 3010..; #7 has one operator.
# Each folder: whose marks there are, and whether record function ids link.
(cd "$folder" && PYTHONPATH=$SOURCE_DIR/tests/cli python3) <<'PYTHON'
from made_run import *

OPS = ["aten::mm", "aten::relu", "aten::tanh", "aten::mm", "aten::relu"]


def step(number, rf, marked_et, marked_kineto, ops):
    """Nodes and events of a step; a gap behind it, as the profiler leaves one."""
    at, ts, parent = 1000 * (number - 3), 1000 * number, 2
    nodes, events = [], []
    if marked_et:
        nodes.append(node(at, f"ProfilerStep#{number}", rf=at if rf else 0))
        parent = at
    if marked_kineto:
        # as long as the others after its last operator: it is short, not cut
        events.append(mark(number, ts, 820 if number == 7 else 900,
                           rf=at if rf else 0))
    for i, name in enumerate(ops):
        shapes = [[8, 8]] * (2 if name == "aten::mm" else 1)
        this = at + 10 * (i + 1)
        nodes.append(node(this, name, parent, shapes, rf=this if rf else 0))
        events.append(op(name, ts + 10 + 20 * i, 15, shapes, rf=this if rf else 0))
    return nodes, events


def folder(name, rf, marked_et, marked_kineto, et_steps=(4, 5, 6, 7)):
    both = {n: step(n, rf, marked_et, marked_kineto, OPS[:1] if n == 7 else OPS)
            for n in (4, 5, 6, 7)}
    write_et(f"{name}/et.json", sum((both[n][0] for n in et_steps), []))
    write_kineto(f"{name}/kineto.json", sum((e for _, e in both.values()), []))


folder("both", True, True, True)
folder("both-unlinked", False, True, True)
folder("kineto-marks", True, False, True)
folder("et-marks", True, True, False)
folder("one-marked", False, True, True, et_steps=(5,))
folder("one-unmarked", False, False, True, et_steps=(5,))
folder("no-marks", False, False, False, et_steps=(5,))
PYTHON

# nodes OPTION...: the nodes that the program calls, in order.
nodes() {
    run generate --json --direct "$@"
    want_rc 0
    grep -o '"node": [0-9]*' "$folder/out" | tr -dc '0-9\n' | tr '\n' ' '
}

# want_nodes NODES OPTION...
want_nodes() {
    local want=$1 got
    shift
    got=$(nodes "$@")
    [ "$got" = "$want " ] || complain "generate $*: nodes $got, want $want"
}

cd "$folder" || exit 1
six="3010 3020 3030 3040 3050" five="2010 2020 2030 2040 2050"
four="1010 1020 1030 1040 1050"

# The last whole one; #7 has a fifth of their operators.
for name in both both-unlinked kineto-marks et-marks both/et.json; do
    want_nodes "$six" "$name"
done
want_nodes "$five" --iteration 5 both
want_nodes "$four" --iteration 4 kineto-marks
want_nodes "$four" --iteration 0 both
want_nodes "4010" --iteration 7 both-unlinked

# An ET of one step is the program, whichever of Kineto's steps is asked for.
for name in one-marked one-unmarked no-marks; do
    want_nodes "$five" "$name"
done
want_nodes "$five" --iteration 4 one-unmarked
want_nodes "$five" --iteration 5 one-marked
usage_error "want the number of one of the trace's 4 steps" \
    generate --json --iteration 9 both

# The benchmark says what a certificate is about: the mark where the ET has it,
# else its nodes.
run generate --direct both -o bench
want_rc 0
grep -q '"step": "ProfilerStep#6"' bench/data.json ||
    complain "no step: $(grep '"step"' bench/data.json)"
grep -q '"nodes": null' bench/data.json || complain "nodes beside a mark"
grep -q 'ProfilerStep#6' bench/bench.py || complain "no step in the title"
run generate --direct kineto-marks -o bench
want_rc 0
grep -q '"step": null' bench/data.json || complain "a step without its mark"
tr -d ' \n' <bench/data.json | grep -q '"nodes":\[\[3010,3050\]\]' ||
    complain "other nodes: $(grep -A3 '"nodes"' bench/data.json)"

# Of a step that the ET does not have nothing can be called.
PYTHONPATH=$SOURCE_DIR/tests/cli python3 - <<'PYTHON'
from made_run import *
write_et("absent/et.json", [node(100, "ProfilerStep#4", rf=100),
                            node(110, "aten::relu", 100, [[8, 8]], rf=110)])
write_kineto("absent/kineto.json", [
    mark(4, 0, 90, rf=100), op("aten::relu", 10, 5, [[8, 8]], rf=110),
    mark(5, 100, 90), op("aten::tanh", 110, 5, [[8, 8]])])
PYTHON
want_nodes "110" absent
run generate --json --iteration 5 absent
want_rc 3
want_err "no node of ProfilerStep#5, which the Kineto trace beside it has"

# How long a collective took, and who is in its group, only Kineto knows: a mean
# over the steps that ran the node.
PYTHONPATH=$SOURCE_DIR/tests/cli python3 - <<'PYTHON'
from made_run import *
write_et("reduced/et.json", all_reduce(10, 2, 1024))
events = []
for step, us in ((4, 100), (5, 200), (6, 600)):
    ts = 1000 * step
    events += [mark(step, ts, 900), op("c10d::allreduce_", ts + 10, 60),
               op("record_param_comms", ts + 20, 40, Collective_name="allreduce"),
               call("cudaLaunchKernel", ts + 30, 5, step),
               kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", ts + 40, us, step,
                      Collective_name="allreduce", Process_Group_Name="0")]
write_kineto("reduced/kineto.json", events, distributedInfo={
    "backend": "nccl", "rank": 1, "world_size": 4, "pg_count": 1, "pg_config": [
        {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [1, 3]}]})
PYTHON
run generate reduced -o bench
want_rc 0
data=$(tr -d ' \n' <bench/data.json)
[[ $data == *'"delays_us":[300]'* ]] || complain "delays: ${data:0:400}"
[[ $data == *'"groups":[[1,3]]'* ]] || complain "groups: ${data:0:400}"
[[ $data == *'"world":4'* ]] || complain "world: ${data:0:400}"

# validate compares one pass, as often as Kineto saw it: five operators of 15.
PYTHONPATH=$SOURCE_DIR/tests/cli python3 - <<'PYTHON'
from made_run import *
def run(steps):
    return [op("aten::relu", 100 * i + 20 * k, 15, [[8, 8]])
            for i in range(steps) for k in range(5)]
write_et("passes/et.json", [node(10 + 10 * k, "aten::relu", 2, [[8, 8]]) for k in range(5)])
write_kineto("passes/kineto.json", run(7))
write_kineto("one.json", run(1))
PYTHON
run validate --json passes one.json
want_rc 0
grep -q '"name": "operators", "operators": 5, "measured_us": 75, "replayed_us": 75,' \
    "$folder/out" || complain "validate: $out"

# replay runs the same step.
if [ -x "${BUILD_DIR:?the build folder}/mystique-prof-cpu" ]; then
    for name in both kineto-marks et-marks one-unmarked; do
        run replay --backend cpu --iterations 1 --warmup 0 --json "$name"
        want_rc 0
        [ "$(grep -c '"node"' "$folder/out")" -eq 5 ] ||
            complain "replay $name: $(grep -c '"node"' "$folder/out") operators"
    done
    want_out '"step": "ProfilerStep#6"'
    run replay --backend cpu --iterations 1 --warmup 0 --json no-marks
    want_rc 0
    want_out '"step": null'
    [ "$(grep -c '"node"' "$folder/out")" -eq 5 ] ||
        complain "replay no-marks: $(grep -c '"node"' "$folder/out") operators"
fi
finish
