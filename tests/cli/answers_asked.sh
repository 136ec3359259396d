#!/usr/bin/env bash
# What is asked of a traced step: parts of it, prices, several GPUs, a table of jobs;
# what is refused, with which words. Every number and word.
. "$(dirname "$0")/answers.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# ---- parts -------------------------------------------------------------------------

part() { # NAME OPTION...: of a step of two ranks
    local name=$1
    shift
    run --platform a100 --csv "$@" "$data/traces/dlrm-ddp-2ranks"
    { echo "exit code $rc"; cut -d, -f1-5 "$folder/out" | head -n 12; cat "$folder/err"; } | to_eight_digits >"$folder/said"
    hold "part_$name"
}
part ops --ops 'aten::*mm*'
part no_ops --ops 'aten::lineer'
part exclude --exclude 'aten::*'
part no_exclude --exclude 'atan::linear'
part kinds --kind communication
part copies --kind copies
part labels --subtree 'ProfilerStep*'
part no_label --subtree 'ProfilerSteps#1'
part range --range 5..60
part no_range --range 1..2
part apart --kind compute --ops 'c10d::*' --range 5..60
part scales --scale 'kernels=0.5' --scale 'op:aten::linear=2' --scale 'host-part:no such=0.5'
part links --scale 'link:no such=0.5'
part family --scale 'family:gem=0.5'
part stream --scale 'stream:99=0.5'
part host --scale 'host:aten::linear=0'
part iteration --iteration 99
part strict --strict
part measured --costs measured
part ranks --ranks 3
part more_ranks --ranks 16 --nodes 2

# ---- GPUs and prices -----------------------------------------------------------------

step=$data/traces/resnet
for output in '' --csv --json; do
    # shellcheck disable=SC2086
    run --platform a100,h100,t4 --price 2,3.5,0.3 --power 400,700,70 --per-iteration '16 images' $output "$step"
    { echo "exit code $rc"; cat "$folder/out" "$folder/err"; } | to_eight_digits >"$folder/said"
    if [ "$output" = --json ]; then # what all have in common, and what is of each
        grep -E '"schema"|ratios_to_best|"(ratio|platform|period_us|rates|cost_usd|energy_j)[a-z_]*":' "$folder/said" >"$folder/few"
        mv "$folder/few" "$folder/said"
    fi
    hold "prices${output#-}"
done
answer prices_one --platform a100 --price 2 --power 400 --per-iteration 16 "$step"
answer prices_count --platform a100,h100 --price 2,3,4 "$step"
answer platforms_twice --platform a100,a100 "$step"
answer platforms_empty --platform a100,,h100 "$step"
answer platforms_unknown --platform a100,h1000 "$step"

# ---- a table of jobs ------------------------------------------------------------------

cat >"$folder/jobs.csv" <<'CSV'
platform,gpus,dp,tp,nodes,sequence,micro_batch,global_batch,grad_accum,strategy,zero,recompute,precision,offload,optimizer_bits,optimizer_in_backward,step_ms,memory_gib
a100,1,,1,,,16,16,1,single,,none,,,32,no,12,1.5
a100,1,1,1,1,,32,,,,,,,,,,30,2
,1,,,,,16,,,,,,,,,,,
h100,8,8,1,2,,16,256,2,,2,none,,,32,no,20,1.1
h100,8,8,1,1,,16,,,,1,full,amp_bf16,,,,,
h100,4,4,,,,16,,,fsdp_full,,none,amp_fp16,,,,,
h100,4,,,,,16,,,ddp,,full,bf16,activations,,,,
h100,4,,,,,16,,,zero3,,none,,optimizer,8,,,
h100,4,2,,,,16,,,ddp,,,,,,,,
h100,4,,2,,,16,,,ddp,,,,,,,,
h100,4,,,,512,16,,,ddp,,,,,,,,
h100,4,,,,,16,65,,ddp,,,,,,,,
h100,4,,,,,16,,,ddp,3,,,,,,,
h100,4,,,,,16,,,,4,,,,,,,
h100,4,,,,,16,,,single,,,,,,,,
h100,4,,,,,16,,,dpp,,,,,,,,
h100,4,,,0,,16,,,ddp,,,,,,,,
h100,x,,,,,16,,,ddp,,,,,,,,
h100,1,,,,,many,,,,,,,,,,,
h100,1,,,,,16,,,,,some,,,,,,
h100,1,,,,,16,,,,,,fp12,,,,,
h100,1,,,,,16,,,,,,,nothing,,,,
h100,1,,,,,16,,,,,,,,7,,,
h100,1,,,,,16,,,,,,,,,maybe,,
h1000,1,,,,,16,,,,,,,,,,,
CSV
answer jobs validate --rows "$folder/jobs.csv" --trace "$step" --csv
answer jobs_text validate --rows "$folder/jobs.csv" --trace "$step"
answer jobs_past validate --rows "$folder/jobs.csv" --trace "$step" --max-error 1
finish
