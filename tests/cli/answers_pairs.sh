#!/usr/bin/env bash
# Any two options of a verb: none ends the program by a signal, and what they say
# together stays as it is.
. "$(dirname "$0")/answers.bash"
in_turn
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
export MSIM_DATA=$data

pairs() { # NAME VERB ARGUMENT... -- OPTION...
    local name=$1
    shift
    python3 "$here/pairs.py" "$sim" "$folder" "$@" >"$folder/said"
    ! grep -vE ' = [0-4] \[[0-9]+\]$' "$folder/said" || complain "ended otherwise than by an exit code"
    hold "pairs_$name"
}
python3 "$here/small_step.py" "$folder/step.json"
cd "$folder"

pairs predict predict step.json -- --platform=a100,h100 --costs=model,measured,scaled --source-platform=a100 --source-trace=step.json \
    --host=generic --network=ethernet-100 --nodes=2 --ops='aten::m*' --clock=0.8 --power-cap=200 --index-skew=0.5 --scale=kernels=0.5 \
    --peers=follow --ranks=16 --iteration=1 --subtree='ProfilerStep*' --range=1..9 --kind=compute --exclude=aten::mm \
    --per-iteration='8 samples' --price=2 --power=300 --usage --communication='nccl*' --salvage --strict --explain=aten::mm \
    --json --csv --markdown --brief --timeline=% --html=% --threads=1
echo '{"scenarios": [{"name": "a", "changes": [{"gpu": "h100"}]}, {"name": "b", "changes": [{"batch": 32}]}]}' >changes.json
pairs whatif whatif changes.json step.json -- --platform=a100 --host=generic --network=ethernet-100 --sensitivity --grid=clock=0.8 \
    --kernels --usage --simulate --write=% --json --csv --markdown --html=% --threads=1
echo '{"name": "tiny", "layers": 4, "hidden": 512, "heads": 8, "ffn": 1024, "vocab": 8192}' >tiny.json
echo '{"gpus": 4, "tp": 2, "micro_batch": 1, "global_batch": 8, "sequence": 256}' >strategy.json
pairs described whatif changes.json tiny.json --strategy strategy.json -- --platform=a100 --host=generic --network=ethernet-100 \
    --sensitivity --grid=tp=1 --kernels --usage --simulate --write=% --json --csv --markdown --html=%
pairs compare compare step.json step.json -- --platform=a100,h100 --costs=model,measured --host=generic --clock=0.8 \
    --power-cap=200 --ops=step.json --iteration=1 --communication='nccl*' --salvage --fail-above=5 --json --csv --markdown --html=%
printf 'm,n,k,dtype\n512,512,512,fp16\n' >works.csv
pairs op op works.csv -- --platform=a100 --network=ethernet-100 --clock=0.8 --power-cap=200 --json
pairs info info step.json -- --json --communication='nccl*' --salvage
pairs select select step.json step.json -- --weight=traced,job --json --csv --communication='nccl*' --salvage --threads=1
pairs generate generate "$data/traces/llama-block" -o % -- --iteration=1 --subtree='ProfilerStep*' --range=1..9 --kind=compute --ops='aten::*' \
    --exclude=aten::mm --batch=8 --repeat=3 --platform=a100 --direct --namespaces=aten --no-loops --json --salvage
app=$data/apps/chat.json
cp "$data/laws/serving.json" fit.json
echo '{"schema": "mystique-sim/serving-plan/1", "stages": {}}' >plan.json
pairs serve serve "$app" --num-requests 40 --csv -- --rate=5 --concurrency=3 --seconds=9 --warmup=1 --seed=7 --plan=plan.json --plans=plan.json \
    --fit=fit.json --free=model --goodput=ttft:400 --counters=% --timeline=%

# ---- members of files ---------------------------------------------------------------

echo '{"gpus": 16, "micro_batch": 1, "global_batch": 32, "sequence": 512}' >few.json
pairs strategies whatif changes.json tiny.json --strategy @few.json --platform h100 --csv -- 'gpus=1;64' 'nodes=1;4' 'tp=2;8' 'pp=2;4' \
    'vp=2' 'cp=2' 'ep=2' 'zero=1;2;3' 'micro_batch=2' 'grad_accum=4' 'precision="fp16";"fp8";"fp32"' 'recompute="full";"selective"' \
    'schedule="gpipe";"zero-bubble"' 'optimizer="sgd"' 'optimizer_bits=8' 'gradient_bits=16' 'compile=true' 'loss_chunks=4' \
    'offload="optimizer"' 'lora_rank=8' 'base_bits=4' 'framework="megatron";"nanotron"' 'sequence_parallel=true' 'document=64'
echo '{"name": "experts", "layers": 4, "hidden": 512, "heads": 8, "ffn": 1024, "vocab": 8192, "moe": {"experts": 8, "topk": 2, "ffn": 256}}' >experts.json
pairs experts whatif changes.json experts.json --strategy @few.json --platform h100 --csv -- 'tp=2;8' 'pp=2;4' 'vp=2' 'ep=2;8' 'zero=1;3' \
    'precision="fp8"' 'recompute="full"' 'schedule="zero-bubble"' 'compile=true'
echo '{"model": "tiny.json", "platforms": ["h100"], "gpus": [4, 16], "global_batch": 32, "sequence": 512}' >spec.json
pairs specs plan --law-only @spec.json -- 'platforms=["a100","h100"];[{"name":"h100","price_per_gpu_hour":2}]' 'gpus=[1];[8,64]' 'tokens=1e9' \
    'tp=[1,2];8' 'pp=[1,4]' 'vp=2' 'cp=[1,2]' 'zero=[0,1,2,3]' 'micro_batch=[1,2,4]' 'recompute=["none","full"]' 'precision=["bf16","fp8"]' \
    'limits={"days":1};{"cost":100};{"memory_gib":20};{"gpus":8}' 'currency="EUR"' 'optimizer_bits=8' 'offload=["none","optimizer"]' \
    'nodes=1' 'compile=true' 'loss_chunks=[1,4]'
echo "{\"trace\": \"$folder/step.json\", \"platforms\": [\"h100\"], \"gpus\": [1, 4], \"traced_batch\": 8}" >traced.json
pairs traced plan @traced.json -- 'platforms=["a100","h100"];[{"name":"h100","price_per_gpu_hour":2}]' 'gpus=[2]' 'samples=1e8' 'requests=1e8' \
    'micro_batch=[8,32]' 'traced_batch=4' 'precision=["bf16"]' 'recompute=["none","full"]' 'zero=[0,3]' 'global_batch=64' \
    'limits={"days":1};{"samples_per_second":100};{"latency_ms":50};{"cost":9}'
finish
