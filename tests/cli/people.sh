#!/usr/bin/env bash
# Files as people have them: recordings of engines and launchers, made here as
# these write them, and recordings of PyTorch (people/README.md). Each says what
# is right. Times are microseconds.
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
recorded=$SOURCE_DIR/tests/cli/people

(cd "$folder" && PYTHONPATH=$SOURCE_DIR/tests/cli python3) <<'PYTHON'
import itertools
from made_run import *

A100 = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85 * 10 ** 9,
         "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
MM, RELU = "ampere_sgemm_128x64_nn", "void at::native::vectorized_elementwise_kernel"
number = itertools.count(1)


def launch(name, ts, start, us, kernel_name, start_call="cudaLaunchKernel", stream=7,
           **where):
    """An operator of 30 whose kernel begins at `start`."""
    n = next(number)
    return [op(name, ts, 30, [[64, 64]] * (2 if name == "aten::mm" else 1), **where),
            call(start_call, ts + 5, 10, n, **where),
            kernel(kernel_name, start, us, n, stream=stream)]


def step(ts, number=None, **how):
    """A step of 1000: kernels of 100 and 200, for which the host waits."""
    marks = [] if number is None else [mark(number, ts, 1000)]
    return [*marks, *launch("aten::mm", ts + 10, ts + 30, 100, MM, **how),
            *launch("aten::relu", ts + 50, ts + 130, 200, RELU, **how),
            call("cudaDeviceSynchronize", ts + 100, 250)]


def steps(first=1, **how):
    return sum((step(1000 * i, first + i, **how) for i in range(3)), [])


def save(path, events, **top):
    write_kineto(path, events, deviceProperties=A100, **top)


save("plain.json", steps())

# A loader that marks batches of its own, slower or faster than the run's steps.
save("loader.json", steps(5) + sum(
    ([mark(i, 330 * i, 300, tid=200), op("aten::randn", 330 * i + 10, 50, tid=200)]
     for i in range(9)), []))
save("nested.json", steps() + sum(
    ([mark(i + 1, 1000 * i + 400, 300, tid=200),
      op("aten::randn", 1000 * i + 450, 50, tid=200)] for i in range(3)), []))

# The mark that is open when the recording ends; kernels of the last step drain.
save("open.json", steps() + [mark(4, 3000, 12)])

# TensorBoard's copy of marks on the GPU's timeline, spans and instants.
save("spans.json", steps() + [
    event("gpu_user_annotation", "ProfilerStep#1", 30, 300, 0, 7),
    event("gpu_user_annotation", "forward", 30, 100, 0, 7),
    event("Trace", "PyTorch Profiler (0)", 0, 3000, "Spans", "PyTorch Profiler"),
    {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler",
     "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 0},
    {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 3000}])

# with_stack: Python's frames around everything.
save("stack.json", steps() + sum(
    ([event("python_function", "train.py(10): step", 1000 * i + 1, 990),
      event("python_function", "nn.Module: Linear_0", 1000 * i + 5, 100)]
     for i in range(3)), []))

# activities=[CUDA]: no operators. record_shapes=False: operators without sizes.
save("gpu-only.json", [e for e in steps() if e["cat"] != "cpu_op"])
save("no-shapes.json", [{**e, "args": {k: v for k, v in e["args"].items()
                                       if not k.startswith("Input")}} for e in steps()])

# vLLM: no marks, labels of the engine, replays of graphs, a read of the token.
events = []
for i in range(4):
    t, replay, copy = 1000 * i, next(number), next(number)
    events += [event("user_annotation", "execute_context_0(0)_generation_32(32)", t, 800),
               event("user_annotation", "gpu_model_runner: forward", t + 50, 300),
               call("cudaGraphLaunch", t + 60, 30, replay)]
    events += [kernel(f"nvjet_tst_{k}", t + 100 + 60 * k, 60, replay, graph_node_id=k + 1)
               for k in range(5)]
    events += launch("aten::argmax", t + 400, t + 440, 20, "void at::native::reduce_kernel")
    events += [op("aten::item", t + 450, 100), call("cudaMemcpyAsync", t + 455, 20, copy),
               call("cudaStreamSynchronize", t + 476, 20),
               event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", t + 480, 3, 0, 7,
                     device=0, stream=7, correlation=copy, bytes=8)]
