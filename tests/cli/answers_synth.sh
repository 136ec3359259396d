#!/usr/bin/env bash
# Traces that are made of described jobs: every kind of model under every split,
# precision, recomputation and technique that they have.
. "$(dirname "$0")/answers.bash"

echo '{"name": "dense", "layers": 2, "hidden": 256, "heads": 8, "kv_heads": 2, "head_dim": 32, "ffn": 384, "vocab": 1000,
    "qk_norm": true, "window": {"size": 24, "every": 2}}' >"$folder/dense.json"
echo '{"name": "gpt", "layers": 2, "hidden": 256, "heads": 8, "ffn": 1024, "vocab": 1000, "gated": false, "norm": "layernorm",
    "bias": true, "positions": "learned", "activation": "gelu", "tied_embeddings": true}' >"$folder/gpt.json"
echo '{"name": "alibi", "layers": 2, "hidden": 256, "heads": 8, "ffn": 1024, "vocab": 1000, "gated": false, "positions": "alibi",
    "activation": "relu", "attention": "flash1"}' >"$folder/alibi.json"
echo '{"name": "experts", "layers": 3, "hidden": 256, "heads": 8, "kv_heads": 4, "ffn": 512, "vocab": 1000, "bias": true,
    "moe": {"experts": 8, "topk": 2, "ffn": 128, "shared_experts": 1, "dense_layers": 1}}' >"$folder/experts.json"
echo '{"name": "latent", "layers": 2, "hidden": 256, "heads": 8, "ffn": 512, "vocab": 1000, "mtp_layers": 1,
    "mla": {"q_rank": 64, "kv_rank": 32, "nope_dim": 32, "rope_dim": 16, "v_dim": 24}}' >"$folder/latent.json"
echo '{"name": "encoder", "type": "encoder", "layers": 2, "hidden": 256, "heads": 8, "ffn": 512, "vocab": 1000, "max_positions": 64,
    "dropout": 0.1, "head": "pretraining"}' >"$folder/encoder.json"
echo '{"name": "classes", "type": "encoder", "layers": 2, "hidden": 256, "heads": 8, "ffn": 512, "vocab": 1000, "max_positions": 64,
    "token_types": 0, "head": "classifier", "classes": 5, "norm_place": "pre"}' >"$folder/classes.json"
echo '{"name": "images", "type": "vit", "image": 32, "patch": 8, "classes": 10, "layers": 2, "hidden": 256, "heads": 8, "ffn": 512,
    "dropout": 0.1}' >"$folder/images.json"
echo '{"name": "tables", "type": "dlrm", "dense": 13, "dim": 64, "bottom": [128, 64], "top": [96, 1],
    "tables": [{"rows": 1000, "pooling": 4, "count": 3}, {"rows": 10}, {"rows": 200, "pooling": 2}]}' >"$folder/tables.json"

# NAME: lines of a model and what its strategy has beside a micro batch of 2.
made() {
    local model members one tokens
    while read -r model members; do
        [ "$model" = images ] && tokens=17 || tokens=32
        echo "{\"micro_batch\": 2, \"sequence\": $tokens, $members}" >"$folder/strategy.json"
        rm -rf "$folder/out_of"
        run synth "$folder/$model.json" --strategy "$folder/strategy.json" -o "$folder/out_of"
        echo "$model $members: $rc $(tail -n 1 "$folder/err" | grep -v note:) $(cat "$folder/out")"
        for one in "$folder"/out_of/*; do
            [ -f "$one" ] && echo "    ${one##*/} $(cksum <"$one")"
        done
    done | to_eight_digits >"$folder/said"
    hold "synth_$1"
}
splits() {
    local model
    for model in dense gpt experts latent encoder images; do
        echo "$model \"gpus\": 4, \"tp\": 2, \"global_batch\": 8"
        echo "$model \"gpus\": 2, \"zero\": 2, \"global_batch\": 8"
        echo "$model \"gpus\": 2, \"zero\": 3, \"global_batch\": 4"
        echo "$model \"gpus\": 4, \"pp\": 2, \"global_batch\": 8, \"zero\": 1"
        echo "$model \"gpus\": 2, \"cp\": 2"
    done
    echo 'alibi "gpus": 2, "tp": 2'
    echo 'classes "gpus": 2, "global_batch": 8'
    echo 'dense "gpus": 8, "tp": 2, "cp": 2, "pp": 2, "global_batch": 8'
    echo 'experts "gpus": 4, "ep": 2'
    echo 'experts "gpus": 4, "ep": 4, "zero": 1, "global_batch": 16'
    echo 'experts "gpus": 8, "ep": 2, "tp": 2, "zero": 3'
    echo 'experts "gpus": 4, "ep": 2, "cp": 2'
    echo 'gpt "gpus": 2, "pp": 2, "global_batch": 8, "schedule": "zero-bubble"'
    echo 'dense "gpus": 2, "pp": 1, "tp": 2, "recompute": "full", "zero": 1'
    echo 'tables "gpus": 1'
    echo 'tables "gpus": 4, "table_optimizer": "sgd", "optimizer": "sgd"'
    echo 'tables "gpus": 3, "optimizer": "adagrad"'
    echo 'tables "gpus": 2, "global_batch": 8'
    echo 'tables "gpus": 6'
}
made splits < <(splits)
kinds() {
    local model precision recompute
    for precision in fp32 fp16 amp_bf16 fp8; do
        for model in dense gpt experts latent encoder images; do
            echo "$model \"gpus\": 1, \"precision\": \"$precision\""
        done
    done
    for precision in tf32 amp_fp16 amp_fp8 mxfp8 nvfp4; do
        echo "experts \"gpus\": 2, \"tp\": 2, \"zero\": 1, \"precision\": \"$precision\""
    done
    for precision in fp32 amp_bf16 fp8; do
        echo "tables \"gpus\": 2, \"precision\": \"$precision\""
    done
    for recompute in full selective; do
        for model in dense experts latent encoder images; do
            echo "$model \"gpus\": 2, \"global_batch\": 8, \"recompute\": \"$recompute\""
        done
    done
    echo 'dense "gpus": 2, "optimizer": "sgd"'
    echo 'dense "gpus": 2, "optimizer": "adagrad", "zero": 1'
    for model in '"compile": true' '"lora_rank": 8' '"dispatch_bits": 8' '"offload": "optimizer"' '"framework": "megatron"' '"nodes": 2'; do
        echo "dense \"gpus\": 2, $model"
    done
    for model in '"tp": 2' '"pp": 2' '"vp": 2' '"cp": 2' '"ep": 2' '"zero": 1' '"grad_accum": 2' '"recompute": "full"' '"offload": "optimizer"' \
        '"precision": "fp8"' '"dp": 2' '"dp": 1'; do # which its tables do not go with, or do
        echo "tables \"gpus\": 2, $model"
    done
}
made kinds < <(kinds)
finish
