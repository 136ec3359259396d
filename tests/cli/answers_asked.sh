#!/usr/bin/env bash
# What is asked of a traced step: parts of it, prices, several GPUs, a table of jobs;
# what is refused, with which words. Every number and word.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# ---- parts -------------------------------------------------------------------------

part() { # NAME OPTION...: of a step of two ranks
    local name=$1
    shift
    run --platform a100 --csv "$@" "$data/traces/dlrm-ddp-2ranks"
    { echo "exit code $rc"; cut -d, -f1-5 "$folder/out" | head -n 12; cat "$folder/err"; } | to_eight_digits >"$folder/said"
    hold "part_$name"
}
part ops --ops 'aten::*mm*'
part no_ops --ops 'aten::lineer'
part exclude --exclude 'aten::*'
part no_exclude --exclude 'atan::linear'
part kinds --kind communication
part copies --kind copies
part labels --subtree 'ProfilerStep*'
part no_label --subtree 'ProfilerSteps#1'
part range --range 5..60
part no_range --range 1..2
part apart --kind compute --ops 'c10d::*' --range 5..60
part scales --scale 'kernels=0.5' --scale 'op:aten::linear=2' --scale 'host-part:no such=0.5'
part links --scale 'link:no such=0.5'
part family --scale 'family:gem=0.5'
part stream --scale 'stream:99=0.5'
part host --scale 'host:aten::linear=0'
part iteration --iteration 99
part strict --strict
part measured --costs measured
part ranks --ranks 3
part more_ranks --ranks 16 --nodes 2

# ---- attention that is written out, and its backward pass -----------------------------

python3 - "$folder/attends.json" <<'PYTHON'
import json
import sys

events, at, n = [], 0, 0


def run(op, seq, us, dims=(), backward=False, stream=7):
    global at, n
    n += 1
    args = {"Sequence number": seq, "Input Dims": list(dims), "Input type": ["c10::Half"] * len(dims)}
    if backward:
        args["Fwd thread id"] = 1
    events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 2 if backward else 1, "ts": at, "dur": 8, "args": args})
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2 if backward else 1,
                   "ts": at + 2, "dur": 2, "args": {"correlation": n}})
    events.append({"ph": "X", "cat": "kernel", "name": f"kernel{n}", "pid": 0, "tid": stream, "ts": at + 10, "dur": us,
                   "args": {"correlation": n, "device": 0, "stream": stream, "grid": [512, 1, 1], "block": [128, 1, 1]}})
    at += 10


sizes = ([16, 512, 64], [16, 64, 512]), ([16, 512, 512], [16, 512, 64])
for layer in (0, 20):
    run("aten::bmm", layer + 1, 50, sizes[0])
    run("aten::mul", layer + 2, 20)
    run("aten::_softmax", layer + 3, 30)
    run("aten::bmm", layer + 4, 50, sizes[1])
    run("aten::gelu", layer + 9, 25)
run("aten::_softmax", 50, 30)  # of no product
for layer in (20, 0):
    run("autograd::engine::evaluate_function: GeluBackward0", layer + 9, 35, backward=True)
    run("autograd::engine::evaluate_function: BmmBackward0", layer + 4, 60, backward=True)
    run("autograd::engine::evaluate_function: BmmBackward0", layer + 4, 60, backward=True)
    run("autograd::engine::evaluate_function: SoftmaxBackward0", layer + 3, 45, backward=True)
    run("autograd::engine::evaluate_function: MulBackward0", layer + 2, 25, backward=True)
    run("autograd::engine::evaluate_function: BmmBackward0", layer + 1, 60, backward=True)
gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85000000000, "computeMajor": 8, "computeMinor": 0, "numSms": 108}
events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1100})
json.dump({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}, open(sys.argv[1], "w"))
PYTHON
echo '{"scenarios": [{"name": "flash", "changes": [{"fuse": "attention"}]},
    {"name": "flash elsewhere", "changes": [{"fuse": "attention"}, {"gpu": "h100"}]}]}' >"$folder/flash.json"
answer flash whatif --kernels "$folder/flash.json" "$folder/attends.json"
answer flash_csv whatif --csv "$folder/flash.json" "$folder/attends.json"
# Without its step, what is asked is of all.
sed 's/"ProfilerStep#1"/"all of it"/' "$folder/attends.json" >"$folder/unmarked.json"
answer ranked_unmarked whatif --sensitivity --csv "$folder/unmarked.json"

# ---- GPUs and prices -----------------------------------------------------------------

step=$data/traces/resnet
for output in '' --csv --json; do
    # shellcheck disable=SC2086
    run --platform a100,h100,t4 --price 2,3.5,0.3 --power 400,700,70 --per-iteration '16 images' $output "$step"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } | to_eight_digits >"$folder/said"
    if [ "$output" = --json ]; then # what all have in common, and what is of each
        grep -E '"schema"|ratios_to_best|"(ratio|platform|period_us|rates|cost_usd|energy_j)[a-z_]*":' "$folder/said" >"$folder/few"
        mv "$folder/few" "$folder/said"
    fi
    hold "prices${output#-}"
done
answer prices_one --platform a100 --price 2 --power 400 --per-iteration 16 "$step"
answer prices_count --platform a100,h100 --price 2,3,4 "$step"
answer platforms_twice --platform a100,a100 "$step"
answer platforms_empty --platform a100,,h100 "$step"
answer platforms_unknown --platform a100,h1000 "$step"

# ---- a table of jobs ------------------------------------------------------------------

cat >"$folder/jobs.csv" <<'CSV'
platform,gpus,dp,tp,nodes,sequence,micro_batch,global_batch,grad_accum,strategy,zero,recompute,precision,offload,optimizer_bits,optimizer_in_backward,step_ms,memory_gib
a100,1,,1,,,16,16,1,single,,none,,,32,no,12,1.5
a100,1,1,1,1,,32,,,,,,,,,,30,2
,1,,,,,16,,,,,,,,,,,
h100,8,8,1,2,,16,256,2,,2,none,,,32,no,20,1.1
h100,8,8,1,1,,16,,,,1,full,amp_bf16,,,,,
h100,4,4,,,,16,,,fsdp_full,,none,amp_fp16,,,,,
h100,4,,,,,16,,,ddp,,full,bf16,activations,,,,
h100,4,,,,,16,,,zero3,,none,,optimizer,8,,,
h100,4,2,,,,16,,,ddp,,,,,,,,
h100,4,,2,,,16,,,ddp,,,,,,,,
h100,4,,,,512,16,,,ddp,,,,,,,,
h100,4,,,,,16,65,,ddp,,,,,,,,
h100,4,,,,,16,,,ddp,3,,,,,,,
h100,4,,,,,16,,,,4,,,,,,,
h100,4,,,,,16,,,single,,,,,,,,
h100,4,,,,,16,,,dpp,,,,,,,,
h100,4,,,0,,16,,,ddp,,,,,,,,
h100,x,,,,,16,,,ddp,,,,,,,,
h100,1,,,,,many,,,,,,,,,,,
h100,1,,,,,16,,,,,some,,,,,,
h100,1,,,,,16,,,,,,fp12,,,,,
h100,1,,,,,16,,,,,,,nothing,,,,
h100,1,,,,,16,,,,,,,,7,,,
h100,1,,,,,16,,,,,,,,,maybe,,
h1000,1,,,,,16,,,,,,,,,,,
CSV
answer jobs validate --rows "$folder/jobs.csv" --trace "$step" --csv
answer jobs_text validate --rows "$folder/jobs.csv" --trace "$step"
answer jobs_past validate --rows "$folder/jobs.csv" --trace "$step" --max-error 1
finish
