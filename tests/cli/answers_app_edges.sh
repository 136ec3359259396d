#!/usr/bin/env bash
# Files of serving with each of their values at or behind its limits: applications,
# engines, sweeps, plans, and what load generators write.
. "$(dirname "$0")/answers.bash"
in_turn
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)

edges() { # NAME JSON ARGUMENT...
    local name=$1
    echo "$2" >"$folder/base.json"
    shift 2
    python3 "$here/edges.py" "$sim" "$folder/base.json" "$@" | to_eight_digits >"$folder/said"
    hold "edges_$name"
}
app() { # NAME STAGES FLOW CLASSES ARRIVALS
    edges "app_$1" "{\"schema\": \"mystique-sim/app/1\", \"name\": \"edges\", \"slo\": [{\"class\": \"one\", \"metric\": \"e2e\",
        \"percentile\": 95, \"limit_ms\": 150}], \"classes\": [$4], \"arrivals\": $5, \"stages\": {$2}, \"flow\": $3}" \
        serve @ --num-requests 60 --threads 1 --csv
}

two='{"name": "one", "share": 0.75, "priority": 1}, {"name": "two", "share": 0.25}'
gate='"gate": {"kind": "measured", "service": 2}'
app flow "$gate"', "index": {"kind": "measured", "call": "queue", "service": 6}, "log": {"kind": "tool", "service": 1}' \
    '{"start": "gate", "edges": [{"from": "gate", "to": "index", "step": 1, "copies": 3, "wait": 2, "prob": 0.8},
      {"from": "gate", "to": "log", "step": 2, "classes": ["one"], "retry": {"timeout_ms": 5, "most": 1}},
      {"from": "index", "to": "log", "loop": {"again": 0.4, "most": 3}}]}' "$two" '{"process": "poisson", "rate": 60}'
app stages '"gate": {"kind": "tool", "workers": 24, "call": "rpc", "network_ms": 0.4, "service": {"gamma": {"mean": 2, "cv": 0.5}},
      "price_per_hour": 0.2, "power_w": 30},
    "rank": {"kind": "measured", "replicas": 2, "call": "queue", "routing": "least", "service": {"lognormal": {"mean": 5, "cv": 0.4}},
      "class_factor": {"two": 2}, "batching": {"policy": "dynamic", "max_batch": 8, "max_wait_ms": 3, "law": [[1, 1], [8, 2.4]]}}' \
    '{"start": "gate", "edges": [{"from": "gate", "to": "rank"}]}' "$two" \
    '{"process": "mmpp", "rate": 60, "factor": 2.5, "on_s": 5, "off_s": 12}'
app services '"gate": {"kind": "measured", "service": {"bimodal": {"mean": 4, "slow": 30, "share": 0.05}}},
    "a": {"kind": "measured", "service": {"pareto": {"mean": 6, "alpha": 2.2, "cap": 80}}},
    "b": {"kind": "measured", "service": {"quantiles": [[0, 1], [0.5, 6], [1, 60]]}},
    "c": {"kind": "measured", "service": {"samples": [1, 2, 9]}}, "d": {"kind": "measured", "service": {"exponential": 3}}' \
    '{"start": "gate", "edges": [{"from": "gate", "to": "a"}, {"from": "gate", "to": "b"}, {"from": "gate", "to": "c"},
      {"from": "gate", "to": "d"}]}' '{"name": "one", "share": 1}' '{"process": "gamma", "rate": 80, "cv": 1.6, "profile": [[0, 1], [8, 1.8]]}'
app closed "$gate" '{"start": "gate", "edges": []}' '{"name": "one", "share": 1}' \
    '{"process": "closed", "concurrency": 20, "think_ms": {"exponential": 12}}'

engine() { # NAME MEMBERS
    edges "engine_$1" "{\"schema\": \"mystique-sim/app/1\", \"classes\": [{\"name\": \"one\", \"share\": 1, \"input_tokens\": 500,
        \"output_tokens\": {\"exponential\": 30}, \"prefix\": {\"shared_tokens\": 100, \"groups\": 3, \"distinct_prompts\": 20}}],
        \"arrivals\": {\"process\": \"poisson\", \"rate\": 20}, \"stages\": {\"s\": {\"kind\": \"llm\", \"call\": \"queue\",
        \"model\": \"llama3-8b\", \"platform\": \"h100\", $2}}}" serve @ --num-requests 10 --threads 1 --csv
}
engine vllm '"engine": "vllm", "precision": "bf16", "kv_cache_dtype": "fp8", "replicas": 2, "parallel": {"tp": 2, "pp": 1, "dp": 1, "ep": 1},
    "batching": {"policy": "continuous", "max_num_seqs": 24, "max_num_batched_tokens": 2048, "enable_chunked_prefill": true,
      "enable_prefix_caching": true, "block_size": 16, "max_model_len": 4096, "gpu_memory_utilization": 0.5, "scheduling_policy": "priority"}'
