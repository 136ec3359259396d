#!/usr/bin/env bash
# Changes of a traced step, each with the last value that goes and the first that does
# not, alone and beside others: what is refused, with which words, and what is not.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
step=$folder/step.json
python3 "$(dirname "$0")/small_step.py" "$step"

asked=("$step" --platform a100)
many() { # N TEXT: so many of them, with %d for each's number
    local i
    for ((i = 1; i <= $1; i++)); do
        printf "${3:-, }$2" "$i"
    done | cut -c3-
}

changed durations <<CHANGES
{"scale": 2}
{"scale": {"factor": 2}}
{"scale": {"select": "kernels"}}
{"scale": {"select": "kernels", "factor": -1}}
{"scale": {"select": "kernels", "factor": "2"}}
{"scale": {"select": "kernels", "factor": 2, "more": 1}}
{"scale": {"select": "no such", "factor": 2}}
{"scale": {"select": "op:", "factor": 2}}
{"speedup": {"select": "kernels", "factor": 4}}
{"speedup": {"select": "kernels", "factor": 0}}
{"remove": {"select": "host", "factor": 2}}
{"remove": {}}
{"scale": {"select": "stream:7", "factor": 2}}
{"scale": {"select": "stream:99", "factor": 2}}
{"scale": {"select": "kernels@0", "factor": 2}}
{"scale": {"select": "kernels@1", "factor": 2}}
{"scale": {"select": "communication", "factor": 2}}
$(many 64 '{"scale": {"select": "op:aten::m%d*", "factor": 2}}')
$(many 65 '{"scale": {"select": "kernels", "factor": 1.0%d}}')
{"loader": 2}
{"loader": {"milliseconds": 0}}
{"loader": {"milliseconds": 2}}, {"loader": {"milliseconds": 2}}
{"loader": {"milliseconds": 2, "seconds": 1}}
{"straggler": 2}
{"straggler": {"rank": 0}}
{"straggler": {"factor": 2}}
{"straggler": {"rank": 0, "factor": 0}}
{"straggler": {"rank": 0, "factor": 2, "sigma": 1}}
{"straggler": {"rank": -1, "factor": 2}}
{"straggler": {"rank": 1, "factor": 2}}
{"straggler": {"sigma": 1}}
{"straggler": {"sigma": 1.01}}
{"straggler": {"sigma": 0}}
{"straggler": {"seed": 2}}
{"world": 4}, {"straggler": {"sigma": 0.2, "seed": 2}}
{"world": 4}, {"straggler": {"rank": 2, "factor": 2}}
{"cuda_graph": false}
{"cuda_graph": ""}
{"cuda_graph": "forward*"}
{"cuda_graph": "aten::l*"}
{"cuda_graph": 1}
CHANGES

changed machine <<CHANGES
{"gpu": 1}
{"gpu": "h100"}, {"gpu": "h100"}
{"network": 1}
{"host": ""}
{"nodes": 0}
{"nodes": 10000000}
{"nodes": 10000001}
{"ranks": 1}
{"ranks": 10000001}
{"ranks": 1.5}
{"clock": 0.8}
{"clock": 1000}
{"clock": "1.41GHz"}
{"clock": "fast"}
{"clock": 0}
{"clock": 11}
{"clock": 1e-9}
{"power_cap": 250}
{"power_cap": "250W"}
{"power_cap": "x"}
{"power_cap": 0}
{"clock": 0.8}, {"power_cap": 250}
CHANGES

