#!/usr/bin/env bash
# Serving: what `serve`, `size`, `apps`, `watch` and `learn` say of applications that
# have every member, and of tables of served models.
. "$(dirname "$0")/answers.bash"
in_turn serving

serve() { # NAME ARGUMENT...: without what a clock says
    local name=$1
    shift
    run serve --threads 1 "$@"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } | to_eight_digits |
        sed 's/"\(events_per_s\|wall_s\)": [^,}]*/"\1": 0/g; s/ events in .* s$/ events/' >"$folder/said"
    hold "serve_$name"
}

# ---- the applications that are shipped, and one of all kinds of stages ----------

for app in agent chat image-to-text rag recommendation summarise; do
    serve "$app" "$data/apps/$app.json" --num-requests 400 --json
done
serve text "$data/apps/rag.json" --num-requests 300 --warmup 5 --goodput ttft:400 --goodput tpot:25 \
    --rate 20

cat >"$folder/all.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "all", "currency": "EUR",
 "slo": [{"class": "read", "metric": "e2e", "percentile": 95, "limit_ms": 150},
         {"class": "write", "metric": "e2e", "percentile": 90, "limit_ms": 400}],
 "classes": [{"name": "read", "share": 0.75, "priority": 0},
             {"name": "write", "share": 0.25, "priority": 1}],
 "arrivals": {"process": "mmpp", "rate": 60, "factor": 2.5, "on_s": 5, "off_s": 12},
 "stages": {
  "gate": {"kind": "tool", "workers": 24, "call": "rpc", "network_ms": 0.4, "service": {"gamma": {"mean": 2, "cv": 0.5}}, "price_per_hour": 0.2, "power_w": 30},
  "cache": {"kind": "measured", "replicas": 2, "workers": 2, "call": "queue", "routing": "round", "service": {"bimodal": {"mean": 4, "slow": 30, "share": 0.05}}, "class_factor": {"write": 2}},
  "index": {"kind": "measured", "replicas": 3, "call": "queue", "routing": "random", "service": {"pareto": {"mean": 6, "alpha": 2.2, "cap": 80}}},
  "rank": {"kind": "measured", "replicas": 2, "call": "queue", "routing": "least", "service": {"lognormal": {"mean": 5, "cv": 0.4}}, "batching": {"policy": "dynamic", "max_batch": 8, "max_wait_ms": 3, "law": [[1, 1], [8, 2.4]]}, "price_per_hour": 1.1, "power_w": 90},
  "store": {"kind": "measured", "replicas": 2, "workers": 3, "call": "queue", "routing": "shared", "network_ms": {"exponential": 0.3}, "service": {"quantiles": [[0, 1], [0.5, 6], [0.9, 20], [1, 60]]}},
  "log": {"kind": "tool", "call": "queue", "service": {"samples": [1, 2, 3, 9]}}},
 "flow": {"start": "gate", "edges": [
  {"from": "gate", "to": "cache", "step": 1},
  {"from": "gate", "to": "index", "step": 1, "copies": 3, "wait": 2},
  {"from": "gate", "to": "rank", "step": 2, "copies": {"geometric": 2}, "prob": 0.8},
  {"from": "gate", "to": "store", "step": 3, "classes": ["write"], "retry": {"timeout_ms": 25, "most": 1}},
  {"from": "store", "to": "log", "loop": {"again": 0.4, "most": 3}}]}}
JSON
serve all "$folder/all.json" --num-requests 3000 --json
serve all_text "$folder/all.json" --num-requests 3000 --counters "$folder/counters.csv" \
    --timeline "$folder/timeline.json"