for rank in (0, 1):
    save(f"vllm/dp0_pp0_tp{rank}_dcp0_ep{rank}_rank{rank}.1754301234567.pt.trace.json.gz",
         events)

# SGLang: a file for each stage and rank.
for rank in (0, 1):
    for stage in ("EXTEND", "DECODE"):
        save(f"sglang/1754301234.5-TP-{rank}-{stage}.trace.json.gz", step(0) + step(1000))

# torchtitan: a folder for each profiled iteration. FSDP2's all-gathers are on a
# stream of their own.
GATHER = {"Collective_name": "_allgather_base", "In_msg_nelems": 1024,
          "Out_msg_nelems": 2048, "Group_size": 2, "dtype": "BFloat16",
          "Process_Group_Name": "0", "Process_Group_Ranks": "[0, 1]"}
for iteration in (10, 20):
    for rank in (0, 1):
        events = []
        for i in range(3):
            t, n = 1000 * i, next(number)
            events += [mark(iteration + i, t, 1000),
                       event("user_annotation", "FSDP::all_gather (layers.0)", t + 5, 80),
                       event("gpu_user_annotation", "FSDP::all_gather (layers.0)", t + 50,
                             150, 0, 20),
                       op("c10d::_allgather_base_", t + 10, 40),
                       op("record_param_comms", t + 12, 30),
                       call("cudaLaunchKernelExC", t + 15, 10, n),
                       kernel("ncclDevKernel_AllGather_RING_LL", t + 50, 150, n, stream=20,
                              **GATHER)]
            events[-3]["args"].update({k.replace("_", " "): v for k, v in GATHER.items()})
            events += [*launch("aten::mm", t + 130, t + 220, 300, MM),
                       call("cudaDeviceSynchronize", t + 200, 700)]
        save(f"titan/iteration_{iteration}/rank{rank}_trace.json", events,
             distributedInfo={"backend": "cuda:nccl,cpu:gloo", "rank": rank,
                              "world_size": 2, "pg_count": 1, "pg_config": [
                                  {"pg_name": "0", "pg_desc": "default_pg",
                                   "pg_size": 2, "ranks": [0, 1]}]})

# Names of the Chakra tutorial: the Kineto files record their ranks, ETs do not.
for rank in (0, 1):
    save(f"chakra/kineto_{rank}.json", steps(),
         distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})
    write_et(f"chakra/pytorch_et_{rank}.json", sum(
        ([node(1000 * i, f"ProfilerStep#{i}"),
          node(1000 * i + 10, "aten::mm", 1000 * i, [[64, 64]] * 2),
          node(1000 * i + 20, "aten::relu", 1000 * i, [[64, 64]])] for i in (1, 2, 3)), []))

# TensorBoard's handler: two cycles of one process.
for time in ("1795757232138249294", "1795757232224041632"):
    save(f"tensorboard/host_17.{time}.pt.trace.json.gz", steps())

# HIP, whose calls have names of their own; backward on a thread of autograd's;
# kernels that run on when their step is over.
save("hip.json", steps(start_call="hipExtModuleLaunchKernel"))
save("autograd.json", sum(
    ([mark(i + 1, 1000 * i, 1000), *launch("aten::mm", 1000 * i + 10, 1000 * i + 60, 100, MM),
      op("autograd::engine::evaluate_function: MmBackward0", 1000 * i + 200, 100, tid=101),
      *launch("aten::mm", 1000 * i + 210, 1000 * i + 260, 100, MM, tid=101)]
     for i in range(3)), []))
