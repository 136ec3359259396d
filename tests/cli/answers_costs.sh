#!/usr/bin/env bash
# Where times come from: tables of operators, a GPU's times carried to others, learned
# from and asked of models; and what would make a job fit. Every number and word.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
sim=$(realpath "$sim") data=$(realpath "$data")
export MSIM_DATA=$data
cd "$folder" || exit 1

# ---- tables of operators ---------------------------------------------------------

table() { # GPU NAME, the table on standard input
    cat >"$2.csv"
    answer "op_$2" op --platform "$1" "$2.csv"
}
table h100 products <<'CSV'
note,m,n,k,batch,dtype,framework
"a, ""b""",4096,4096,4096,1,bfloat16,
thin,1,4096,4096,1,fp16,vllm
many,64,64,64,512,fp32,
none,0,4096,4096,1,fp16,
odd,4096,4096,4096,1,no such type,
vast,1000000,1000000,8,1,bf16,
narrow,8192,4096,4096,1,fp8,
block,8192,4096,4096,1,fp8_block,vllm
eager,128,1024,1024,1,half,pytorch
CSV
table t4 lacking <<'CSV'
dtype,m,n,k
fp32,4096,4096,4096
bfloat16,4096,4096,4096
fp8,4096,4096,4096
CSV
table a100 attention <<'CSV'
phase,batch,heads,kv_heads,q_len,kv_len,head_dim,dtype,kv_dtype,window
prefill,1,32,8,2048,2048,128,bfloat16,,
prefill,1,32,8,2048,2048,128,bfloat16,,256
decode,64,32,8,1,4096,128,bfloat16,fp8,0
encoder_noncausal,8,16,16,512,512,64,fp16,,
no_such,8,16,16,512,512,64,fp16,,
CSV
table a100 vectors <<'CSV'
op,dtype,shape,bytes
add,fp32,1024x1024,
softmax,fp16,1024x512,
ln,fp32,8x128x768,6291456
emb,fp16,100x4096,1638400
sofmax,fp32,1024x1024,
aten::gelu_backward,fp32,1024x1024,
scale_matrix:fp8,fp32,1024x1024,
add,fp32,,
CSV
table a100 collectives <<'CSV'
collective,ranks,bytes,nodes,interconnect,dtype
all_reduce,8,67108864,1,NVLink3-NVSwitch,half
all_reduce,6,1048576,1,,
alltoall,8,67108864,1,,
send_recv,2,1048576,2,a100_dgx,fp16
no_such,2,1048576,1,,
CSV
table a100 convolutions <<'CSV'
op,dtype,n,c,h,w,k,r,s,stride,pad,groups
conv2d_fwd,fp32,32,64,56,56,64,3,3,1,1,1
conv2d_bwd_weight,fp16,32,64,56,56,64,1,1,1,0,1
conv2d_bwd_data,fp16,32,64,56,56,64,3,3,2,1,64
CSV
table h100 experts <<'CSV'
tokens,hidden,inter,topk,experts,tp,ep,dtype,distribution
1,2048,1024,2,8,1,1,bfloat16,balanced
4096,4096,1536,8,128,1,4,int4_wo,power_law_1.2
64,2880,2880,4,32,1,1,bfloat16,zipf
CSV
printf 'm,n,k,dtype\n1,2,3,fp16\n4,5\n' >short.csv
answer op_short op --platform a100 short.csv

# ---- the times of a trace ----------------------------------------------------------

cat >made.py <<'PYTHON'
"""GPU SMS FACTOR: a step of which every kernel takes so many times its time."""
import json
import sys

gpu, sms, factor = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
events, at, n = [], 0, 0


def run(op, dims, kernels, dtype="c10::Half"):
    global at, n
    if op:
        events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": at, "dur": 20,
                       "args": {"External id": n, "Input Dims": dims, "Input type": [dtype] * len(dims)}})
    for name, us, grid in kernels:
        n += 1
        events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": at + 2, "dur": 3,
                       "name": "cudaLaunchKernel" if op else "cudaGraphLaunch", "args": {"correlation": n}})
        kind = {"Memc": "gpu_memcpy", "Mems": "gpu_memset"}.get(name[:4], "kernel")
        args = {"device": 0, "stream": 7, "correlation": n}
        if kind == "kernel":
            args.update(grid=[grid, 1, 1], block=[256, 1, 1])
        else:
            args["bytes"] = grid
        events.append({"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7, "ts": at + 15,
                       "dur": us * factor, "args": args})
        at += int(us * factor) + 12


for rows in (64, 512, 4096, 16384):
    run("aten::mm", [[rows, 1024], [1024, 2048]], [("sm90_xmma_gemm_f16f16", 4 + rows / 400, 4 * rows)])
run("aten::mm", [[4096, 1024], [1024, 2048]], [("sm90_xmma_gemm_f16f16", 15, 9000)])
run("aten::add", [[8192, 4096], [8192, 4096]], [("vectorized_elementwise_kernel", 90, 32768)])
run("aten::relu", [[64, 64]], [("vectorized_elementwise_kernel", 2, 4)])
run("aten::_softmax", [[32, 16, 512, 512]], [("softmax_warp_forward", 160, 8192)])
run("aten::native_layer_norm", [[4096, 1024]], [("vectorized_layer_norm_kernel", 20, 4096)], "float")
run("aten::addmm", [[1024], [256, 1024], [1024, 1024]], [("splitKreduce_kernel", 3, 128), ("gemm", 9, 256)])
run("aten::sum", [[4096, 4096]], [("reduce_kernel", 30, 4096)], "float")
run("aten::no_such", [[4096, 4096]], [("triton_poi_fused_things", 30, 4096)], "float")
run(None, [], [("ampere_fp16_s16816gemm_fp16_128x32_ldg8", 40, 512), ("ampere_fp16_s16816gemm_fp16_128x128_ldg8", 60, 512),
               ("flash_fwd_kernel", 50, 512), ("fused_things", 21, 40), ("fused_things", 21, 4000),
               ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 80, 24), ("deep_ep::internode::dispatch", 70, 24)])