engine sglang '"engine": "sglang", "batching": {"max_running_requests": 20, "chunked_prefill_size": 2048, "enable_mixed_chunk": true,
    "disable_radix_cache": true, "page_size": 64, "context_length": 4096, "mem_fraction_static": 0.6, "schedule_policy": "lpm"}'
engine trtllm '"engine": "trtllm", "batching": {"max_batch_size": 32, "max_num_tokens": 2048, "enable_chunked_context": true,
    "enable_block_reuse": true, "tokens_per_block": 64, "max_seq_len": 4096, "free_gpu_memory_fraction": 0.5,
    "capacity_scheduler_policy": "MAX_UTILIZATION", "batch_wait_timeout_iters": 3, "batch_wait_max_tokens_ratio": 0.4}'
engine apart '"disaggregated": {"prefill": {"replicas": 1, "platform": "a100", "parallel": {"tp": 2}, "batching": {"max_num_seqs": 8}},
    "decode": {"replicas": 2, "parallel": {"tp": 1}}, "kv_transfer_gbps": 50}'
edges passes '{"schema": "mystique-sim/app/1", "classes": [{"name": "one", "share": 1, "input_tokens": 100}],
    "arrivals": {"process": "poisson", "rate": 60}, "stages": {"s": {"kind": "model", "model": "bert-base", "platform": "l4", "call": "queue",
    "batching": {"policy": "dynamic", "max_batch": 8, "max_wait_ms": 2}}}}' serve @ --num-requests 20 --threads 1 --csv

# ---- beside an application -----------------------------------------------------------

cat >"$folder/app.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "small", "slo": [{"class": "one", "metric": "e2e", "percentile": 90, "limit_ms": 90}],
 "classes": [{"name": "one", "share": 1, "input_tokens": 20, "output_tokens": 5}], "arrivals": {"process": "poisson", "rate": 50},
 "stages": {"gate": {"kind": "measured", "service": 2, "call": "queue"}, "index": {"kind": "measured", "call": "queue", "service": {"exponential": 6}}},
 "flow": {"start": "gate", "edges": [{"from": "gate", "to": "index"}]}}
JSON
edges sweep '{"rate": [20, 50], "replicas": [1, 3], "price_per_hour": {"h100": 3}, "power_w": {"h100": 700}}' \
    apps "$folder/app.json" --sweep @ --num-requests 30 --csv
edges serving_plan '{"schema": "mystique-sim/serving-plan/1", "stages": {"gate": {"replicas": 3}, "index": {"replicas": 2}}}' \
    serve "$folder/app.json" --plan @ --num-requests 60 --csv
measured() { # NAME JSON
    edges "log_$1" "$2" serve "$folder/app.json" --requests @ --csv
}
measured vllm '{"date": "x", "input_lens": [20, 10], "output_lens": [1, 3], "ttfts": [0.1, 0.2], "itls": [[], [0.3, 0.1]],
    "start_times": [101.5, 100], "errors": ["", ""]}'
measured guidellm '{"benchmarks": [{"requests": {"successful": [{"request_start_time": 101.5, "prompt_tokens": 20, "output_tokens": 1,
    "time_to_first_token_ms": 100, "request_latency": 0.1}, {"start_time": 100, "prompt_tokens": 10, "output_tokens": 3,
    "time_to_first_token_ms": 200, "request_latency": 0.6}], "errored": [], "incomplete": [{"request_start_time": 102}]}}]}'
measured aiperf '{"metadata": {"request_start_ns": 1763066701500000000}, "metrics": {"time_to_first_token": {"value": 100, "unit": "us"},
    "request_latency": {"value": 0.1, "unit": "s"}, "input_sequence_length": {"value": 20, "unit": "tokens"},
    "output_sequence_length": {"value": 2, "unit": "tokens"}}}'
measured inference_perf '[{"start_time": 101.5, "end_time": 101.6, "info": {"input_tokens": 20, "output_tokens": 1,
    "output_token_times": [101.6]}, "error": null}, {"start_time": 100, "end_time": 100.6, "info": {"request_metrics":
    {"text": {"input_tokens": 10}}, "response_metrics": {"output_tokens": 3, "chunk_times": [100.2, 100.6]}}}]'
measured line '{"t_s": 30, "input_tokens": 5, "output_tokens": 7, "class": "one", "prefix_id": "p", "blocks": [4, 5], "queued_ms": 1,
    "ttft_ms": 5, "e2e_ms": 9}'
measured trace '{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]}'
finish