changed training <<CHANGES
{"batch": 0}
{"batch": {"from": 4, "to": 8}}
{"batch": {"from": 4}}
{"batch": {"to": 8}}
{"batch": "8"}
{"batch": 8}, {"batch": 16}
{"reshape": {"from": 1, "to": 2}}
{"reshape": {"from": 512}}
{"reshape": {"from": 512, "to": 256}}
{"reshape": {"from": 512, "to": 512}}
{"reshape": {"from": 512, "to": 0}}
{"reshape": 2}
{"sequence": 256}
{"sequence": {"from": 512, "to": 256, "by": 1}}
$(many 17 '{"reshape": {"from": 51%d, "to": 2}}')
{"hidden": 1024}
{"hidden": 1024}, {"hidden": 512}
{"hidden": {"from": 2048, "to": 1024}}
{"heads": 8}
{"ffn": 1024}
{"vocab": 100}
{"vocab": {"from": 32000, "to": 100}}
$(many 9 '{"hidden": {"from": 204%d, "to": 1024}}')
{"dtype": "bf16"}
{"dtype": "amp_fp16"}
{"dtype": "fp8"}
{"dtype": "amp_fp8"}
{"dtype": "tf32"}
{"dtype": "fp64"}
{"dtype": 16}
{"layers": 0}
{"layers": 2}
{"layers": 10000}
{"layers": 10001}
{"layers": 1.5}
{"layers": {"block": "", "to": 2}}
{"layers": {"block": "no such", "to": 2}}
{"layers": {"block": "$(printf %063d 0)", "to": 2}}
{"layers": {"block": "$(printf %064d 0)", "to": 2}}
{"layers": {"to": 2, "by": 1}}
{"layers": {"block": "a"}}
{"layers": 2}, {"layers": 3}
{"layers": {"block": "a", "to": 2}}, {"layers": {"block": "a", "to": 2}}
{"layers": {"block": "a", "to": 2}}, {"layers": {"block": "b", "to": 2}}, {"layers": {"block": "b", "to": 2}}
$(many 5 '{"layers": {"block": "a%d", "to": 2}}')
$(many 6 '{"layers": {"block": "a%d", "to": 2}}')
{"recompute": "none"}
{"recompute": "full"}
{"recompute": {"every": 10000}}
{"recompute": {"every": 10001}}
{"recompute": {"every": 0}}
{"recompute": {"each": 1}}
{"recompute": "aten::mm"}
{"recompute": "all"}
{"recompute": "$(printf %0300d 0)*"}
{"recompute": 1}
{"recompute": "full"}, {"recompute": "full"}
{"accumulate": 4096}
{"accumulate": 4097}
{"accumulate": 2}, {"parallel": {"micro_batches": 2}}
{"accumulate": 2}, {"parallel": {"micro_batches": 4}}
{"parallel": {"micro_batches": 4}}, {"accumulate": 2}
{"parallel": {"micro_batches": 4}}, {"accumulate": 4}
{"optimizer_bits": 8}
{"optimizer_bits": 16}
{"optimizer_bits": 32}
{"optimizer_in_backward": true}
{"optimizer_in_backward": false}
{"optimizer_in_backward": 1}
{"offload": "optimizer"}
{"offload": "activations"}
{"offload": "none"}
{"offload": "weights"}
{"lora": {"rank": 8}}
{"qlora": 1}
{"chunked_loss": 8}
{"lara": 8}
{"batch": 8, "gpu": "h100"}
{}
8
CHANGES

