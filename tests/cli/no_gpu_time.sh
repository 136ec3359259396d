#!/usr/bin/env bash
# Model costs read no GPU time: with every GPU duration of a trace replaced by
# noise, the same bytes come out, but for the warning that noise has no room on
# its stream, and for what shapes say that was measured.
. "$(dirname "$0")/lib.bash"
in_turn models predict

[ -n "${MSIM_TRACES:-}" ] || { echo "no real traces"; exit 77; }
command -v python3 >/dev/null || { echo "no python3"; exit 77; }

noisy() { # FROM TO SEED
    python3 - "$@" <<'PYTHON'
import gzip, json, random, sys

source, target, seed = sys.argv[1:]
random.seed(seed)
trace = json.load(gzip.open(source))
events = trace if isinstance(trace, list) else trace["traceEvents"]
changed = 0
for e in events:
    if (e.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset",
                                     "memcpy", "memset") and "dur" in e):
        e["dur"] = round(random.expovariate(1 / 50), 3)
        changed += 1
assert changed > 0, "no GPU event to change"
json.dump(trace, open(target, "w"))
PYTHON
}

judge() { # PLATFORM FILE...
    local platform=$1 seed file
    shift
    for seed in 0 1 2; do
        rm -rf "$folder/job"
        mkdir "$folder/job"
        for file in "$@"; do
            if [ $seed = 0 ]; then
                gzip -dc "$MSIM_TRACES/traces/$file" \
                    >"$folder/job/$(basename "$file" .gz)"
            else
                noisy "$MSIM_TRACES/traces/$file" \
                    "$folder/job/$(basename "$file" .gz)" "$seed$file"
            fi
        done
        (cd "$folder" && "$MYSTIQUE_SIM" --costs model --platform "$platform" \
            --json job >said 2>/dev/null) ||
            complain "$*: predict failed with seed $seed"
        sed -E '/ (is|are) recorded (to end|beside) /d; s/,$//
                s/"measured_us": [^,]*, //' "$folder/said" |
            tr -d ' \n' >"$folder/prediction.$seed"
    done
    for seed in 1 2; do
        cmp -s "$folder/prediction.0" "$folder/prediction.$seed" ||
            complain "$*: other durations, other bytes"
    done
}

judge h100 vgg13-h100/kineto/rank-0.json.gz
judge a100-40gb ranking-a100/kineto/rank-3-of-8.json.gz
judge a100-40gb resnet50-ddp-2xa100/kineto/rank-0.json.gz
judge v100 resnet50-v100/kineto/list-format-2020.json.gz
judge v100 dlrm-8xv100/kineto/rank-{0,1,2,3,4,5,6,7}.json.gz
judge v100 torchrec-4xv100/kineto/rank-{0,1,2,3}.json.gz
judge b200 same-model-mi300x-b300-graphs/semantic_purity_qwen3_30b_a3b/B300.json.gz

finish
