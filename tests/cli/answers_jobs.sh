#!/usr/bin/env bash
# Described jobs of every kind: what each member of a model and of a strategy makes of
# the step and its parts, and of memory.
. "$(dirname "$0")/answers.bash"

# ---- scenarios, each with one change more --------------------------------------

cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "full", "changes": [{"recompute": "full"}]},
  {"name": "selective", "changes": [{"recompute": "selective"}]},
  {"name": "operators", "changes": [{"recompute": "selective-op"}]},
  {"name": "fp32", "changes": [{"dtype": "fp32"}]},
  {"name": "tf32", "changes": [{"dtype": "tf32"}]},
  {"name": "amp", "changes": [{"dtype": "amp_bf16"}]},
  {"name": "fp16", "changes": [{"dtype": "fp16"}]},
  {"name": "fp8", "changes": [{"dtype": "fp8"}, {"recompute": "full"}]},
  {"name": "amp_fp8", "changes": [{"dtype": "amp_fp8"}]},
  {"name": "mxfp8", "changes": [{"dtype": "mxfp8"}, {"shard": 3}]},
  {"name": "nvfp4", "changes": [{"dtype": "nvfp4"}, {"parallel": {"tp": 2}}]},
  {"name": "zero 0", "changes": [{"shard": "ddp"}]},
  {"name": "zero 2", "changes": [{"shard": "zero2"}]},
  {"name": "zero 3", "changes": [{"shard": "fsdp"}]},
  {"name": "zero 3, far", "changes": [{"shard": "fsdp"}, {"world": 32}, {"network": "ethernet-100"}]},
  {"name": "tp", "changes": [{"parallel": {"tp": 2}}]},
  {"name": "tp, zero 3", "changes": [{"parallel": {"tp": 2}}, {"shard": 3}, {"recompute": "selective"}]},
  {"name": "cp", "changes": [{"parallel": {"cp": 2}}]},
  {"name": "ep", "changes": [{"parallel": {"ep": 2}}]},
  {"name": "ep, tp", "changes": [{"parallel": {"ep": 2, "tp": 2}}, {"dtype": "fp16"}]},
  {"name": "pp", "changes": [{"parallel": {"pp": 2}}, {"batch": {"micro": 1}}]},
  {"name": "vp", "changes": [{"parallel": {"pp": 2, "vp": 2}}, {"batch": {"micro": 1}}]},
  {"name": "bubbles", "changes": [{"parallel": {"pp": 4, "schedule": "zero-bubble"}}, {"batch": {"micro": 1}}]},
  {"name": "all", "changes": [{"world": 64}, {"parallel": {"tp": 2, "pp": 2, "cp": 2, "ep": 4}}, {"shard": 1}, {"recompute": "selective"}]},
  {"name": "activations", "changes": [{"offload": "activations"}]},
  {"name": "activations, full", "changes": [{"offload": "activations"}, {"recompute": "full"}, {"parallel": {"tp": 2}}]},
  {"name": "optimizer", "changes": [{"offload": "optimizer"}, {"shard": 1}]},
  {"name": "optimizer, 8", "changes": [{"offload": "optimizer"}, {"optimizer_bits": 8}]},
  {"name": "activations, selective", "changes": [{"offload": "activations"}, {"recompute": "selective"}]},
  {"name": "weights, pp", "changes": [{"offload": "weights"}, {"parallel": {"pp": 2}}]},
  {"name": "weights", "changes": [{"offload": "weights"}, {"shard": 3}]},
  {"name": "weights, cp", "changes": [{"offload": "weights"}, {"shard": 3}, {"parallel": {"cp": 2}}, {"master_weights": false}]},
  {"name": "lora", "changes": [{"lora": {"rank": 16, "targets": "attention"}}]},
  {"name": "lora, mlp", "changes": [{"lora": {"rank": 16, "targets": "mlp"}}, {"parallel": {"tp": 2}}]},
  {"name": "lora, all", "changes": [{"lora": {"rank": 64, "targets": "all"}}, {"recompute": "full"}]},
  {"name": "qlora", "changes": [{"qlora": {"rank": 16, "targets": "all"}}]},
  {"name": "qlora, zero 3", "changes": [{"qlora": 32}, {"shard": 3}, {"chunked_loss": 4}]},
  {"name": "qlora, eager", "changes": [{"qlora": 16}, {"fuse": false}]},
  {"name": "chunks", "changes": [{"chunked_loss": 8}, {"parallel": {"tp": 2}}]},
  {"name": "8 bits", "changes": [{"optimizer_bits": 8}]},
  {"name": "16 bits", "changes": [{"optimizer_bits": 16}, {"shard": 2}]},
  {"name": "no master", "changes": [{"master_weights": false}]},
  {"name": "no master, once", "changes": [{"master_weights": false}, {"accumulate": 1}]},
  {"name": "once", "changes": [{"accumulate": 1}, {"optimizer_bits": 8}, {"shard": 0}]},
  {"name": "in backward", "changes": [{"optimizer_in_backward": true}, {"accumulate": 1}]},
  {"name": "eager", "changes": [{"fuse": false}, {"parallel": {"tp": 2}}]},
  {"name": "compiled", "changes": [{"compile": true}, {"recompute": "selective"}]},
  {"name": "packed", "changes": [{"packed": 500}]},
  {"name": "packed, cp", "changes": [{"packed": 500}, {"parallel": {"cp": 2}}]},
  {"name": "not narrow", "changes": [{"quantise_comms": 16}, {"shard": 1}]},
  {"name": "narrow", "changes": [{"quantise_comms": 8}, {"shard": 1}]},
  {"name": "narrow, 2", "changes": [{"quantise_comms": {"gradients": 4, "weights": 4, "dispatch": 8}}, {"shard": 3}, {"parallel": {"ep": 2}}]},
  {"name": "one", "changes": [{"world": 1}]},
  {"name": "longer", "changes": [{"sequence": 2048}, {"batch": {"micro": 1}}]}]}
