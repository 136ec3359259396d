#!/usr/bin/env bash
# Replays on a machine whose times are made up, and what they are compared with.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
steady="python3 $(cd "$(dirname "$0")" && pwd)/steady_backend.py"

for trace in llama-block dlrm resnet; do
    answer "replay_$trace" replay --backend "$steady" --iterations 3 "$data/traces/$trace"
    mkdir "$folder/$trace"
    run replay --backend "$steady" --iterations 2 --warmup 1 --json -o "$folder/$trace/run.json" "$data/traces/$trace"
    want_rc 0
    mv "$folder/out" "$folder/$trace/report.json"
    sums "replay_${trace}_files" "$folder/$trace"
    answer "replayed_$trace" validate --platform a100 "$data/traces/$trace" "$folder/$trace/run.json"
    answer "replayed_${trace}_json" validate --json "$data/traces/$trace" "$folder/$trace/run.json"
done
mkdir "$folder/gpu"
run replay --backend "$steady gpu" --iterations 2 --json -o "$folder/gpu/run.json" "$data/traces/bert"
want_rc 0
mv "$folder/out" "$folder/gpu/report.json"
sums replay_gpu_files "$folder/gpu"
answer replayed_gpu validate "$data/traces/bert" "$folder/gpu/run.json"
for flaw in refuses error short negative endless early counters alone; do
    answer "replay_flaw_$flaw" replay --backend "$steady cpu $flaw" --iterations 2 "$data/traces/resnet"
done
run replay --backend "$steady cpu refuses" --iterations 2 --json "$data/traces/resnet"
grep -o '[^{]*"why": "\(no room\|refused\)[^}]*' "$folder/out" | to_eight_digits >"$folder/said"
hold replay_flaw_refused
answer replay_part replay --backend "$steady" --ops 'aten::*mm' "$data/traces/dlrm"
answer replay_kind replay --backend "$steady" --cache warm --kind copies "$data/traces/bert"
answer replay_left replay --backend "$steady" --exclude 'aten::*' "$data/traces/bert"
finish
