#!/usr/bin/env bash
# Traced steps: changes of every kind, memory, rows and plans of one; every number.
. "$(dirname "$0")/answers.bash"

cat >"$folder/ways.json" <<'JSON'
{"scenarios": [
  {"name": "batch", "changes": [{"batch": 32}]},
  {"name": "accumulate", "changes": [{"accumulate": 3}, {"batch": 32}]},
  {"name": "again", "changes": [{"recompute": "full"}]},
  {"name": "every", "changes": [{"recompute": {"every": 2}}]},
  {"name": "norms", "changes": [{"recompute": "aten::batch_norm"}]},
  {"name": "ddp", "changes": [{"world": 4}]},
  {"name": "buckets", "changes": [{"world": 16}, {"shard": {"strategy": "ddp", "bucket_mb": 5, "gradient_as_bucket_view": true}}]},
  {"name": "zero1", "changes": [{"world": 4}, {"shard": "zero1"}]},
  {"name": "zero2", "changes": [{"world": 4}, {"shard": "zero2"}]},
  {"name": "fsdp", "changes": [{"world": 8}, {"shard": "fsdp"}]},
  {"name": "half", "changes": [{"world": 2}, {"shard": {"strategy": "fsdp", "mixed_precision": "fp16"}}]},
  {"name": "optimizer", "changes": [{"world": 4}, {"shard": "fsdp"}, {"offload": "optimizer"}]},
  {"name": "activations", "changes": [{"offload": "activations"}]},
  {"name": "both", "changes": [{"offload": "activations"}, {"recompute": "full"}, {"batch": 64}]},
  {"name": "amp", "changes": [{"dtype": "amp_bf16"}]},
  {"name": "type", "changes": [{"dtype": "fp16"}, {"world": 2}, {"accumulate": 2}]},
  {"name": "bits", "changes": [{"optimizer_bits": 8}]},
  {"name": "in backward", "changes": [{"optimizer_in_backward": true}]},
  {"name": "clock", "changes": [{"clock": "1000"}]},
  {"name": "watts", "changes": [{"power_cap": "200"}]},
  {"name": "gpu", "changes": [{"gpu": "h100"}]},
  {"name": "narrow", "changes": [{"world": 16}, {"network": "ethernet-100"}, {"quantise_comms": {"backward": "fp16", "select": "communication"}}]},
  {"name": "straggler", "changes": [{"world": 4}, {"straggler": {"rank": 1, "factor": 1.5}}]},
  {"name": "no such", "changes": [{"recompute": "aten::gelu*"}]}]}
JSON
cat >"$folder/edits.json" <<'JSON'
{"scenarios": [
  {"name": "faster", "changes": [{"speedup": {"select": "op:aten::[bl]*", "factor": 2}}]},
  {"name": "scaled", "changes": [{"scale": {"select": "family:pointwise", "factor": 0.5}}]},
  {"name": "gone", "changes": [{"remove": {"select": "op:aten::dropout"}}]},
  {"name": "more", "changes": [{"insert": {"after": "op:aten::[bl]*", "microseconds": 10}}]},
  {"name": "aside", "changes": [{"insert": {"after": "op:aten::l*", "microseconds": 10, "on": "new stream"}}]},
  {"name": "other", "changes": [{"replace": {"select": "op:aten::l*", "microseconds": 50}}]},
  {"name": "fused", "changes": [{"fuse": "pointwise"}]},
  {"name": "attention", "changes": [{"fuse": "attention"}]},
  {"name": "foreach", "changes": [{"fuse": "optimizer"}]},
  {"name": "graph", "changes": [{"cuda_graph": true}]},
  {"name": "loader", "changes": [{"loader": {"milliseconds": 5}}]},
  {"name": "longer", "changes": [{"sequence": {"from": 128, "to": 64}}]},
  {"name": "host", "changes": [{"scale": {"select": "host", "factor": 0.5}}]}]}