run("aten::copy_", [[1024, 1024], [1024, 1024]], [("Memcpy HtoD (Pageable -> Device)", 400, 4 << 20)], "float")
run("aten::copy_", [[1024, 1024], [1024, 1024]], [("Memcpy DtoD (Device -> Device)", 9, 4 << 20)], "float")
run("aten::zero_", [[1024, 1024]], [("Memset (Device)", 4, 4 << 20)], "float")
events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": at + 40})
properties = {"id": 0, "name": gpu, "totalGlobalMem": 85018279936, "numSms": sms, "computeMajor": 9, "computeMinor": 0}
json.dump({"schemaVersion": 1, "deviceProperties": [properties], "traceEvents": events}, sys.stdout)
PYTHON
python3 made.py "NVIDIA H100 80GB HBM3" 132 1 >h100.json
python3 made.py "Unheard-of GPU" 128 1 >near.json
python3 made.py "NVIDIA H100 80GB HBM3" 132 1.3 >slower.json
answer costs_model --costs model --platform h100 h100.json
answer costs_scaled --platform mi300x h100.json
answer costs_scaled_json --platform b200 --json h100.json
answer costs_clock --clock 0.6 h100.json
answer costs_cap --power-cap 300 --platform a100 h100.json
answer costs_near --platform a100 near.json
answer costs_several --platform a100,h200,b200 h100.json
answer costs_other --source-trace slower.json h100.json
answer costs_other_json --json --source-trace slower.json --platform b200 h100.json
for op in mm addmm no_such relu; do
    answer "costs_explain_$op" --platform b200 --explain "aten::$op" h100.json
done
echo '{"scenarios": [{"name": "gpu", "changes": [{"gpu": "b200"}]}, {"name": "clock", "changes": [{"clock": "0.8"}]},
    {"name": "cap", "changes": [{"power_cap": "350"}]}]}' >gpus.json
answer costs_whatif whatif gpus.json h100.json --csv
answer learned calibrate --from h100.json slower.json --out mine.json
python3 -c 'import json
mine = json.load(open("mine.json"))
print(json.dumps({k: mine[k] for k in ("title", "base", "name", "evidence")}, indent=1))' | to_eight_digits >said
hold learned_file
answer learned_of_one calibrate --from h100.json --out one.json
answer learned_of_none calibrate --from "$data/traces/gpt2" "$data/traces/bert" --out none.json
# Of a folder of recordings, of two GPUs, of one that nobody knows.
mkdir each
cp h100.json slower.json each
python3 made.py "NVIDIA A100-SXM4-80GB" 108 1.4 >ampere.json
answer learned_each calibrate --from each --out each.json
answer learned_two calibrate --from h100.json ampere.json --out two.json
answer learned_two_as calibrate --from h100.json ampere.json --platform h100 --out two.json
answer learned_near calibrate --from near.json --out unknown.json
answer learned_near_as calibrate --from near.json --platform h100 --out unknown.json
answer learned_no_file calibrate --from h100.json no-such.json --out no.json
answer learned_no_gpu calibrate --from h100.json --platform no-such --out no.json
python3 - <<'PYTHON' | to_eight_digits >said
import json
for name in ("each", "two", "unknown"):
    mine = json.load(open(name + ".json"))
    print(name, json.dumps({k: mine[k] for k in ("title", "base", "name", "evidence")}, indent=1))
PYTHON
hold learned_files
answer costs_mine --costs model --platform mine.json h100.json

answer costs_strict --strict --platform b200 h100.json
echo '{"scenarios": [{"name": "half", "changes": [{"reshape": {"from": 4096, "to": 2048}}]},
    {"name": "elsewhere", "changes": [{"reshape": {"from": 4096, "to": 8192}}, {"gpu": "b200"}]}]}' >sizes.json
answer costs_sizes whatif sizes.json h100.json --csv

# ---- what would fit ------------------------------------------------------------------

fit() { # NAME TRACE CHANGES
    echo "{\"scenarios\": [{\"name\": \"a\", \"changes\": [{\"gpu\": \"p4\"}, $3]}]}" >fit.json
    answer "fit_$1" whatif --platform a100 fit.json "$data/traces/$2"
}
fit batch gpt2 '{"batch": 64}'
fit ranks resnet '{"batch": 512}, {"world": 2}'
fit again resnet '{"batch": 1024}, {"recompute": "full"}'
fit half bert '{"batch": 512}, {"dtype": "amp_bf16"}, {"accumulate": 2}'
fit vast gpt2 '{"batch": 999999}'
fit two bert '{"batch": 2}, {"sequence": {"from": 128, "to": 16384}}'
fit pair bert '{"sequence": {"from": 128, "to": 24576}}' # which no change alone makes fit
fit neither bert '{"sequence": {"from": 128, "to": 65536}}'

# ---- what is known of platforms ---------------------------------------------------

answer platforms platforms
answer platforms_a100 platforms a100
answer platforms_json platforms --json
finish