serve all_free "$folder/all.json" --num-requests 1000 --free rank
serve all_requests "$folder/all.json" --num-requests 60 --csv --seed 3
serve all_over "$folder/all.json" --num-requests 2000 --rate 900
serve all_closed "$folder/all.json" --num-requests 1000 --concurrency 12
arrive() { # NAME ARRIVALS
    sed "s|\"arrivals\": .*},\$|\"arrivals\": $2,|" "$folder/all.json" >"$folder/$1.json"
    serve "$1" "$folder/$1.json" --num-requests 1500
}
arrive gamma '{"process": "gamma", "rate": 80, "cv": 1.6}'
arrive constant '{"process": "constant", "rate": 90, "profile": [[0, 1], [8, 1.8], [20, 0.5]]}'
arrive closed '{"process": "closed", "concurrency": 20, "think_ms": {"exponential": 120}}'
for plan in '2, "index": 3' '1, "index": 6' '4, "index": 1'; do
    echo "{\"schema\": \"mystique-sim/serving-plan/1\", \"stages\": {\"cache\": {\"replicas\": ${plan%%,*}}, \"index\": {\"replicas\": ${plan##* }}}}"
done >"$folder/plans.jsonl"
serve all_plans "$folder/all.json" --num-requests 1500 --plans "$folder/plans.jsonl"

# ---- engines, by what may be asked of them ---------------------------------------

engine() { # NAME MEMBERS...
    cat >"$folder/engine.json" <<JSON
{"schema": "mystique-sim/app/1", "name": "engine",
 "slo": [{"class": "long", "metric": "ttft", "percentile": 90, "limit_ms": 800}],
 "classes": [{"name": "long", "share": 0.6, "priority": 1, "input_tokens": {"lognormal": {"mean": 1500, "cv": 0.6}}, "output_tokens": {"gamma": {"mean": 150, "cv": 0.8}},
              "prefix": {"shared_tokens": 400, "groups": 3, "distinct_prompts": 20}},
             {"name": "short", "share": 0.4, "priority": 0, "input_tokens": 200, "output_tokens": {"exponential": 60}}],
 "arrivals": {"process": "poisson", "rate": ${3:-12}},
 "stages": {"answer": {"kind": "llm", "call": "queue", "price_per_hour": 2, "power_w": 700, $2}},
 "flow": {"start": "answer", "edges": []}}
JSON
    serve "engine_$1" "$folder/engine.json" --num-requests 250 --json
}
engine vllm '"model": "llama3-8b", "platform": "h100", "engine": "vllm"'
engine sglang '"model": "llama3-8b", "platform": "a100", "engine": "sglang", "batching": {"scheduling_policy": "priority", "max_num_seqs": 24}'
engine trtllm '"model": "llama3-70b", "platform": "h200", "engine": "trtllm", "precision": "fp8", "parallel": {"tp": 2}' 6
engine static '"model": "llama3-8b", "platform": "h100", "engine": "vllm", "batching": {"policy": "static", "max_num_seqs": 16}'
engine whole '"model": "llama3-8b", "platform": "l40s", "engine": "vllm", "batching": {"enable_chunked_prefill": false, "enable_prefix_caching": false, "max_num_batched_tokens": 16384, "block_size": 32}' 3
engine tight '"model": "llama3-8b", "platform": "l4", "engine": "vllm", "precision": "fp8", "kv_cache_dtype": "fp8", "batching": {"gpu_memory_utilization": 0.5, "max_model_len": 8192}' 2
engine replicas '"model": "llama3-8b", "platform": "h100", "engine": "vllm", "replicas": 2, "routing": "least", "parallel": {"dp": 2}' 40
engine stages '"model": "llama3-70b", "platform": "h100", "engine": "vllm", "parallel": {"tp": 2, "pp": 2}' 4
engine apart '"model": "llama3-8b", "platform": "h100", "engine": "vllm", "disaggregated": {"prefill": {"replicas": 1}, "decode": {"replicas": 2}, "kv_transfer_gbps": 50}' 15
engine experts '"model": "qwen3-30b-a3b", "platform": "h100", "engine": "sglang", "parallel": {"tp": 2, "ep": 2}' 10
engine sglang_own '"model": "llama3-8b", "platform": "h100", "engine": "sglang", "batching": {"max_running_requests": 20, "chunked_prefill_size": 2048, "enable_mixed_chunk": true, "disable_radix_cache": true, "page_size": 64, "context_length": 8192, "mem_fraction_static": 0.6, "schedule_policy": "lpm"}' 20
engine sglang_whole '"model": "llama3-8b", "platform": "h100", "engine": "sglang", "batching": {"chunked_prefill_size": -1}' 20
engine trtllm_own '"model": "llama3-8b", "platform": "h100", "engine": "trtllm", "batching": {"max_batch_size": 32, "max_num_tokens": 2048, "enable_chunked_context": true, "enable_block_reuse": true, "tokens_per_block": 64, "max_seq_len": 8192, "free_gpu_memory_fraction": 0.5, "capacity_scheduler_policy": "MAX_UTILIZATION", "batch_wait_timeout_iters": 3, "batch_wait_max_tokens_ratio": 0.4}' 20
engine small '"model": "llama3-70b", "platform": "a100", "engine": "vllm"'

