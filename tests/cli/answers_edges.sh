#!/usr/bin/env bash
# Files with each of their values at or behind its limits: what is refused, with which
# words, and what is not.
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

# ---- models -------------------------------------------------------------------

echo '{"name": "tiny", "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024, "vocab": 8192}' >"$folder/tiny.json"
echo '{"gpus": 4, "tp": 2, "micro_batch": 1, "global_batch": 8, "sequence": 256}' >"$folder/strategy.json"
echo '{"scenarios": [{"name": "twice", "changes": [{"world": 8}]}]}' >"$folder/change.json"
model() { # NAME JSON
    edges "model_$1" "$2" whatif "$folder/change.json" @ --strategy "$folder/strategy.json" --platform h100 --csv
}
model decoder '{"name": "m", "type": "decoder", "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "head_dim": 64,
    "ffn": 1024, "vocab": 8192, "gated": true, "norm": "rmsnorm", "bias": false, "qk_norm": true, "positions": "rope",
    "activation": "silu", "attention": "flash2", "tied_embeddings": false, "mtp_layers": 1, "window": {"size": 64, "every": 2},
    "moe": {"experts": 8, "topk": 2, "ffn": 256, "shared_experts": 1, "dense_layers": 1}}'
model latent '{"name": "m", "layers": 2, "hidden": 256, "heads": 4, "ffn": 512, "vocab": 1024,
    "mla": {"q_rank": 64, "kv_rank": 32, "nope_dim": 32, "rope_dim": 16, "v_dim": 32}}'
model encoder '{"name": "m", "type": "encoder", "layers": 2, "hidden": 256, "heads": 4, "ffn": 512, "vocab": 1024,
    "max_positions": 512, "token_types": 2, "dropout": 0.1, "head": "mlm", "norm_place": "post"}'
model hub '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 4, "hidden_size": 512,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64, "intermediate_size": 1024, "vocab_size": 8192,
    "hidden_act": "silu", "tie_word_embeddings": false, "max_position_embeddings": 4096, "sliding_window": 128}'
model hub_experts '{"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 512, "vocab_size": 1024, "num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 128, "hidden_act": "silu"}'
model hub_latent '{"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4,
    "num_key_value_heads": 4, "intermediate_size": 512, "vocab_size": 1024, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 128, "n_shared_experts": 1, "first_k_dense_replace": 1, "q_lora_rank": 64, "kv_lora_rank": 32,
    "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "num_nextn_predict_layers": 1}'
model hub_encoder '{"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4,
    "intermediate_size": 512, "vocab_size": 1024, "max_position_embeddings": 512, "type_vocab_size": 2}'

made() { # NAME JSON STRATEGY
    echo "$3" >"$folder/made.json"
    edges "model_$1" "$2" synth @ --strategy "$folder/made.json" -o %
}
made images '{"name": "m", "type": "vit", "image": 64, "patch": 16, "channels": 3, "classes": 10, "layers": 2,
    "hidden": 128, "heads": 4, "ffn": 256}' '{"gpus": 1, "micro_batch": 2}'
made tables '{"name": "m", "type": "dlrm", "dense": 13, "dim": 64, "bottom": [128, 64], "top": [64, 1],
    "tables": [{"rows": 1000, "pooling": 4}, {"rows": 10}]}' '{"gpus": 1, "micro_batch": 8}'

# ---- strategies, plans, what-ifs -------------------------------------------------

strategy() { # NAME MODEL JSON
    edges "strategy_$1" "$3" whatif "$folder/change.json" "$2" --strategy @ --platform h100 --csv
}
strategy splits "$folder/tiny.json" '{"gpus": 16, "tp": 2, "pp": 2, "vp": 2, "cp": 2, "ep": 1, "zero": 1, "micro_batch": 1,
    "global_batch": 16, "sequence": 256, "precision": "bf16", "recompute": "full", "schedule": "interleaved", "gradient_bits": 16,
    "optimizer": "adamw", "document": 64, "framework": "megatron"}'
strategy techniques "$folder/tiny.json" '{"gpus": 2, "zero": 3, "micro_batch": 2, "global_batch": 8, "sequence": 256,
    "precision": "fp16", "optimizer_bits": 8, "compile": true, "loss_chunks": 4, "offload": "optimizer",
    "optimizer_in_backward": false, "lora_rank": 8, "lora_targets": "all", "base_bits": 4}'
echo '{"name": "m", "type": "dlrm", "dense": 13, "dim": 64, "bottom": [128, 64], "top": [64, 1],
    "tables": [{"rows": 1000, "pooling": 4}, {"rows": 10}]}' >"$folder/tables.json"
edges strategy_tables '{"gpus": 2, "micro_batch": 512, "global_batch": 1024, "table_optimizer": "sgd"}' synth "$folder/tables.json" --strategy @ -o %

