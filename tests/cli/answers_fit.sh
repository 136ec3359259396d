#!/usr/bin/env bash
# Constants of the step law and of memory, fitted to a few jobs; every number.
. "$(dirname "$0")/answers.bash"

# What these took is made up: three programs, of which the last is slow.
cat >"$folder/jobs.csv" <<'CSV'
source,status,model,platform,gpus,tp,pp,vp,cp,ep,zero,micro_batch,global_batch,sequence,precision,recompute,step_ms,memory_gib
one,ok,llama3-8b,h100,8,1,1,1,1,1,1,1,64,4096,bf16,none,4100,26
one,ok,llama3-8b,h100,16,2,1,1,1,1,1,2,64,4096,bf16,none,2600,29
one,ok,llama3-70b,h100,64,8,4,2,1,1,1,1,128,8192,bf16,full,19000,32
one,ok,mpt-7b,a100,8,1,1,1,1,1,3,4,64,2048,bf16,full,7300,35
two,ok,mpt-13b,a100,16,1,1,1,1,1,3,4,64,2048,bf16,full,7900,38
two,ok,mpt-7b,a100,16,1,1,1,1,1,3,2,64,2048,bf16,none,3100,41
two,ok,mpt-7b,h100,16,1,1,1,1,1,3,2,64,2048,bf16,none,1500,44
two,ok,qwen3-30b-a3b,h100,32,1,1,1,1,8,1,1,128,4096,bf16,none,4000,47
three,ok,llama3-8b,a100,8,2,1,1,1,1,1,1,32,4096,bf16,none,4900,50
three,ok,llama3-8b,a100,8,2,1,1,1,1,1,2,32,4096,bf16,full,5800,53
CSV
fit=$(dirname "$sim")/msim-fit-steps
"$fit" "$data" "$folder/jobs.csv" --out "$folder/steps.json" --errors "$folder/errors.csv" \
    --fits "$folder/fits.csv" >"$folder/out" 2>"$folder/err" || complain "no fit: $(cat "$folder/err")"
for file in out err steps.json errors.csv fits.csv; do
    echo "== $file"
    cat "$folder/$file"
done | to_eight_digits >"$folder/said"
hold fit_steps
finish