changed ranks <<CHANGES
{"world": 1}
{"world": 1000000}
{"world": 1000001}
{"world": 2}, {"parallel": {"dp": 2}}
{"world": 2}, {"parallel": {"dp": 4}}
{"parallel": {"dp": 4}}, {"world": 2}
{"parallel": 2}
{"parallel": {"tp": 4096}}
{"parallel": {"tp": 4097}}
{"parallel": {"tp": 2}}
{"parallel": {"tp": 2, "sequence_parallel": false}}
{"parallel": {"sequence_parallel": 1}}
{"parallel": {"pp": 2}}
{"parallel": {"pp": 2, "micro_batches": 4}}
{"parallel": {"pp": 4097}}
{"parallel": {"dp": 1000001}}
{"parallel": {"dp": 2, "micro_batches": 2}}
{"parallel": {"ep": 1, "cp": 1}}
{"parallel": {"ep": 2}}
{"parallel": {"cp": 2}}
{"parallel": {"stages": [1, 1]}}
{"parallel": {"stages": [1]}}
{"parallel": {"stages": []}}
{"parallel": {"stages": 2}}
{"parallel": {"stages": [1, 1], "pp": 2}}
{"parallel": {"stages": [1, 1], "pp": 3}}
{"parallel": {"stages": [1, 0]}}
{"parallel": {"stages": [1, 1.5]}}
{"parallel": {"stages": [1, "a"]}}
{"parallel": {"stages": [1, 10001]}}
{"parallel": {"stages": [1, 2], "vp": 2}}
{"parallel": {"stages": [2, 2], "vp": 2}}
{"parallel": {"vp": 2}}
{"parallel": {"vp": 1}}
{"parallel": {"pp": 2, "vp": 2, "micro_batches": 4}}
{"parallel": {"pp": 2, "vp": 2, "schedule": "1f1b"}}
{"parallel": {"pp": 2, "schedule": "interleaved"}}
{"parallel": {"pp": 2, "micro_batches": 4, "schedule": "zero-bubble"}}
{"parallel": {"pp": 2, "micro_batches": 4, "schedule": "gpipe"}}
{"parallel": {"pp": 2, "schedule": "no such"}}
{"parallel": {"tp": 2}}, {"parallel": {"tp": 2}}
{"shard": 1}
{"shard": "no such"}
{"shard": {"bucket_mb": 5}}
{"shard": {"strategy": 1}}
{"shard": {"strategy": "ddp", "bucket_mb": -1}}
{"shard": {"strategy": "ddp", "bucket_mb": 0.5}}
{"shard": {"strategy": "ddp", "more": -1}}
{"shard": {"strategy": "ddp", "mixed_precision": "bf16"}}
{"world": 2}, {"shard": {"strategy": "fsdp", "mixed_precision": "fp32"}}
{"world": 2}, {"shard": {"strategy": "shard_grad_op", "mixed_precision": "bf16"}}
{"world": 2}, {"shard": {"strategy": "no_shard", "mixed_precision": "fp16"}}
{"world": 2}, {"shard": "no_shard"}
{"world": 2}, {"shard": "full_shard"}
{"world": 2}, {"shard": "zero3"}
{"world": 2}, {"shard": {"strategy": "ddp", "bucket_mb": 1, "gradient_as_bucket_view": true}}
CHANGES

