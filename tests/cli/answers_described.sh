#!/usr/bin/env bash
# Changes of described jobs, each with the last value that goes and the first that does
# not: what is refused, with which words, and what is not.
. "$(dirname "$0")/answers.bash"

sizes='"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024, "vocab": 8192'
echo "{\"name\": \"tiny\", $sizes}" >"$folder/tiny.json"
echo "{\"name\": \"experts\", $sizes, \"moe\": {\"experts\": 8, \"topk\": 2, \"ffn\": 256, \"dense_layers\": 1}}" >"$folder/experts.json"
echo "{\"name\": \"latent\", $sizes, \"mla\": {\"q_rank\": 64, \"kv_rank\": 32, \"nope_dim\": 32, \"rope_dim\": 16, \"v_dim\": 32}}" >"$folder/latent.json"
echo '{"gpus": 4, "micro_batch": 1, "global_batch": 8, "sequence": 256}' >"$folder/strategy.json"
described() {
    asked=("$folder/$1.json" --strategy "$folder/strategy.json" --platform h100)
    changed "$1"
}
# Written, too: those that can be.
cat >"$folder/write.json" <<'JSON'
{"scenarios": [{"name": "wide", "changes": [{"hidden": 1024}]}, {"name": "deep", "changes": [{"layers": 2}]},
  {"name": "split", "changes": [{"parallel": {"tp": 2}}, {"recompute": "full"}]}, {"name": "no", "changes": [{"parallel": {"tp": 3}}]},
  {"name": "faster", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]}, {"name": "of!", "changes": [{"batch": {"micro": 2}}]},
  {"name": "packed", "changes": [{"packed": 64}]}, {"name": "lora", "changes": [{"lora": 8}]}]}
JSON
for format in "" --json; do
    # shellcheck disable=SC2086
    answer "described_written${format#-}" whatif "$folder/write.json" "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 \
        --write "$folder/written$format" $format
done
sums described_written_files "$folder/written"
for name in wide of- faster; do # from what was written they are predicted as before
    [ -d "$folder/written/$name" ] && run predict --platform h100 --csv "$folder/written/$name" && cat "$folder/out" "$folder/err"
done | to_eight_digits >"$folder/said"
hold described_written_again
sed 's/"split"/"deep!"/; s/"no"/"deep?"/' "$folder/write.json" >"$folder/twice.json"
answer described_twice whatif "$folder/twice.json" "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 --write "$folder/twice"
described tiny <<CHANGES
$(for size in hidden heads ffn vocab; do
    for to in 0 16 1000000000 1000000001 1.5 '"a"' '{"from": 512, "to": 256}' '{"from": 8, "to": 4}' '{"to": 4}' '{"from": 8}' '{"to": 4, "by": 1}'; do
        echo "{\"$size\": $to}"
    done
    echo "{\"$size\": 16}, {\"$size\": 16}"
done)
{"hidden": 1024}, {"heads": 16}
{"hidden": 1024}, {"ffn": 1024}
{"heads": 3}
{"heads": 1}
{"heads": 2}
{"heads": 6}
{"hidden": 520}
{"hidden": 500}
{"layers": 4}
{"layers": 8}
{"layers": 0}
{"layers": 10000}
{"layers": 10001}
{"layers": {"to": 2}}
{"layers": {"block": "blocks", "to": 2}}
{"layers": {"block": "block", "to": 2}}
{"layers": {"block": "blocks"}}
{"layers": {"to": 2, "by": 1}}
{"layers": 2}, {"layers": 2}
{"parallel": {"tp": 2, "sp": true}}
{"parallel": {"tp": 2, "sp": false}}
{"parallel": {"tp": 2, "sequence_parallel": false}}
{"parallel": {"tp": 2, "sequence_parallel": true, "micro_batches": 2}}
{"parallel": {"tp": 2, "stages": [1, 1]}}
{"parallel": 2}
{"shard": "zero1"}
{"shard": "ddp"}
{"shard": "zero4"}
{"shard": {"strategy": "zero2"}}
{"shard": 1}
{"batch": 16}
{"batch": 0}
{"batch": {"global": 16}}
{"batch": {"micro": 2}}
{"batch": {}}
{"batch": {"mini": 2}}
{"batch": "2"}
{"lora": 8}
{"lora": {"rank": 8, "targets": "mlp"}}
{"lora": {"targets": "mlp"}}
{"lora": "8"}
{"lora": {"rank": 0}}
{"qlora": 8}
{"qlora": {"rank": 8, "targets": "all", "bits": 4}}
{"quantise_comms": 8}
{"quantise_comms": {"gradients": 8}}
{"quantise_comms": {"gradients": 8, "weights": 8, "dispatch": 8}}, {"shard": "zero3"}
{"quantise_comms": {"gradients": 5}}
{"quantise_comms": {}}
{"quantise_comms": "fp16"}
{"scale": {"select": "kernels", "factor": 2}}
{"scale": {"select": "communication", "factor": 0.5}}, {"scale": {"select": "communication", "factor": 0.5}}
{"scale": {"select": "copies", "factor": 2}}
{"scale": {"select": "host", "factor": 2}}
{"scale": {"select": "host", "factor": 0}}
{"scale": {"select": "op:aten::mm", "factor": 2}}
{"scale": {"select": "kernel", "factor": 2}}
{"scale": {"factor": 2}}
{"scale": 2}
{"speedup": {"select": "host", "factor": 4}}
{"remove": {"select": "host"}}
{"remove": {"select": "host", "factor": 4}}
{"straggler": {"factor": 1}}
{"straggler": {"rank": 3, "factor": 1.5}}
{"straggler": {"rank": -1, "factor": 1.5}}
{"straggler": {"factor": 0.99}}
{"straggler": {"sigma": 0.1}}
{"straggler": 2}
{"cuda_graph": true}
{"cuda_graph": false}
{"cuda_graph": "forward*"}
{"overlap": 0}
{"overlap": 1}
{"overlap": 1.01}
{"overlap": -0.01}
{"overlap": true}
{"packed": 64}
{"packed": 257}
{"master_weights": 16}
{"master_weights": "no"}
{"chunked_loss": 2}
{"compile": true}
{"fuse": true}
{"fuse": "pointwise"}
{"clock": 1}
{"reshape": {"from": 1, "to": 2}}
{"gpu": ""}
{"gpu": 1}
{"network": "no such"}
{"world": 0}
{"world": 16}
{"world": 3}
{"world": "2"}
{"sequence": 128}
{"sequence": {"from": 256, "to": 128}}
{"sequence": {"from": 128, "to": 256}}
{"accumulate": 4}
{"accumulate": 3}
{"dtype": "fp8"}
{"dtype": "fp7"}
{"offload": "weights"}
{"recompute": "full"}
{"recompute": {"every": 2}}
{"optimizer_in_backward": true}
{"optimizer_bits": 8}
{"lara": 8}
{"batch": 8, "gpu": "h100"}
8
CHANGES
described experts <<CHANGES
{"layers": 1}
{"layers": 2}
{"hidden": 1024}
{"hidden": 514}
{"ffn": 2048}
{"parallel": {"ep": 4}}
{"parallel": {"ep": 3}}
{"quantise_comms": {"dispatch": 8}}, {"parallel": {"ep": 4}}
{"lora": {"rank": 8, "targets": "all"}}
CHANGES
described latent <<CHANGES
{"hidden": 1024}
{"heads": 16}
{"ffn": 2048}
{"layers": 8}
CHANGES
finish
