#!/usr/bin/env bash
# Described models: plans, what-ifs, traces that are made, tables of jobs; every number.
. "$(dirname "$0")/answers.bash"

# ---- plans: GPUs, splits and techniques --------------------------------------

points() { # NAME SPEC: all feasible points, and the answer
    echo "$2" >"$folder/spec.json"
    answer "plan_$1" plan "$folder/spec.json"
    page "$1"
    to_eight_digits <"$folder/page_$1/points.csv" >"$folder/said"
    hold "plan_$1_points"
}
page() { # NAME: the answer of the spec's page, without charts and the PDF
    MSIM_PYTHON=false run plan --law-only "$folder/spec.json" -o "$folder/page_$1"
    want_rc "$([[ $1 == nothing || $1 == late ]] && echo 1 || echo 0)" # nothing is recommended
    sed 's/<svg.*<\/svg>//; /<svg/,/<\/svg>/d' "$folder/page_$1/report.html" |
        sed -n '/<h2>The answer/,/<h2>/{/<h2>[^T]\|<h2>The best\|<fig\|^$/d;p}' | to_eight_digits >"$folder/said"
    hold "plan_$1_answer"
}
points splits '{"model": "llama3-8b", "global_batch": 64, "tokens": 1e9, "limits": {"days": 2, "cost": 20000},
    "platforms": [{"name": "h100", "price_per_gpu_hour": 2, "power_w": 1000}, {"name": "a100", "price_per_gpu_hour": 1}],
    "gpus": 16, "tp": [2, 8], "pp": [1, 2], "vp": [1, 2], "cp": [1, 2], "zero": [1, 3], "micro_batch": [1, 4], "recompute": ["none", "full"]}'
points techniques '{"model": "llama3.2-3b", "global_batch": 16, "sequence": 2048, "platforms": ["a100"], "gpus": 4,
    "tp": [1, 2], "zero": [0, 2, 3], "micro_batch": 1, "recompute": "none", "optimizer_bits": [8, 32],
    "compile": [false, true], "loss_chunks": [1, 8], "offload": ["none", "activations", "optimizer", "weights"]}'
points adapters '{"model": "llama3-8b", "global_batch": 8, "platforms": ["h100", "l40s"], "gpus": [1, 2], "tp": 1, "pp": 1,
    "micro_batch": [1, 2], "lora_rank": 16, "lora_targets": ["attention", "all"], "base_bits": [4, 16],
    "optimizer_in_backward": [false, true]}'
points experts '{"model": "qwen3-30b-a3b", "global_batch": 128, "platforms": ["h100"], "gpus": 32, "tp": [1, 2], "pp": [1, 2],
    "ep": [1, 8], "precision": ["bf16", "fp8"], "micro_batch": 1}'
points latent '{"model": "deepseek-v3", "global_batch": 512, "platforms": ["h200"], "gpus": 512, "tp": 1, "pp": [8, 16],
    "ep": [8, 64], "micro_batch": 1, "zero": 1}'
points encoder '{"model": "bert-large", "global_batch": 256, "sequence": 512, "platforms": ["v100", "t4"], "gpus": [1, 8],
    "tp": [1, 2], "pp": 1, "micro_batch": [4, 8], "precision": ["fp16", "fp32"]}'
points images '{"model": "vit-l-16", "global_batch": 512, "platforms": ["a100"], "gpus": 8, "tp": 1, "pp": 1, "micro_batch": [16, 64]}'
points networks '{"model": "llama3-8b", "global_batch": 64, "gpus": 32, "tp": 1, "pp": 1, "micro_batch": 1, "zero": [1, 3],
    "platforms": [{"name": "h100", "network": "ethernet-100"}, {"name": "h200", "network": "infiniband-ndr400"}]}'
points nothing '{"model": "llama3-70b", "global_batch": 64, "platforms": ["h100"], "gpus": 32, "tp": [1, 2], "pp": 1,
    "zero": 1, "micro_batch": 2, "recompute": "none"}'
# Of two the order is sure; of one there is none; limits that nothing keeps surely, or at all.
a100='"model": "llama3-8b", "global_batch": 64, "tokens": 1e9, "platforms": [{"name": "a100", "price_per_gpu_hour": 1}], "gpus": 16,
    "pp": 1, "zero": 1, "micro_batch": 1, "recompute": "none"'