save("async.json", sum(
    ([mark(i + 1, 1000 * i, 1000),
      *launch("aten::mm", 1000 * i + 600, 1000 * i + 630, 700, MM)] for i in range(3)), []))

# torch.compile on a GPU: a region, in it generated kernels and a product.
events = []
for i in range(3):
    t, n = 1000 * i, next(number)
    events += [mark(i + 1, t, 1000), op("Torch-Compiled Region: 0/0", t + 5, 300),
               op("## Call CompiledFxGraph f4x ##", t + 10, 200),
               op("triton_poi_fused_add_0", t + 20, 20, [[64, 64]] * 2),
               event("cuda_driver", "cuLaunchKernelEx", t + 25, 8, correlation=n),
               kernel("triton_poi_fused_add_0", t + 60, 40, n),
               *launch("aten::mm", t + 60, t + 100, 100, MM)]
save("compiled.json", events)
PYTHON

# want FILE PERIOD KERNELS STEPS [OPTION...]: the mean of an iteration, as traced
# unless an option says else.
want() {
    local file=$1 period=$2 kernels=$3 steps=$4
    shift 4
    run --json "$@" "$file"
    want_rc 0
    python3 - "$folder/out" "$period" "$kernels" "$steps" <<'PYTHON' ||
import json, sys
d = json.load(open(sys.argv[1]))
got = [d["period_us"]["predicted"], d["kernel_us"]["predicted"],
       " ".join(i["name"].replace("ProfilerStep#", "") for i in d["iterations"])]
assert abs(got[0] - float(sys.argv[2])) < 0.01 and got[2] == sys.argv[4] and \
    abs(got[1] - float(sys.argv[3])) < 0.01, got
b = d["breakdown_us"]
assert abs(sum(b.values()) - d["iteration_us"]["predicted"]) < 0.01, b
PYTHON
        complain "$file: want a period of $period, kernels of $kernels, steps $steps"
}

# refused TEXT ARGUMENT...: exit code 3, and a message that holds TEXT.
refused() {
    local text=$1
    shift
    run "$@"
    want_rc 3
    want_err "$text"
}

cd "$folder" || exit 1
for file in plain spans stack gpu-only no-shapes hip nested; do
    want "$file.json" 1000 300 "1 2 3"
done
want plain.json 850 150 "1 2 3" --scale kernels=0.5
want nested.json 850 150 "1 2 3" --scale kernels=0.5
want loader.json 1000 300 "5 6 7"
want_out '"name": "aten::relu", "calls": 1,'
run info --json loader.json
want_out '"steps": 3'
want open.json 1000 300 "1 2 3"
want_err "in iteration 4 nothing was recorded: it is left out"
want autograd.json 1000 200 "1 2 3"
want async.json 1000 700 "1 2 3"
want compiled.json 1000 140 "1 2 3"
want_out '"name": "Torch-Compiled Region: 0/0", "calls": 1,'
echo '{"scenarios": [{"name": "half", "changes": [{"scale": {"select": "kernels",
    "factor": 0.5}}]}]}' >half
for file in plain nested open stack; do
    run whatif --json half "$file.json"
    want_rc 0
    want_out '"ratio": {"predicted": 0.85,'
done
run compare --json plain.json nested.json
want_rc 0
want_out '"kernel_us": {"a": 300, "b": 300, "difference": 0'

# 4 x (5 x 60 + 20) of kernels, 4 x 3 of copies; the replay's kernels by name.
want vllm 3800 1280 trace
want_out '"ranks": 2'
want_out '"memory_copy": 12'
want_out '"name": "nvjet_tst_4", "calls": 4,'