JSON
# The host works beside the GPU: what is left of it is the last digits of two sums.
sed -i 's/"changes": \[/&{"remove": {"select": "host"}}, /' "$folder/changes.json"
jobs() { # NAME PLATFORM MODEL STRATEGY
    echo "$3" >"$folder/model.json"
    echo "$4" >"$folder/strategy.json"
    run whatif "$folder/changes.json" "$folder/model.json" --strategy "$folder/strategy.json" --platform "$2" --csv
    want_rc 0
    want_no_err
    grep -v ^base, "$folder/out" | to_eight_digits >"$folder/said"
    hold "jobs_$1"
}
eight='"gpus": 8, "micro_batch": 2, "global_batch": 32, "sequence": 4096'
jobs dense a100 '{"name": "dense", "layers": 12, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 64000,
    "qk_norm": true, "window": {"size": 1024, "every": 2}}' "{$eight}"
jobs gpt v100 '{"name": "gpt", "layers": 12, "hidden": 4096, "heads": 32, "ffn": 16384, "vocab": 50304, "gated": false,
    "norm": "layernorm", "bias": true, "positions": "learned", "activation": "gelu", "tied_embeddings": true}' \
    "{$eight, \"precision\": \"amp_fp16\"}"
jobs experts b200 '{"name": "experts", "layers": 12, "hidden": 4096, "heads": 32, "kv_heads": 4, "ffn": 8192, "vocab": 64000,
    "moe": {"experts": 16, "topk": 4, "ffn": 2048, "shared_experts": 2, "dense_layers": 1}}' "{$eight, \"zero\": 1}"
jobs latent h100 '{"name": "latent", "layers": 12, "hidden": 4096, "heads": 32, "ffn": 8192, "vocab": 64000, "mtp_layers": 1,
    "moe": {"experts": 16, "topk": 4, "ffn": 2048}, "attention": "flash2",
    "mla": {"q_rank": 1024, "kv_rank": 512, "nope_dim": 128, "rope_dim": 64, "v_dim": 128}}' "{$eight}"
jobs whole a100 '{"name": "whole", "layers": 6, "hidden": 2048, "heads": 16, "ffn": 8192, "vocab": 32000, "tied_embeddings": true,
    "mla": {"kv_rank": 512, "nope_dim": 128, "rope_dim": 64, "v_dim": 128}}' "{$eight}"
jobs encoder t4 '{"name": "encoder", "type": "encoder", "layers": 12, "hidden": 2048, "heads": 32, "ffn": 8192, "vocab": 30522,
    "max_positions": 4096, "dropout": 0.1, "head": "pretraining"}' "{$eight, \"precision\": \"fp16\"}"