for gpus in 64 128 129 1024 1025 4096 4097; do
    echo "{\"gpus\": $gpus, \"micro_batch\": 8, \"global_batch\": $((8 * gpus))}" >"$folder/large.json"
    run synth dlrm-mlperf --strategy "$folder/large.json" -o "$folder/large"
    echo "$gpus: $rc $(tail -n 1 "$folder/err")"
    rm -rf "$folder/large"
done | to_eight_digits >"$folder/said"
hold edges_odd_tables
edges spec '{"model": "llama3.2-3b", "currency": "EUR", "global_batch": 16, "sequence": 2048, "tokens": 1e9, "most_points": 100000,
    "limits": {"days": 2000, "cost": 2000000, "gpus": 8, "memory_gib": 60, "tokens_per_second": 10},
    "platforms": [{"name": "h100", "price_per_gpu_hour": 2, "power_w": 1000, "network": "infiniband-ndr400"}],
    "gpus": [2, 4], "tp": [1, 2], "pp": 1, "vp": 1, "cp": 1, "ep": 1, "zero": [1, 3], "micro_batch": 2, "recompute": ["none"],
    "precision": "bf16", "compile": false, "loss_chunks": 1, "optimizer_bits": 32, "offload": "none"}' plan --law-only @
edges whatif_described '{"scenarios": [{"name": "a", "changes": [{"world": 8}, {"parallel": {"tp": 2, "pp": 2, "vp": 1, "cp": 1, "ep": 1,
    "schedule": "1f1b"}}, {"recompute": "full"}, {"batch": {"micro": 2, "global": 16}}, {"sequence": 512},
    {"straggler": {"rank": 1, "factor": 1.3}}, {"chunked_loss": 4}, {"optimizer_bits": 8}, {"quantise-comms": 8},
    {"speedup": {"select": "kernels", "factor": 2}}, {"network": "ethernet-100"}, {"gpu": "a100"}]}]}' \
    whatif @ "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 --csv
edges whatif_lora '{"scenarios": [{"name": "a", "changes": [{"qlora": {"rank": 8, "targets": "attention"}}, {"offload": "activations"},
    {"shard": "fsdp"}]}]}' whatif @ "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 --csv

# ---- a traced step ----------------------------------------------------------------

python3 "$here/small_step.py" "$folder/step.json"
traced() { # NAME JSON
    edges "whatif_$1" "{\"scenarios\": [{\"name\": \"a\", \"changes\": [$2]}]}" \
        whatif @ "$folder/step.json" --platform a100 --csv
}
traced durations '{"speedup": {"select": "family:gemm", "factor": 2}}, {"scale": {"select": "host", "factor": 0.5}},
    {"remove": {"select": "op:aten::a*"}}, {"replace": {"select": "op:aten::mm", "microseconds": 50}}'
traced graph '{"insert": {"after": "op:aten::mm", "microseconds": 10, "on": "same stream"}}, {"fuse": "pointwise"}, {"cuda_graph": true},
    {"loader": {"milliseconds": 5}}'
traced machine '{"clock": "1000"}, {"power_cap": "200"}, {"gpu": "h100"}, {"world": 2}, {"network": "ethernet-100"},
    {"straggler": {"rank": 1, "factor": 1.5}}'
traced training '{"batch": 32}, {"accumulate": 2}, {"recompute": {"every": 2}}, {"dtype": "amp_bf16"}, {"offload": "activations"}'
traced shard '{"shard": {"strategy": "fsdp", "mixed_precision": "fp16", "bucket_mb": 5}}, {"world": 4},
    {"quantise_comms": {"backward": "fp16", "select": "communication"}}'
# Members that do not go together, and the last number that goes.
odd() { # NAME CHANGE...: each alone, on the traced and on the described step
    local change name=$1
    shift
    for change in "$@"; do
        echo "{\"scenarios\": [{\"name\": \"a\", \"changes\": [$change]}]}" >"$folder/odd.json"
        echo "$change"
        run whatif "$folder/odd.json" "$folder/step.json" --platform a100 --csv
        echo "$rc $(cat "$folder/err") [$(to_eight_digits <"$folder/out" | cksum)]"
        run whatif "$folder/odd.json" "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 --csv
        echo "$rc $(cat "$folder/err") [$(to_eight_digits <"$folder/out" | cksum)]"
    done | to_eight_digits >"$folder/said"
    hold "edges_odd_$name"
}
mm='"operator": "aten::mm", "sizes": [[64, 32], [32, 16]]'
odd work "{\"insert\": {\"after\": \"kernels\", \"microseconds\": 0, $mm}}" "{\"insert\": {\"after\": \"kernels\", $mm}}" \
    "{\"insert\": {\"after\": \"kernels\", $mm, \"dtype\": \"fp16\"}}" "{\"insert\": {\"after\": \"kernels\", $mm, \"dtype\": \"fp17\"}}" \
    '{"insert": {"after": "kernels", "operator": "aten::mm"}}' '{"insert": {"after": "kernels", "operator": "no::op", "sizes": [[2, 2]]}}' \
    '{"insert": {"after": "kernels", "before": "kernels", "microseconds": 1}}' '{"insert": {"microseconds": 1}}' \
    '{"insert": {"before": "kernels", "microseconds": 1, "on": "new stream"}}' '{"insert": {"after": "kernels", "microseconds": 1, "on": "stream:"}}' \
    '{"insert": {"after": "kernels", "microseconds": 1, "on": "stream:7"}}' '{"insert": {"after": "kernels", "microseconds": 1, "on": "stream:x"}}' \
    '{"insert": {"after": "kernels", "microseconds": 1, "host_microseconds": 5}}' '{"insert": {"after": "kernels", "microseconds": 1, "host_microseconds": -1}}' \
    "{\"replace\": {\"select\": \"op:aten::mm\", $mm}}" "{\"replace\": {\"select\": \"op:aten::mm\", \"microseconds\": 0, $mm}}" \
    '{"replace": {"select": "op:aten::mm"}}' '{"replace": {"select": "op:aten::mm", "microseconds": 0}}' \
    '{"remove": {"select": "op:aten::m?"}}' '{"remove": {"select": "op:aten::x"}}' '{"scale": {"select": "kernels", "factor": 0}}'