JSON
for trace in resnet gpt2 bert; do
    answer "ways_$trace" whatif --platform a100 "$folder/ways.json" "$data/traces/$trace" --csv
    answer "edits_$trace" whatif --platform a100 "$folder/edits.json" "$data/traces/$trace" --csv
done
answer ways_ranks whatif --platform a100 "$folder/ways.json" "$data/traces/dlrm-ddp-2ranks" --csv
answer edits_ranks whatif --platform h100 "$folder/edits.json" "$data/traces/dlrm-ddp-2ranks" --csv
answer edits_kernels whatif --platform a100 --kernels "$folder/edits.json" "$data/traces/gpt2"
answer edits_json whatif --platform a100 --json "$folder/edits.json" "$data/traces/resnet"
answer edits whatif --platform a100 "$folder/edits.json" "$data/traces/bert"
answer sensitivity_json whatif --sensitivity --platform h100 --json "$data/traces/dlrm-ddp-2ranks"
answer sensitivity whatif --sensitivity --platform a100 "$data/traces/vit" --csv
for trace in llama-block resnet; do
    answer "predict_$trace" --platform a100 "$data/traces/$trace"
    run --platform a100 --json --timeline "$folder/timeline.json" "$data/traces/$trace"
    mkdir "$folder/$trace"
    mv "$folder/out" "$folder/timeline.json" "$folder/$trace"
    sums "predict_${trace}_files" "$folder/$trace"
done
for op in conv2d convolution_backward add_ batch_norm max_pool2d; do
    answer "explain_$op" --platform a100 --explain "aten::$op" "$data/traces/resnet"
done
for op in linear layer_norm scaled_dot_product_attention gelu embedding _foreach_addcdiv_; do
    answer "explain_$op" --platform h100 --explain "aten::$op" "$data/traces/bert"
done
answer explain_collective --platform h100 --explain c10d::allreduce_ "$data/traces/dlrm-ddp-2ranks"
answer predict_ranks --platform h100 "$data/traces/dlrm-ddp-2ranks"
answer network --platform h100 --costs model --csv --nodes 2 --ranks 16 --network infiniband-ndr400 "$data/traces/dlrm-ddp-2ranks"
answer several --platform a100,h100,l40s "$data/traces/vit"

# ---- one step as rows and plans -------------------------------------------------

cat >"$folder/rows.csv" <<'CSV'
platform,gpus,micro_batch,grad_accum,strategy,recompute,precision,offload
a100,1,16,1,,none,traced,none
a100,4,32,2,ddp,full,amp_bf16,none
h100,8,16,1,zero2,none,traced,optimizer
l40s,2,64,1,zero3,full,traced,activations
v100,1,16,1,,none,fp8,none
CSV
answer traced_rows validate --rows "$folder/rows.csv" --trace "$data/traces/resnet" --csv
echo "{\"trace\": \"$data/traces/vit\", \"platforms\": [{\"name\": \"h100\", \"price_per_gpu_hour\": 2, \"power_w\": 1000},
    {\"name\": \"l40s\", \"price_per_gpu_hour\": 1}], \"gpus\": [1, 4], \"shard\": [\"ddp\", \"zero3\"],
    \"micro_batch\": [8, 32], \"samples\": 1e8, \"recompute\": [\"none\", \"full\"]}" >"$folder/spec.json"
answer plan_traced plan --json "$folder/spec.json"
answer plan_traced_text plan "$folder/spec.json"
run plan "$folder/spec.json" -o "$folder/plan"
want_rc 0
to_eight_digits <"$folder/plan/points.csv" >"$folder/said"
hold plan_traced_points
if command -v gnuplot >/dev/null; then # what is between its charts
    sed '/^<style>/,/^<\/style>/d; s/<svg.*<\/svg>//; /<svg/,/<\/svg>/d' "$folder/plan/report.html" | to_eight_digits >"$folder/said"
    hold plan_traced_page
fi
finish