changed graph <<CHANGES
{"insert": {"after": "kernels", "microseconds": 5}}
{"insert": {"before": "op:aten::mm", "microseconds": 5, "on": "new stream", "host_microseconds": 3}}
{"insert": {"before": "host", "microseconds": 5}}
{"insert": 5}
{"insert": {"after": 5, "microseconds": 5}}
{"insert": {"after": "no such", "microseconds": 5}}
{"insert": {"after": "op:aten::no", "microseconds": 5}}
{"insert": {"after": "kernels", "microseconds": 5, "on": 5}}
{"insert": {"after": "kernels", "microseconds": 5, "on": "stream:98"}}
{"insert": {"after": "kernels", "microseconds": 5, "on": "stream:-1"}}
{"insert": {"after": "kernels", "operator": "", "sizes": [[2, 2]]}}
{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [[2, 0], [0, 2]]}}
{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [2, 2]}}
{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": []}}
{"insert": {"after": "kernels", "operator": "aten::mm", "sizes": [[64, 64], [64, 64]], "dtype": "bf16"}}
{"insert": {"after": "kernels", "operator": "aten::relu", "sizes": [[64, 1.5]]}}
{"insert": {"after": "kernels", "operator": "aten::relu", "sizes": [[-64]]}}
$(many 32 '{"insert": {"after": "op:aten::mm", "microseconds": %d}}')
$(many 33 '{"insert": {"after": "op:aten::mm", "microseconds": %d}}')
{"replace": {"select": "host", "microseconds": 5}}
{"replace": {"select": "host", "operator": "aten::mm", "sizes": [[64, 64], [64, 64]]}}
{"replace": {"select": "kernels", "microseconds": 5, "on": "new stream"}}
{"replace": {"select": "kernels", "microseconds": -5}}
{"replace": {"select": "kernels", "operator": "aten::relu", "sizes": [[64, 64]]}}
{"fuse": 1}
{"fuse": "all"}
{"fuse": "pointwise"}, {"fuse": "attention"}
{"fuse": "optimizer"}
{"overlap": 1}
{"overlap": false}
{"overlap": true}
{"overlap": "communication"}
{"overlap": "kernels"}
{"overlap": "no such"}
{"quantise_comms": {}}
{"quantise_comms": 8}
{"quantise_comms": {"forward": "fp16"}}
{"quantise_comms": {"forward": "fp17"}}
{"quantise_comms": {"backward": "int8", "select": "kernels"}}
{"world": 2}, {"quantise_comms": {"backward": "int8"}}
{"world": 2}, {"quantise_comms": {"backward": "bf16", "select": "communication"}}
{"world": 2}, {"overlap": true}
CHANGES

# Files of them.
for file in 1 '[]' '{}' '{"scenarios": []}' '{"scenarios": 1}' '{"scenarios": [1]}' '{"scenarios": [{}]}' '{"scenarios": [{"name": "a"}]}' \
    '{"scenarios": [{"name": 1, "changes": []}]}' '{"scenarios": [{"name": "a", "changes": []}]}' '{"scenarios": [{"changes": [{"batch": 8}]}]}' \
    '{"scenarios": [{"name": "a", "changes": 1}]}' '{"scenarios": [{"name": "a", "changes": [], "more": 1}]}' '{"scenarios": [], "more": 1}' \
    '{"scenarios": [{"name": "a", "changes": []}, {"name": "a", "changes": []}]}' '{"scenarios": [{"name": "", "changes": []}]}' \
    '{"scenarios": [{"name": "a", "changes": []}], "grid": {"batch": [8]}}' '{"grid": 1}' '{"grid": {}}' '{"grid": {"batch": 8}}' '{"grid": {"batch": []}}' \
    '{"grid": {"batch": [8, 16]}}' '{"grid": {"batch": [8], "gpu": ["h100", "a100"]}}' '{"grid": {"kernels": [0.5, 1]}}' '{"grid": {"kernels": [0]}}' \
    '{"grid": {"kernels": ["a"]}}' '{"grid": {"host": ["generic"]}}' '{"grid": {"host": [0.5, -1]}}' '{"grid": {"op:aten::mm": [0.5]}}' \
    '{"grid": {"parallel": [{"dp": 2}, {"tp": 2}]}}' '{"grid": {"no such": [1]}}' '{"grid": {"batch": [8, "x"]}}' \
    "{\"grid\": {\"kernels\": [$(many 100 '%d')], \"host\": [$(many 101 '%d')]}}" '{"schema": "no such", "scenarios": []}'; do
    echo "$file" >"$folder/changes.json"
    run whatif "$folder/changes.json" "$step" --platform a100 --csv
    echo "$file" | cut -c1-150
    echo "    $rc $err"
    cut -c1-300 "$folder/out"
done | to_eight_digits >"$folder/said"
hold changes_files
# Changed traces, written.
cat >"$folder/write.json" <<'JSON'
{"scenarios": [{"name": "faster", "changes": [{"speedup": {"select": "kernels", "factor": 2}}]}, {"name": "half", "changes": [{"dtype": "bf16"}]},
  {"name": "more", "changes": [{"insert": {"after": "kernels", "microseconds": 5}}]}, {"name": "gpu", "changes": [{"gpu": "h100"}]},
  {"name": "both", "changes": [{"dtype": "fp16"}, {"scale": {"select": "host", "factor": 0.5}}]}, {"name": "no", "changes": [{"batch": 8}]},
  {"name": "mm", "changes": [{"reshape": {"from": 256, "to": 128}}]}]}
JSON
for format in "" --json; do
    # shellcheck disable=SC2086
    answer "changes_written${format#-}" whatif --platform a100 "$folder/write.json" "$step" --write "$folder/written$format" $format
done
sed 's/"more"/"half!"/; s/"gpu"/"half?"/; s/"no"/"half!"/' "$folder/write.json" >"$folder/twice.json"
answer changes_twice whatif --platform a100 "$folder/twice.json" "$step" --write "$folder/twice"
finish
