#!/usr/bin/env bash
# Rewritten steps: what every change of training makes of small ones of every kind, as
# figures and as the traces that are written of them.
. "$(dirname "$0")/answers.bash"
in_turn core/rewrite core/reshape core/sizes predict/scenario predict/write
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "batch", "changes": [{"batch": 3}]},
  {"name": "micro", "changes": [{"accumulate": 3}, {"batch": 6}]},
  {"name": "accumulated", "changes": [{"accumulate": 2}]},
  {"name": "sequence", "changes": [{"sequence": {"from": 64, "to": 96}}]},
  {"name": "layers", "changes": [{"layers": 6}]},
  {"name": "fewer", "changes": [{"layers": 3}]},
  {"name": "wide", "changes": [{"hidden": 256}]},
  {"name": "heads", "changes": [{"heads": 8}]},
  {"name": "ffn", "changes": [{"ffn": 512}]},
  {"name": "vocab", "changes": [{"vocab": 640}]},
  {"name": "larger", "changes": [{"hidden": 256}, {"vocab": 640}, {"layers": 5}, {"batch": 2}]},
  {"name": "again", "changes": [{"recompute": "full"}]},
  {"name": "every", "changes": [{"recompute": {"every": 2}}]},
  {"name": "picked", "changes": [{"recompute": "aten::*norm"}, {"accumulate": 2}]},
  {"name": "deep again", "changes": [{"recompute": "full"}, {"layers": 5}, {"world": 2}]},
  {"name": "dtype", "changes": [{"dtype": "fp16"}]},
  {"name": "amp", "changes": [{"dtype": "amp_bf16"}, {"world": 4}]},
  {"name": "fp8", "changes": [{"dtype": "fp8"}]},
  {"name": "bits", "changes": [{"optimizer_bits": 8}]},
  {"name": "in backward", "changes": [{"optimizer_in_backward": true}]},
  {"name": "ddp", "changes": [{"world": 4}, {"shard": {"strategy": "ddp", "bucket_mb": 1, "gradient_as_bucket_view": true}}]},
  {"name": "zero1", "changes": [{"world": 3}, {"shard": "zero1"}]},
  {"name": "zero2", "changes": [{"world": 4}, {"shard": "zero2"}]},
  {"name": "fsdp", "changes": [{"world": 4}, {"shard": {"strategy": "fsdp", "mixed_precision": "bf16"}}]},
  {"name": "sharded", "changes": [{"world": 2}, {"shard": "fsdp"}, {"accumulate": 2}, {"recompute": "full"}]},
  {"name": "optimizer", "changes": [{"world": 2}, {"shard": "fsdp"}, {"offload": "optimizer"}]},
  {"name": "activations", "changes": [{"offload": "activations"}]},
  {"name": "tp", "changes": [{"parallel": {"tp": 2}}]},
  {"name": "plain", "changes": [{"parallel": {"tp": 4, "sequence_parallel": false}}]},
  {"name": "pp", "changes": [{"parallel": {"pp": 2, "micro_batches": 4}}]},
  {"name": "stages", "changes": [{"parallel": {"stages": [3, 1], "dp": 2}}]},
  {"name": "chunks", "changes": [{"parallel": {"pp": 2, "vp": 2, "micro_batches": 4}}]},
  {"name": "gpipe", "changes": [{"parallel": {"pp": 4, "schedule": "gpipe"}}, {"recompute": "full"}]},
  {"name": "gaps", "changes": [{"parallel": {"pp": 2, "schedule": "zero-bubble", "micro_batches": 4}}]},
  {"name": "all", "changes": [{"layers": 8}, {"parallel": {"tp": 2, "pp": 2, "dp": 2}}, {"shard": "zero1"}]}]}
JSON

written() { # NAME TRACE...: by each change
    local name=$1
    shift
    rm -rf "$folder/made"
    run whatif --csv --platform h100 "$folder/changes.json" "$@" --write "$folder/made"
    mkdir -p "$folder/made"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } | to_eight_digits >"$folder/said"
    (cd "$folder/made" && find . -name '*.json' | sort | xargs -r cksum) >>"$folder/said"
    hold "rewritten_$name"
}