odd limits '{"world": 1000000}' '{"world": 1000001}' '{"world": 1000000000}' '{"world": 1000000001}' '{"accumulate": 4096}' '{"accumulate": 4097}' \
    '{"straggler": {"rank": 0, "factor": 1}}' '{"straggler": {"rank": 3, "factor": 2}}' '{"straggler": {"rank": 4, "factor": 2}}' \
    '{"recompute": ""}' '{"recompute": "selective"}' '{"recompute": {"every": 1}}' '{"recompute": {"every": 100}}' '{"recompute": "aten::m*"}' \
    '{"gpu": ""}' '{"gpu": "no such"}' '{"network": ""}' '{"network": "no such"}' '{"host": "generic"}' '{"host": "no such"}' \
    '{"nodes": 2}' '{"ranks": 16}' '{"batch": 0}' '{"batch": 1000000}' '{"sequence": {"from": 256, "to": 128}}' '{"sequence": {"from": 1, "to": 2}}' \
    '{"offload": "weights"}' '{"offload": "none"}' '{"dtype": "fp8"}' '{"dtype": "fp32"}' '{"quantise_comms": 16}' '{"quantise_comms": 0}' \
    '{"lora": {"rank": 8, "targets": "attention"}}' '{"lora": {"rank": 0, "targets": "all"}}' '{"chunked_loss": 1}' '{"gradient_bits": 16}'
spec() { # NAME JSON...: specs whose members do not go together
    local one name=$1
    shift
    for one in "$@"; do
        echo "$one" >"$folder/odd.json"
        run plan --law-only "$folder/odd.json"
        echo "$one"
        echo "$rc $(cat "$folder/err") [$(to_eight_digits <"$folder/out" | cksum)]"
    done | to_eight_digits >"$folder/said"
    hold "edges_odd_$name"
}
at="\"trace\": \"$folder/step.json\", \"platforms\": [\"h100\"], \"gpus\": [1, 2]"
model='"model": "llama3.2-3b", "platforms": ["h100"], "gpus": [2, 4]'
spec specs "{$at, \"samples\": 1e6, \"requests\": 1e6}" "{$at, \"samples\": 1e6, \"limits\": {\"requests_per_second\": 1}}" \
    "{$at, \"requests\": 1e6, \"limits\": {\"samples_per_second\": 1}}" "{$at, \"limits\": {\"latency_ms\": 1}}" \
    "{$at, \"limits\": {\"cost\": 100}}" "{$at, \"requests\": 1e9, \"limits\": {\"cost\": 100}}" "{$at, \"tokens\": 5}" "{$at, \"global_batch\": 3}" \
    "{$model}" "{$model, \"global_batch\": 7}" "{$model, \"global_batch\": 8, \"samples\": 5}" "{$model, \"global_batch\": 8, \"limits\": {\"cost\": 5}}" \
    "{$model, \"global_batch\": 8, \"most_points\": 1}" "{$model, \"global_batch\": 8, \"limits\": {\"days\": 5}}" \
    "{$model, \"global_batch\": 8, \"tokens\": 1e12, \"limits\": {\"days\": 1e-6}}" "{$model, \"global_batch\": 8, \"limits\": {\"memory_gib\": 1}}" \
    "{$model, \"global_batch\": 8, \"tp\": [3], \"pp\": 5}" "{$model, \"global_batch\": 8, \"currency\": \"a long name of a currency\"}"
edges spec_traced "{\"trace\": \"$folder/step.json\", \"platforms\": [{\"name\": \"h100\", \"price_per_gpu_hour\": 2}], \"gpus\": [1, 4],
    \"micro_batch\": 8, \"requests\": 1e8, \"traced_batch\": 8,
    \"limits\": {\"days\": 2000, \"requests_per_second\": 1, \"latency_ms\": 100}}" plan @
finish