for more in 'two "tp": [2, 8]' 'one "tp": 2' 'doubt "tp": [2, 4], "limits": {"days": 0.22}' \
    'chance "tp": [1, 2], "limits": {"days": 0.25, "cost": 90}' 'late "tp": 2, "limits": {"days": 0.1}'; do
    echo "{$a100, ${more#* }}" >"$folder/spec.json"
    answer "plan_${more%% *}" plan "$folder/spec.json"
    page "${more%% *}"
done
echo '{"model": "llama3-70b", "sequence": 8192, "global_batch": 1024, "platforms": ["b200"], "gpus": 256}' >"$folder/spec.json"
answer plan_json plan --json "$folder/spec.json"
page edge
for name in experts nothing adapters; do
    to_eight_digits <"$folder/page_$name/plan.json" >"$folder/said"
    hold "plan_${name}_json"
done
if command -v gnuplot >/dev/null; then # what is between its charts
    run plan "$folder/spec.json" -o "$folder/page"
    sed '/^<style>/,/^<\/style>/d; s/<svg.*<\/svg>//; /<svg/,/<\/svg>/d' "$folder/page/report.html" | to_eight_digits >"$folder/said"
    hold plan_page
fi

# ---- what-ifs -----------------------------------------------------------------

echo '{"gpus": 8, "zero": 1, "micro_batch": 2, "global_batch": 64, "sequence": 4096}' >"$folder/base.json"
cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "twice", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]},
  {"name": "world", "changes": [{"world": 64}]},
  {"name": "tp", "changes": [{"world": 16}, {"parallel": {"tp": 2}}, {"recompute": "full"}]},
  {"name": "gpu", "changes": [{"gpu": "h100"}]},
  {"name": "fsdp", "changes": [{"shard": "fsdp"}]},
  {"name": "offload", "changes": [{"offload": "activations"}]},
  {"name": "optimizer", "changes": [{"offload": "optimizer"}]},
  {"name": "lora", "changes": [{"lora": {"rank": 16, "targets": "attention"}}]},
  {"name": "qlora", "changes": [{"qlora": {"rank": 16, "targets": "all"}}]},
  {"name": "narrow", "changes": [{"network": "ethernet-100"}, {"world": 64}, {"quantise-comms": 8}]},
  {"name": "zero bubble", "changes": [{"parallel": {"pp": 4, "schedule": "zero-bubble"}}]},
  {"name": "pipeline", "changes": [{"parallel": {"pp": 4, "vp": 2}}]},
  {"name": "eager", "changes": [{"fuse": false}]},
  {"name": "straggler", "changes": [{"straggler": {"rank": 3, "factor": 1.3}}]},
  {"name": "micro", "changes": [{"batch": {"micro": 4}}]},
  {"name": "chunks", "changes": [{"chunked_loss": 8}]},
  {"name": "nothing", "changes": [{"remove": {"select": "kernels"}}, {"remove": {"select": "communication"}},
     {"remove": {"select": "copies"}}, {"remove": {"select": "host"}}]},
  {"name": "bits", "changes": [{"optimizer_bits": 8}]},
  {"name": "longer", "changes": [{"sequence": 8192}]}]}
JSON
for format in csv json; do
    answer "whatif_described_$format" whatif "$folder/changes.json" llama3-8b --strategy "$folder/base.json" \
        --platform a100 "--$format"
done
answer whatif_described whatif "$folder/changes.json" llama3-8b --strategy "$folder/base.json" --platform a100

# ---- traces that are made, and tables ------------------------------------------

made() { # NAME MODEL STRATEGY
    echo "$3" >"$folder/strategy.json"
    answer "synth_$1" synth "$2" --strategy "$folder/strategy.json" -o "$folder/made_$1"
    run --platform h100 --json "$folder/made_$1" # its memory, streams and messages, too
    want_rc 0
    mv "$folder/out" "$folder/made_$1/predicted.json"
    sums "synth_$1_files" "$folder/made_$1"
}
echo '{"name": "tiny", "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024, "vocab": 8192}' >"$folder/tiny.json"
echo '{"name": "moe", "layers": 2, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024, "vocab": 8192,
    "moe": {"experts": 8, "topk": 2, "ffn": 256, "shared_experts": 1, "dense_layers": 1}}' >"$folder/moe.json"