job() { # NAME STRATEGY MODEL: what synth writes of it, as traces alone
    echo "{\"name\": \"tiny\", \"layers\": 4, \"hidden\": 128, \"heads\": 4, \"vocab\": 512, $3}" >"$folder/model.json"
    echo "{\"micro_batch\": 1, \"sequence\": 64, $2}" >"$folder/strategy.json"
    run synth "$folder/model.json" --strategy "$folder/strategy.json" -o "$folder/$1"
    want_rc 0
    rm "$folder/$1/synth.json"
}
gpt='"type": "decoder", "ffn": 384, "tied_embeddings": true, "gated": false, "norm": "layernorm",
    "positions": "learned", "bias": true, "activation": "gelu"'
llama='"type": "decoder", "kv_heads": 2, "ffn": 384, "gated": true, "norm": "rmsnorm", "positions": "rope", "bias": false'
experts="$llama, \"moe\": {\"experts\": 4, \"topk\": 2, \"ffn\": 96, \"shared_experts\": 1}"
encoder='"type": "encoder", "ffn": 384, "max_positions": 64, "token_types": 2, "dropout": 0.1, "head": "mlm", "norm_place": "post"'
whole() { # NAME STRATEGY MODEL
    job "$@"
    written "$1" "$folder/$1"
}
whole gpt '"gpus": 1, "global_batch": 1' "$gpt"
whole llama '"gpus": 1, "global_batch": 2, "precision": "bf16"' "$llama"
whole experts '"gpus": 1, "global_batch": 1, "precision": "bf16"' "$experts"
whole encoder '"gpus": 1, "global_batch": 2' "$encoder"
whole again '"gpus": 1, "global_batch": 1, "recompute": "full"' "$llama"
whole tp '"gpus": 2, "tp": 2, "global_batch": 1' "$llama"
whole dp '"gpus": 2, "dp": 2, "global_batch": 2' "$gpt"
whole zero '"gpus": 2, "zero": 3, "global_batch": 2' "$llama"
whole stages '"gpus": 2, "pp": 2, "global_batch": 2' "$llama"
whole wide '"gpus": 1, "global_batch": 2, "precision": "fp32"' "$gpt"

# Steps as other programs leave them: what a node does not say is found otherwise.
odd() { # NAME TRACE STATEMENT: of each node
    python3 - "$2" "$folder/$1.json" "$3" <<'PYTHON'
import gzip, json, sys
read = gzip.open if sys.argv[1].endswith(".gz") else open
with read(sys.argv[1], "rt") as f:
    whole = json.load(f)
nodes = []
for at, node in enumerate(whole["nodes"]):
    attrs = {a["name"]: a for a in node["attrs"]}
    keep = True
    exec(sys.argv[3])
    if keep:
        nodes.append(node)
whole["nodes"] = nodes
json.dump(whole, open(sys.argv[2], "w"))
PYTHON
    written "$1" "$folder/$1.json"
}
unnumbered='attrs["seq_id"]["value"] = -1; attrs["fw_parent"]["value"] = 0'
odd unnumbered "$folder/gpt/rank-0.et.json" "$unnumbered"
odd unnumbered_shards "$folder/zero/rank-0.et.json" "$unnumbered"
odd unnamed "$folder/llama/rank-0.et.json" 'attrs["op_schema"]["value"] = ""; node.get("inputs", {}).pop("strides", 0)'
odd forward "$folder/gpt/rank-0.et.json" 'keep = at < len(whole["nodes"]) // 3'
odd stepless "$folder/gpt/rank-0.et.json" 'keep = "Optimizer" not in node["name"] and "foreach" not in node["name"] and "adam" not in node["name"]'
for trace in bert gpt2 vit llama-block resnet; do
    written "traced_$trace" "$data/traces/$trace"
done
odd traced_unnumbered "$data/traces/bert/et/rank-0.json.gz" "$unnumbered"
written traced_ranks "$data/traces/dlrm-ddp-2ranks"
finish