# One pass of a model: an encoder, a reranker that is a decoder, a vision model.
cat >"$folder/passes.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "passes",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 90, "limit_ms": 80}],
 "classes": [{"name": "all", "share": 1, "input_tokens": {"lognormal": {"mean": 200, "cv": 0.5}}}],
 "arrivals": {"process": "poisson", "rate": 60},
 "stages": {
  "embed": {"kind": "model", "model": "bert-base", "platform": "l4", "call": "queue", "batching": {"policy": "dynamic", "max_batch": 8, "max_wait_ms": 2}},
  "look": {"kind": "model", "model": "vit-b-16", "platform": "t4", "call": "queue", "replicas": 2},
  "rerank": {"kind": "model", "model": "llama3-8b", "platform": "h100", "call": "queue", "batching": {"policy": "dynamic", "max_batch": 4, "max_wait_ms": 1}}},
 "flow": {"start": "embed", "edges": [{"from": "embed", "to": "look", "step": 1}, {"from": "embed", "to": "rerank", "step": 2}]}}
JSON
serve passes "$folder/passes.json" --num-requests 400 --json

cat >"$folder/log.csv" <<'CSV'
t_s,class,input_tokens,output_tokens
0,long,900,40
0.05,short,120,12
0.07,long,2400,300
0.3,short,60,1
1.2,long,3000,80
CSV
engine log '"model": "llama3-8b", "platform": "h100", "engine": "vllm"'
serve log "$folder/engine.json" --requests "$folder/log.csv" --csv

# ---- tables of served models -------------------------------------------------------

cat >"$folder/points.csv" <<'CSV'
id,backend,model,platform,isl,osl,batch_size,tp_size,pp_size,moe_ep_size,attention_dp_size,gemm_quant,ttft_ms,tpot_ms
1,vllm,llama3-8b,h100,1024,128,1,1,1,1,1,,20,8
2,vllm,llama3-8b,h100,1024,128,64,1,1,1,1,fp8,,
3,sglang,llama3-70b,h200,2000,300,16,4,1,1,1,fp8,,
4,trtllm,llama3-70b,b200,4000,500,32,2,2,1,1,nvfp4,,
5,trtllm,deepseek-v3,h200,1000,200,64,1,1,8,8,fp8,,
6,sglang,qwen3-30b-a3b,h100,500,100,8,2,1,2,1,,,
7,vllm,mixtral-8x7b,a100,800,100,4,2,1,1,1,,,
8,vllm,llama3-70b,a100,512,64,8,4,1,1,1,int4_wo,,
9,vllm,llama3-8b,mi300x,512,64,128,1,1,1,1,,,
10,vllm,llama3-70b,l4,512,64,8,1,1,1,1,,,
CSV
serve rows --rows "$folder/points.csv" --csv
serve rows_text --rows "$folder/points.csv"

