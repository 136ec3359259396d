#!/usr/bin/env bash
# Recordings of GPUs: what ran, what it would take elsewhere, and what would change it;
# checksums of every answer. Wants real traces beside the checkout.
. "$(dirname "$0")/answers.bash"
[ -n "${MSIM_TRACES:-}" ] || { echo "no MSIM_TRACES: skipped"; exit 77; }
# By names of its own: what is sorted by name must not depend on where things lie.
ln -s "$(cd "$MSIM_TRACES/traces" && pwd)" "$folder/real"
ln -s "$data/traces/vit" "$folder/vit"
sim=$(realpath "$sim")

# Changes that any step can take.
cat >"$folder/changes.json" <<'JSON'
{"scenarios": [
  {"name": "faster", "changes": [{"speedup": {"select": "family:gemm", "factor": 2}}]},
  {"name": "host", "changes": [{"scale": {"select": "host", "factor": 0.5}}]},
  {"name": "gone", "changes": [{"remove": {"select": "copies"}}]},
  {"name": "more", "changes": [{"insert": {"after": "op:aten::*", "microseconds": 10}}]},
  {"name": "aside", "changes": [{"insert": {"after": "op:aten::[am]*", "microseconds": 10, "on": "new stream"}}]},
  {"name": "fused", "changes": [{"fuse": "pointwise"}]},
  {"name": "foreach", "changes": [{"fuse": "optimizer"}]},
  {"name": "graph", "changes": [{"cuda_graph": true}]},
  {"name": "loader", "changes": [{"loader": {"milliseconds": 5}}]},
  {"name": "comms", "changes": [{"quantise_comms": {"forward": "fp16", "backward": "bf16"}}]},
  {"name": "straggler", "changes": [{"straggler": {"rank": 0, "factor": 1.5}}]},
  {"name": "clock", "changes": [{"clock": "0.7"}]},
  {"name": "gpu", "changes": [{"gpu": "h200"}]}]}
JSON

# What does not go with a trace is refused, which is an answer, too.
ask() { # FILE ARGUMENT...
    local file=$1
    shift
    run "$@"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } >"$folder/asked/$file"
}

cd "$folder" || exit 1
recorded() { # NAME PATH...: below the folder of real traces
    local name=$1 traces
    shift
    traces=("${@/#/real/}")
    rm -rf "$folder/asked"
    mkdir "$folder/asked"
    ask info.json info --json "${traces[@]}"
    ask traced.txt "${traces[@]}"
    ask traced.json --json "${traces[@]}"
    ask h100.json --json --costs model --platform h100 "${traces[@]}"
    ask scaled.json --json --costs scaled --platform a100 --source-platform v100 "${traces[@]}"
    ask whatif.csv whatif --csv "$folder/changes.json" "${traces[@]}"
    ask whatif.json whatif --json --platform a100 "$folder/changes.json" "${traces[@]}"
    ask sensitivity.csv whatif --sensitivity --csv --platform h100 "${traces[@]}"
    ask program.json generate --json "${traces[@]}"
    ask select.json select --json -k 1 "${traces[@]}" vit
    sums "recorded_$name" "$folder/asked"
}
recorded vgg vgg13-h100
recorded torchrec torchrec-4xv100
recorded resnet-2080ti resnet-2080ti
recorded ranking ranking-a100
recorded dlrm dlrm-8xv100/kineto dlrm-8xv100/et
recorded resnet resnet50-ddp-2xa100/kineto
recorded copies concurrent-copies-a100/trace.json.gz
recorded waits sync-edges-a100/cuda_event_sync_multi_stream.json.gz
recorded gpt2 et-only/hf-gpt2-1.1.0.json.gz
recorded triton et-only/torch-compile-triton-1.1.1.json.gz
recorded chakra chakra/feeder.et.gz
finish