jobs classes p100 '{"name": "classes", "type": "encoder", "layers": 8, "hidden": 1024, "heads": 16, "ffn": 4096, "vocab": 30522,
    "max_positions": 4096, "token_types": 0, "head": "classifier", "classes": 5, "norm_place": "pre", "pooler": false,
    "tied_embeddings": false}' "{$eight, \"precision\": \"fp16\"}"
jobs images rtx-3090 '{"name": "images", "type": "vit", "image": 384, "patch": 16, "classes": 1000, "layers": 12, "hidden": 2048,
    "heads": 32, "ffn": 8192}' '{"gpus": 8, "micro_batch": 16, "global_batch": 512}'

# ---- rows: what no scenario has --------------------------------------------------

rows() { # NAME [--would-fit]: lines of KEY=VALUE, a job each
    awk '{
        for (i = 1; i <= NF; i++) {
            split($i, pair, "=")
            if (!(pair[1] in seen)) { seen[pair[1]]; keys[++n] = pair[1] }
            cell[NR, pair[1]] = pair[2]
        }
    }
    END {
        for (r = 0; r <= NR; r++) {
            for (k = 1; k <= n; k++)
                printf "%s%s", r ? cell[r, keys[k]] : keys[k], k < n ? "," : "\n"
        }
    }' >"$folder/jobs.csv"
    answer "jobs_$1" validate --rows "$folder/jobs.csv" --csv "${@:2}"
}
numbers() {
    local split recompute
    for split in "tp=1 pp=1" "tp=4 pp=1 zero=1" "tp=2 pp=4" "tp=2 pp=4 vp=3" "tp=1 pp=4 zero=1 nodes=4"; do
        for recompute in none full selective; do
            echo "hidden=1536 heads=16 layers=24 platform=a100 gpus=16 micro_batch=2 global_batch=64 recompute=$recompute $split"
        done
    done
}
rows numbers < <(numbers)
answer jobs_numbers_text validate --rows "$folder/jobs.csv"
frameworks() {
    local framework zero pp
    for framework in common deepspeed megatron nanotron pytorch; do
        for zero in 0 1 2 3; do
            for pp in 1 4; do
                echo "model=llama3.2-3b platform=v100 gpus=16 precision=fp16 zero=$zero pp=$pp global_batch=64 framework=$framework"
            done
        done
    done
}
rows frameworks < <(frameworks)
# What was measured, failed, or cannot be predicted; and the same as text.
measured() {
    local one="model=llama3.2-3b platform=v100 precision=fp16 global_batch=64"
    echo "$one gpus=8 tp=2 zero=1 recompute=full status=ok source=here step_ms=5000 memory_gib=10"
    echo "$one gpus=8 tp=4 zero=1 recompute=full status=ok source=here step_ms=8000 iteration_ms=1 memory_gib=40"
    echo "$one gpus=8 tp=2 zero=1 recompute=full status= source=there iteration_ms=6500"
    echo "$one gpus=8 tp=1 zero=0 recompute=none status=oom source=there memory_gib=3"
    echo "$one gpus=8 tp=8 zero=3 recompute=none status=oom source=here step_ms=5"
    echo "$one gpus=8 tp=2 zero=1 source=here step_ms=3000 memory_gib=10"
    echo "$one gpus=4 tp=1 zero=3 micro_batch=2 step_ms=70000 memory_gib=30"
    echo "$one gpus=8 tp=3 source=here step_ms=1"
    echo "model=llama3.2-3b gpus=8"
    echo "model=dlrm-mlperf platform=v100 gpus=8"
    echo "hidden=1024 heads=16 layers=24 platform=v100 precision=fp16 gpus=8 global_batch=64 step_ms=900"
}
rows measured --would-fit < <(measured)
answer jobs_measured_text validate --rows "$folder/jobs.csv"
answer jobs_measured_here validate --rows "$folder/jobs.csv" --platform t4
rows failed <<<"model=llama3.2-3b platform=v100 precision=fp16 global_batch=64 gpus=8 zero=1 recompute=full status=oom"
answer jobs_failed_text validate --rows "$folder/jobs.csv"
# What a job cannot be, with its reason; and the last that it can.
refused() {
    local each
    local model="platform=h100 sequence=2048 micro_batch=1" dense="model=llama3.2-3b" experts="model=qwen3-30b-a3b"
    for each in gpus=0 gpus=1000000000 gpus=1000000001 gpus=x gpus=6 "gpus=6 tp=4" "gpus=8 dp=3" "gpus=8 dp=4 tp=2" "dp=4 tp=2" \
        "gpus=8 global_batch=12" "gpus=8 global_batch=16" "gpus=8 grad_accum=2 global_batch=24" "gpus=8 grad_accum=2 global_batch=16" \
        "gpus=8 grad_accum=2" "gpus=2 nodes=3" "gpus=2 nodes=2" "gpus=20 nodes=2" "gpus=17" "gpus=16" "gpus=72 nodes=4" \
        "gpus=8 tp=8" "gpus=16 tp=16" "gpus=24 tp=24" "gpus=5 tp=5" "gpus=3 cp=3" "gpus=4 cp=4" "gpus=2 ep=2" "gpus=2 pp=2 vp=15" "gpus=2 pp=2 vp=16" \
        "gpus=1 vp=2" "gpus=30 pp=30" "gpus=31 pp=31" zero=3 zero=4 zero=-1 precision=fp8 precision=fp7 recompute=full recompute=some recompute=selective \
        offload=weights offload=all "offload=none framework=megatron" framework=unheard-of \
        base_bits=4 "base_bits=4 lora_rank=8" "base_bits=5 lora_rank=8" lora_targets=all lora_rank=3072 lora_rank=3073 "lora_rank=8 lora_targets=most" \
        "optimizer_in_backward=yes grad_accum=2" optimizer_in_backward=yes optimizer_in_backward=maybe optimizer_bits=8 optimizer_bits=9 compile=yes \
        compile=2 loss_chunks=2048 loss_chunks=2049 loss_chunks=0 document=2048 document=2049 "schedule=interleaved gpus=2 pp=2" \
        "schedule=interleaved gpus=2 pp=2 vp=2" schedule=zero-bubble "schedule=zero-bubble gpus=2 pp=2" "schedule=zero-bubble gpus=2 pp=2 vp=2" \
        "schedule=1f1b gpus=2 pp=2" "schedule=1f1b gpus=2 pp=2 vp=2" schedule=none gradient_bits=8 gradient_bits=7 dispatch_bits=8; do
        echo "$dense $model $each"
    done
    for each in "gpus=8 ep=8" "gpus=3 ep=3" "gpus=4 ep=8" "gpus=8 ep=8 tp=2" "gpus=8 ep=8 pp=2" "lora_rank=8" "lora_rank=8 lora_targets=attention" \
        dispatch_bits=8 dispatch_bits=5; do
        echo "$experts $model $each"
    done
    for each in "" tp=2 "gpus=2 tp=2" "gpus=2 pp=2" vp=2 "gpus=2 cp=2" ep=2 zero=1 "grad_accum=2" recompute=full offload=optimizer precision=fp8 precision=fp16; do
        echo "model=dlrm-mlperf platform=a100 micro_batch=64 $each"
    done
    for each in sequence=512 sequence=513 sequence=511 sequence=0; do
        echo "model=bert-large platform=a100 micro_batch=2 $each"
    done
    for each in "" sequence=257 sequence=256 sequence=196 sequence=197; do
        echo "model=vit-l-16 platform=a100 micro_batch=2 $each"
    done
    for each in "" "hidden=64 heads=2" "hidden=0 heads=2 layers=1" "hidden=1000000 heads=2 layers=1" "hidden=1000001 heads=2 layers=1" "hidden=64 heads=x layers=1" \
        "hidden=64 heads=2 layers=-1" "model=unheard-of" "model=no/such.json" "hidden=512 heads=8 layers=2 source=mine gpus=32" "hidden=512 heads=8 layers=2 gpus=1"; do
        echo "platform=a100 micro_batch=1 $each"
    done
    echo "$dense platform=unheard-of"
    echo "$dense step_ms=-5 iteration_ms=-1 memory_gib=x status=ok platform=a100"
    echo "$dense step_ms=1e400 iteration_ms=700 memory_gib=inf status=failed platform=a100"
}
rows refused --would-fit < <(refused)
answer jobs_refused_text validate --rows "$folder/jobs.csv"
for header in modle,platform x,y,z platform,gpus hidden,heads,platform model,model; do # columns that are not
    printf '%s\n1,2,3\n' "$header" >"$folder/odd.csv"
    run validate --rows "$folder/odd.csv"
    echo "$header $rc $out $err"
done | to_eight_digits >"$folder/said"
hold jobs_columns
finish