refused "TP-0-EXTEND.trace.json.gz: is a Kineto trace of rank 0, as" sglang
want_err "recordings of other steps or stages are jobs of their own"
run --json sglang/*-DECODE.trace.json.gz
want_rc 0
want_out '"ranks": 2'
refused "iteration_20/rank0_trace.json: is a Kineto trace of another step than" titan
want titan/iteration_20 1000 300 "20 21 22"
want_out '"communication_us": {"transfer": 150, "wait": 0}'
refused "found no execution trace (ET)" generate titan/iteration_10 -o bench
refused "is a Kineto trace that says no rank, as" tensorboard
want tensorboard/host_17.1795757232138249294.pt.trace.json.gz 1000 300 "1 2 3"

want chakra 1000 300 "1 2 3"
want_out '"ranks": 2'
run generate chakra -o bench
want_rc 0
want_err "2 ranks, all with one program"
grep -q '"step": "ProfilerStep#3"' bench/data.json || complain "chakra: another step"

# ---- recordings of PyTorch -----------------------------------------------------
# Three calls of two layers and what is between them. A CPU's generated code is
# not recorded, and operators without shapes say nothing of a GPU.
run --json --platform a100 "$recorded/inference.json.gz"
want_rc 0
want_out '"name": "aten::linear", "calls": 6,'
want_out '"name": "aten::gelu", "calls": 3,'
refused "no-shapes.json.gz: found operators without shapes and no GPU activity" \
    --platform a100 "$recorded/no-shapes.json.gz"
refused "found operators without shapes" \
    compare --platform a100,h100 "$recorded/no-shapes.json.gz" "$recorded/no-shapes.json.gz"
run --json "$recorded/no-shapes.json.gz"
want_rc 0
# Numbers that an optimizer reads are copies without shapes: they say no more.
python3 - "$recorded/no-shapes.json.gz" "$folder/numbers.json" <<'PYTHON'
import gzip, json, sys
file = json.load(gzip.open(sys.argv[1]))
one = next(e for e in file["traceEvents"] if e.get("cat") == "cpu_op")
file["traceEvents"] += [dict(one, name="aten::_local_scalar_dense", ts=one["ts"] + 1e5 + i,
                             dur=0.5) for i in range(3)]
json.dump(file, open(sys.argv[2], "w"))
PYTHON
refused "found operators without shapes and no GPU activity" --platform a100 "$folder/numbers.json"
run --json --platform a100 "$recorded/compiled"
want_rc 0
want_err "4 compiled regions were recorded on a CPU"
run --json --platform a100 "$recorded/cycles"
want_rc 0
want_out '"name": "ProfilerStep#6"'
want_no_err
# The same, where the recording of times ends within the last step: what a GPU runs
# otherwise is made of the steps that are left.
python3 - "$recorded/cycles" "$folder/ended" <<'PYTHON'
import gzip, json, os, sys
given, made = sys.argv[1:]
os.makedirs(made)
for name in ("et", "kineto"):
    file = json.load(gzip.open(f"{given}/{name}.json.gz"))
    events = file.get("traceEvents")
    if events:
        last = max((e for e in events if e.get("ph") == "X" and
                    e["name"].startswith("ProfilerStep#")), key=lambda e: e["ts"])
        end = last["ts"] + 0.4 * last["dur"]
        file["traceEvents"] = [e for e in events if e.get("ph") != "X" or e["ts"] < end]
    json.dump(file, open(f"{made}/{name}.json", "w"))
PYTHON
run --json --platform a100 "$recorded/cycles"
whole=$(grep -m1 -A1 '"period_us"' "$folder/out" | grep -o '"predicted": [0-9.]*')
run --json --platform a100 "$folder/ended"
want_rc 0
want_err "the recording ends within iteration 7: it is left out"
[ "$(grep -c '"name": "ProfilerStep#' "$folder/out")" -eq 1 ] ||
    complain "the cut step counts: $(grep '"name": "ProfilerStep#' "$folder/out")"
want_out "$whole"

run generate --json "$recorded/cycles"
want_rc 0
[ "$(grep -c '"node"' "$folder/out")" -eq 11 ] || complain "cycles: $(grep -c '"node"' "$folder/out") calls"
want_out '"form": "autograd"'
usage_error "one of the trace's 2 steps" generate --json --iteration 2 "$recorded/cycles"
finish
