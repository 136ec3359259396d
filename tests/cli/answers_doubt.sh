#!/usr/bin/env bash
# Traced steps of which something is doubtful, and what cannot be asked of them: the
# figures, and every warning.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
sim=$(realpath "$sim") data=$(realpath "$data")
export MSIM_DATA=$data
cd "$folder" || exit 1

doubt() { # NAME ARGUMENT...: its figures and its warnings
    local name=$1
    shift
    run "$@"
    { echo "exit code $rc"; grep -E '^  (iteration|kernels|communication) |^traced ' out; cat err; } | to_eight_digits >said
    hold "doubt_$name"
}
cat >odd.py <<'PYTHON'
"""RANK GPU: types that a GPU lacks, sizes that cannot be, a transfer without any."""
import json
import sys

events = []
for i, (op, kernel, dims, dtype, us) in enumerate([
        ("aten::mm", "gemm", [[512, 512], [512, 512]], "c10::BFloat16", 20),
        ("aten::mm", "gemm", [[4096, 4096], [4096, 4096]], "c10::Float8_e4m3fn", 90),
        ("aten::add", "vectorized_elementwise_kernel", [[4000000, 4000000], [4000000, 4000000]], "float", 10),
        ("aten::mul", "vectorized_elementwise_kernel", [[4000000, 4000000], [4000000, 4000000]], "float", 10),
        ("aten::mul", "vectorized_elementwise_kernel", [[4000000, 4000000], [4000000, 4000000]], "float", 10),
        ("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", [], "float", 50)]):
    at = 120 * i
    events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": at, "dur": 20,
                   "args": {"Input Dims": dims, "Input type": [dtype] * len(dims)}})
    events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": at + 2, "dur": 3, "name": "cudaLaunchKernel", "args": {"correlation": i + 1}})
    events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": at + 15, "dur": us,
                   "args": {"device": 0, "stream": 7, "correlation": i + 1}})
events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 0, "dur": 760})
rank, gpu = int(sys.argv[1]), sys.argv[2]
json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events,
           "deviceProperties": [{"id": 0, "name": gpu, "totalGlobalMem": 85018279936, "numSms": 132}]}, sys.stdout)
PYTHON
mkdir two both
python3 odd.py 0 "NVIDIA H100 80GB HBM3" >two/0.json
python3 odd.py 1 "NVIDIA A100-SXM4-80GB" >two/1.json
python3 odd.py 0 "NVIDIA H100 80GB HBM3" >both/0.json
python3 odd.py 1 "NVIDIA H100 80GB HBM3" >both/1.json
doubt gpus --platform b200 two
doubt types --platform t4 --costs model both
doubt types_v100 --platform v100 both
doubt folded --ranks 8 both
doubt folded_model --ranks 8 --costs model --platform h100 both
doubt folded_nodes --ranks 16 --nodes 3 --platform h200 both
doubt index --platform h100 --iteration 0 both
doubt measured_nodes --costs measured --nodes 2 both
doubt measured_network --costs measured --network infiniband-ndr400 both
doubt measured_skew --costs measured --index-skew 1 both
doubt many_nodes --platform h200 --nodes 9 both
doubt network --platform h200 --network ethernet-100 --nodes 2 both
doubt skew --platform a100 --index-skew 1 "$data/traces/dlrm"
doubt no_times --costs measured "$data/traces/bert"
doubt no_platform --costs model "$data/traces/bert"
finish