echo '{"name": "look", "type": "vit", "image": 64, "patch": 16, "channels": 3, "classes": 10, "layers": 2, "hidden": 128, "heads": 4, "ffn": 256}' >"$folder/look.json"
made one "$folder/tiny.json" '{"gpus": 1, "micro_batch": 2, "global_batch": 4, "sequence": 256}'
made tensor "$folder/tiny.json" '{"gpus": 4, "tp": 2, "micro_batch": 1, "global_batch": 4, "sequence": 256, "precision": "bf16", "recompute": "full"}'
made stages "$folder/tiny.json" '{"gpus": 4, "pp": 2, "vp": 2, "micro_batch": 1, "global_batch": 16, "sequence": 128, "zero": 1}'
made deep "$folder/tiny.json" '{"gpus": 8, "pp": 4, "micro_batch": 1, "global_batch": 16, "sequence": 128}'
made bubbles "$folder/tiny.json" '{"gpus": 2, "pp": 2, "micro_batch": 1, "global_batch": 4, "sequence": 128, "schedule": "zero-bubble"}'
made sharded "$folder/tiny.json" '{"gpus": 4, "zero": 3, "micro_batch": 2, "global_batch": 8, "sequence": 128, "precision": "fp16"}'
made experts "$folder/moe.json" '{"gpus": 4, "ep": 4, "micro_batch": 1, "global_batch": 4, "sequence": 128}'
made images "$folder/look.json" '{"gpus": 2, "micro_batch": 4, "global_batch": 8}'
made tables dlrm-mlperf '{"gpus": 8, "micro_batch": 512, "global_batch": 4096}'
answer predict_made --platform h100 --csv "$folder/made_stages"
answer usage_made --platform h100 --usage "$folder/made_experts"
answer usage_sharded --platform a100 --usage --brief "$folder/made_sharded"

cat >"$folder/jobs.csv" <<'CSV'
model,platform,gpus,tp,pp,vp,cp,ep,zero,micro_batch,global_batch,sequence,precision,recompute,gradient_bits,document,schedule,step_ms
llama3-8b,h100,8,1,1,1,1,1,1,1,64,4096,bf16,none,,,,9000
llama3-8b,h100,8,1,1,1,1,1,1,1,64,4096,bf16,none,8,512,,9000
llama3-70b,h100,64,8,4,2,1,1,1,1,128,8192,bf16,full,,,,
llama3-70b,h100,64,8,4,1,1,1,1,1,128,8192,fp8,selective,,,zero-bubble,
qwen3-30b-a3b,h100,32,1,1,1,1,8,1,1,128,4096,bf16,none,,,,4000
gpt-oss-120b,b200,64,1,1,1,1,8,1,1,128,4096,bf16,full,,,,
mpt-7b,a100,8,1,1,1,1,1,3,4,64,2048,bf16,none,,,,
bert-large,v100,8,1,1,1,1,1,0,8,64,512,fp16,none,,,,200
dlrm-mlperf,a100,8,1,1,1,1,1,0,512,4096,,fp16,none,,,,
llama3-70b,a100,8,1,1,1,1,1,0,1,8,4096,bf16,none,,,,
CSV
answer rows_csv validate --rows "$folder/jobs.csv" --csv
answer rows_would_fit validate --rows "$folder/jobs.csv" --csv --would-fit
# What does not fit, each for want of something else.
cat >"$folder/large.csv" <<'CSV'
model,platform,gpus,tp,pp,cp,ep,zero,micro_batch,global_batch,sequence,recompute,lora_rank,precision
llama3-8b,a100-40gb,8,1,1,1,1,0,1,8,4096,none,,bf16
llama3-8b,a100-40gb,8,1,1,1,1,1,4,32,4096,selective,,bf16
llama3-8b,a100-40gb,8,1,1,1,1,2,8,64,4096,none,,bf16
llama3-8b,a100-40gb,8,1,1,1,1,3,16,128,4096,none,,bf16
llama3-8b,a100-40gb,2,1,1,2,1,0,1,1,32768,none,,bf16
llama3-8b,a100-40gb,1,1,1,1,1,0,1,1,4096,full,,bf16
llama3-8b,l4,1,1,1,1,1,0,8,8,8192,none,16,bf16
llama3-70b,h100,16,8,2,1,1,0,2,32,8192,none,,fp8
llama3-70b,h100,64,8,8,1,1,1,4,256,8192,none,,bf16
qwen3-30b-a3b,h100,8,1,1,1,8,0,2,16,4096,none,,bf16
bert-large,v100,4,1,1,1,1,0,256,1024,512,none,,fp32
CSV
answer rows_large validate --rows "$folder/large.csv" --csv --would-fit
answer rows_large_text validate --rows "$folder/large.csv"
answer rows validate --rows "$folder/jobs.csv"
finish
