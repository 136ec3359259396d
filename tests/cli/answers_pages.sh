#!/usr/bin/env bash
# Forms of an answer that few ask for: pages, Markdown, grids, tables of prices; plans of
# what answers requests. Every word and number.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
python3 "$(dirname "$0")/small_step.py" "$folder/step.json"
sim=$(realpath "$sim") data=$(realpath "$data") step=step.json
export MSIM_DATA=$data
cd "$folder" || exit 1
cat >"$folder/changes.json" <<'JSON'
{"scenarios": [{"name": "faster", "changes": [{"speedup": {"select": "op:aten::mm", "factor": 2}}]},
  {"name": "gpu", "changes": [{"gpu": "h100"}]}, {"name": "half the host", "changes": [{"scale": {"select": "host", "factor": 0.5}}]},
  {"name": "nothing", "changes": [{"remove": {"select": "op:aten::no"}}]}]}
JSON

form() { # NAME ARGUMENT...: what is said, the page, and the answer that it holds
    local name=$1
    shift
    run "$@" --html page.html
    { echo "exit code $rc"; cat out err
      sed '/<style>/,/<\/style>/d; /<script/,/<\/script>/d' page.html
      sed -n '/<style>/,/<\/style>/p; /<script>/,/<\/script>/p' page.html | cksum
      sed -n 's/.*id="answer">\([^<]*\).*/\1/p' page.html | base64 -d | gzip -cd; } | to_eight_digits >said
    hold "form_$name"
    rm -f page.html
}
form predict predict --platform a100 "$step"
form predict_markdown predict --platform h100 --markdown "$step"
answer form_ranks predict --platform a100 --markdown --usage "$data/traces/dlrm-ddp-2ranks"
for trace in resnet llama-block; do # SMs that convolutions and attention fill
    answer "form_usage_$trace" predict --platform a100 --usage --brief "$data/traces/$trace"
done
answer form_several predict --platform a100,t4 --markdown --price 2,0.3 "$step"
form whatif whatif --platform a100 --kernels "$folder/changes.json" "$step"
form whatif_markdown whatif --platform a100 --usage --markdown "$folder/changes.json" "$step"
form sensitivity whatif --platform a100 --sensitivity --markdown "$step"
form grid whatif --platform a100 --grid kernels=1,0.5 --grid gpu=a100,h100 "$step"
echo '{"grid": {"cuda_graph": [true, "aten::m*"], "fuse": ["pointwise"], "kernels": [0.5, 1], "straggler": [{"rank": 0, "factor": 2}]}}' >grid.json
answer form_grid_json whatif --platform a100 --json grid.json "$step"

# ---- described -----------------------------------------------------------------

echo '{"name": "tiny", "layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1024, "vocab": 8192}' >"$folder/tiny.json"
echo '{"gpus": 4, "pp": 2, "micro_batch": 1, "global_batch": 8, "sequence": 256}' >"$folder/strategy.json"
echo '{"scenarios": [{"name": "twice", "changes": [{"world": 8}]}, {"name": "no", "changes": [{"parallel": {"tp": 3}}]},
    {"name": "large", "changes": [{"batch": {"micro": 4096, "global": 8192}}]}]}' >"$folder/described.json"
described=("$folder/described.json" "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100)
answer form_described whatif "${described[@]}" --markdown
answer form_simulated whatif "${described[@]}" --simulate
answer form_simulated_json whatif "${described[@]}" --simulate --json
answer form_simulated_csv whatif "${described[@]}" --simulate --csv
echo '{"gpus": 4, "pp": 4, "micro_batch": 1, "global_batch": 4194304, "sequence": 256}' >"$folder/large.json"
answer form_not_simulated whatif "$folder/described.json" "$folder/tiny.json" --strategy "$folder/large.json" --platform h100 --simulate
answer form_described_grid whatif --grid recompute=full,none "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100 --csv
answer form_described_ranked whatif --sensitivity "$folder/tiny.json" --strategy "$folder/strategy.json" --platform h100

# ---- prices --------------------------------------------------------------------

priced() { # NAME: tables of prices, a line each, with ; between their lines
    local line
    while read -r line; do
        tr ';' '\n' <<<"$line" >"$folder/prices.csv"
        run predict --platform a100,h100 --price "$folder/prices.csv" --csv "$step"
        echo "$line"
        echo "    $rc $err $(head -n 3 "$folder/out" | cut -c1-200)"
    done | to_eight_digits >"$folder/said"
    hold "form_$1"
}
priced prices <<'TABLES'
platform,usd_per_hour;a100,2;h100,3
platform,gpus,usd_per_hour;A100,8,16;h100,1,3
usd_per_hour,platform,note;2,NVIDIA H100 80GB HBM3,x;3,a100-80gb,y
platform,usd_per_hour;a100,2
platform,usd_per_hour;a100,2;h100,3;a100,4
platform,usd_per_hour;a100,2;h100,3;t4,-4
platform,usd_per_hour;a100,0;h100,3
platform,usd_per_hour;a100,1000000;h100,1
platform,usd_per_hour;a100,1e9;h100,1
platform,usd_per_hour;a100,1e300;h100,1
platform,usd_per_hour;a100,1e-300;h100,1
platform,gpus,usd_per_hour;a100,0,2;h100,1,3
platform,gpus,usd_per_hour;a100,1.5,2;h100,1,3
platform,gpus,usd_per_hour;a100,100000,2;h100,100001,3
platform,gpus,usd_per_hour;a100,,2;h100,,3
platform,usd_per_hour;a100,x;h100,3
platform,price;a100,2;h100,3
usd_per_hour;2
platform,usd_per_hour
platform,usd_per_hour;unheard-of,2;a100,1;h100,2
TABLES

# ---- plans of what answers requests ----------------------------------------------

asked() { # NAME MEMBERS: of the recorded step, which has no backward pass
    echo "{\"trace\": \"$step\", \"platforms\": [{\"name\": \"a100\", \"price_per_gpu_hour\": 2, \"power_w\": 400}, \"h100\"], $2}" >"$folder/spec.json"
    run plan "$folder/spec.json" -o "$folder/plan_$1"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"
      [ ! -e "$folder/plan_$1/report.html" ] ||
          sed '/^<style>/,/^<\/style>/d; s/<svg.*<\/svg>//; /<svg/,/<\/svg>/d' "$folder/plan_$1/report.html"
      cat "$folder/plan_$1/points.csv" 2>/dev/null; } | to_eight_digits >"$folder/said"
    hold "form_plan_$1"
}
MSIM_PYTHON=false
export MSIM_PYTHON # no PDF
asked requests '"gpus": [1, 4], "requests": 1e8, "traced_batch": 256, "micro_batch": [256, 512], "limits": {"requests_per_second": 1, "latency_ms": 100}'
asked late '"gpus": [1, 2], "requests": 1e8, "traced_batch": 256, "limits": {"latency_ms": 0.01}'
asked dear '"gpus": 1, "requests": 1e8, "traced_batch": 256, "limits": {"cost": 1e-6, "memory_gib": 1}'
asked trains '"gpus": 1, "samples": 1e8'
asked splits '"gpus": 4, "tp": 2'
asked far '"gpus": [1, 4], "requests": 1e8, "traced_batch": 256, "limits": {"requests_per_second": 1e6, "gpus": 1}'
asked shards '"gpus": 4, "shard": ["ddp", "zero3"], "recompute": "full"'
asked batches '"gpus": [1, 3], "traced_batch": 256, "global_batch": 512'
finish