# Heads of other kinds: latent ones, latent ones that see the best keys alone, linear ones
# between full ones, windows.
moe='"hidden_size": 2048, "vocab_size": 64000, "moe_intermediate_size": 768, "num_experts_per_tok": 4, "num_hidden_layers": 12, "dtype": "bfloat16"'
mla='"intermediate_size": 6144, "first_k_dense_replace": 1, "n_routed_experts": 32, "n_shared_experts": 1, "num_attention_heads": 16, "num_key_value_heads": 16, "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128'
mkdir "$folder/models"
cat >"$folder/models/latent.json" <<JSON
{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", $moe, $mla}
JSON
cat >"$folder/models/indexed.json" <<JSON
{"architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa", $moe, $mla,
 "index_n_heads": 16, "index_head_dim": 128, "index_topk": 1024}
JSON
cat >"$folder/models/linear.json" <<JSON
{"architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe", "text_config": {
 "model_type": "qwen3_5_moe_text", $moe, "num_experts": 32, "shared_expert_intermediate_size": 768,
 "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 128, "full_attention_interval": 4,
 "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 8,
 "linear_num_value_heads": 16, "linear_value_head_dim": 128}}
JSON
cp "$data/models/gpt-oss-120b.json" "$folder/models/window.json"
{
    echo id,backend,model,platform,isl,osl,batch_size,tp_size,pp_size,moe_ep_size,attention_dp_size,gemm_quant
    for model in latent indexed linear; do
        for point in vllm,h100,3000,200,8,1,1,1,1, sglang,h200,512,64,32,2,1,1,1,fp8_block \
            trtllm,b200,6000,300,16,1,1,4,4,nvfp4; do
            IFS=, read -r engine platform rest <<<"$point"
            echo "$model-$engine,$engine,$model,$platform,$rest"
        done
    done
    echo window,vllm,window,h100,3000,200,8,4,1,1,1,
} >"$folder/heads.csv"
serve heads --rows "$folder/heads.csv" --csv --models "$folder/models"

# ---- how many, which of all, and what comes before a violation ---------------------

cat >"$folder/sized.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "sized",
 "slo": [{"class": "all", "metric": "e2e", "percentile": 95, "limit_ms": 90}],
 "classes": [{"name": "all", "share": 1}],
 "arrivals": {"process": "poisson", "rate": 150},
 "stages": {
  "front": {"kind": "measured", "workers": 4, "call": "rpc", "routing": "least", "service": {"exponential": 4}, "price_per_hour": 1},
  "left": {"kind": "measured", "workers": 2, "call": "queue", "routing": "shared", "service": {"gamma": {"mean": 9, "cv": 0.7}}, "price_per_hour": 2},
  "right": {"kind": "measured", "workers": 1, "call": "queue", "routing": "least", "service": {"lognormal": {"mean": 7, "cv": 0.9}}, "batching": {"policy": "dynamic", "max_batch": 4, "max_wait_ms": 2, "law": [[1, 1], [4, 2.1]]}, "price_per_hour": 1.5}},
 "flow": {"start": "front", "edges": [{"from": "front", "to": "left", "step": 1}, {"from": "front", "to": "right", "step": 1, "prob": 0.7}]}}
JSON
for method in union convolution search; do
    answer "size_$method" size "$folder/sized.json" --method "$method" --json
done
answer size_text size "$folder/sized.json" --rate 400
sed 's/"limit_ms": 90/"limit_ms": 12/' "$folder/sized.json" >"$folder/short.json"
answer size_none size "$folder/short.json"

mkdir "$folder/suite"
cp "$data/apps/chat.json" "$data/apps/recommendation.json" "$folder/suite"
echo '{"rate": [10, 40], "replicas": [1, 3], "platform": ["h100", "a100"], "price_per_hour": {"h100": 3, "a100": 1.8}, "power_w": {"h100": 700, "a100": 400}}' \
    >"$folder/sweep.json"
answer apps apps "$folder/suite" --sweep "$folder/sweep.json" --num-requests 60
answer apps_json apps "$folder/suite" --sweep "$folder/sweep.json" --num-requests 60 --json

# Counters of the run of all above, of which the stage `index` is slower and slower.
awk -F, -v OFS=, 'NR > 1 && $2 == "index" && $1 > 25 {
        slow = 1 + ($1 - 25) / 6
        $7 *= slow; $8 *= slow; $9 *= slow; $10 = ($10 + 2) * slow; $4 = int($4 * slow) }
    NR > 1 && $2 == "e2e" && $1 > 28 { $7 *= 1 + ($1 - 28) / 8; $8 *= 1 + ($1 - 28) / 8 }
    { print }' "$folder/counters.csv" >"$folder/slower.csv"
answer watch watch "$folder/all.json" --counters "$folder/slower.csv" --csv
answer watch_advice watch "$folder/all.json" --counters "$folder/slower.csv" --json --advise --horizon 3
finish
