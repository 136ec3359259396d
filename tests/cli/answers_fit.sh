#!/usr/bin/env bash
# What programs fit to few rows: the step law and memory, factors of programs, hosts, the
# law of LLM engines; every number.
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
three,ok,llama3-8b,h100,16,8,2,1,1,1,1,1,32,4096,bf16,none,3200,9
three,ok,llama3-8b,h100,32,16,2,1,1,1,1,1,32,4096,bf16,none,3900,7
three,ok,mpt-7b,a100,8,4,1,1,1,1,0,1,32,2048,bf16,none,4600,61
three,ok,mpt-7b,a100,8,1,1,1,1,1,2,8,64,2048,bf16,none,5300,20
three,ok,mpt-13b,a100,16,1,1,1,1,1,3,1,64,2048,bf16,selective,6000,77
three,ok,mpt-13b,a100,16,2,4,1,1,1,1,1,64,2048,bf16,full,6700,13
three,ok,qwen3-30b-a3b,h100,32,1,2,1,1,8,1,1,128,4096,bf16,full,7400,79
training_steps,ok,llama3-8b,h100,8,4,1,1,1,1,1,1,64,4096,bf16,none,5200,
training_steps,ok,llama3-8b,h100,64,4,2,1,1,1,1,1,256,4096,bf16,none,3500,
training_steps,oom,llama3-70b,h100,16,8,1,1,1,1,1,1,256,4096,bf16,none,,
llm-foundry,ok,mpt-7b,a100,64,1,1,1,1,1,3,4,1024,2048,bf16,full,13500,
llm-foundry,ok,mpt-7b,a100,128,1,1,1,1,1,3,4,1024,2048,bf16,full,7800,
llm-foundry,oom,mpt-7b,a100,8,1,1,1,1,1,0,16,1024,2048,bf16,none,,
llm-foundry,ok,mpt-13b,a100,128,1,1,1,1,1,3,2,1024,2048,bf16,none,15000,
CSV
fit steps msim-fit-steps "$data" "$folder/jobs.csv" --out "$folder/made/steps.json" \
    --errors "$folder/made/errors.csv" --fits "$folder/made/fits.csv"

# Peaks of one program, of two models: what is unlike them is no surer than an assumption.
cat >"$folder/peaks.csv" <<'CSV'
source,status,framework,model,platform,gpus,tp,pp,zero,micro_batch,global_batch,sequence,precision,step_ms,memory_gib
four,ok,nanotron,nanotron-1b,h100,8,1,1,0,1,64,4096,bf16,1200,37
four,ok,nanotron,nanotron-1b,h100,8,2,2,1,1,64,4096,bf16,700,9.5
four,ok,nanotron,nanotron-1b,h100,8,4,1,1,2,64,4096,bf16,800,9.5
four,ok,nanotron,nanotron-3b,h100,16,1,1,1,1,64,4096,bf16,1500,49
four,ok,nanotron,nanotron-3b,h100,16,2,4,1,1,64,4096,bf16,1100,16
four,ok,nanotron,nanotron-3b,h100,16,4,1,0,1,64,4096,bf16,1000,23
CSV
fit steps_peaks msim-fit-steps "$data" "$folder/peaks.csv" --out "$folder/made/steps.json" \
    --errors "$folder/made/errors.csv" --fits "$folder/made/fits.csv"

# Factors of programs: what these took is made up, too.
et=et/rank-0.json.gz
cat >"$folder/programs.csv" <<CSV
trace,platform,us,group,source
bert/$et,a100,5900,bert,one
bert/$et,h100,3700,bert,one
dlrm/$et,a100,2500,dlrm,one
dlrm/$et,h100,2450,dlrm,one
gpt2/$et,a100,12100,gpt2,one
gpt2/$et,h100,8500,gpt2,two
gpt2/$et,v100,18800,gpt2,one
resnet/$et,a100,12500,resnet,two
resnet/$et,h100,9800,resnet,two
resnet/$et,v100,14100,resnet,two
vit/$et,a100,9700,vit,two
vit/$et,v100,12900,vit,one
llama-block/$et,a100,4800,llama,one
llama-block/$et,v100,7500,llama,two
CSV
fit factors msim-fit-factors "$folder/programs.csv" "$data/traces" "$data" "$folder/made/programs.json"

# A machine that is made up is calibrated: what is timed, and the laws that follow.
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$programs/msim-calibrate" ]; then
    export FAKE_COUNTERS=1 FAKE_SUSTAINED=1 FAKE_BESIDE=1
    fake="exec bash $here/fake_backend.bash $folder/asked"
    answer fit_design calibrate --dry-run --backend "$fake" --budget 0.2 --out "$folder/made/fake.json"
    answer fit_design_json calibrate --dry-run --json --seed 2 --backend "$fake" --budget 0.1 --out "$folder/made/fake.json"
    run calibrate --backend "$fake" --budget 0.2 --out "$folder/made/fake.json"
    want_rc 0
    mv "$folder/made/fake.journal.jsonl" "$folder/made/again.journal.jsonl"
    answer fit_calibrated calibrate --fit-only --out "$folder/made/again.json"
    rm "$folder/made"/*.journal.jsonl
    sums fit_calibrated_files "$folder/made"
    rm "$folder/made"/*
fi

# What is refused, with which words.
refused() { # PROGRAM ARGUMENTS...: without any, and with each of these
    local program=$1 each
    shift
    for each in "" "$@"; do
        echo "$program $each"
        "$programs/$program" $each >"$folder/out" 2>"$folder/err" </dev/null
        echo "exit code $?"
        cat "$folder/out" "$folder/err"
    done
}
if [ -x "$programs/msim-calibrate" ]; then
    cd "$folder" || exit 1
    touch empty.csv
    head -n 3 jobs.csv >few.csv
    echo '{}' >empty.json
    echo '{"hosts": [{"name": "a"}, {}]}' >nameless.json
    for n in 31 32; do # besides one more: 32 at most
        printf '{"hosts": [%s{"name": "a"}]}' "$(printf '{"name": "a"},%.0s' $(seq $n))" >hosts_$n.json
    done
    {
        refused msim-fit "a b" "a b c d e" "--only" "--only no a b c" "--only gemm a b" "--no x a b c" "a no.json c" "empty.csv empty.json made" \
            "--collectives no.json . empty.json made" "--only conv . empty.json made" "--rows no/no.gz $data empty.json made"
        refused msim-fit-shared "a b" "a b c d e" "a b c" "a b c no/no.csv" ". $data made/common.json"
        refused msim-fit-collectives "a b" "a b c d" "--weights" "--refit" "--refit no a b c d" "--refit pcie a b c" "--steps 0 a b c" "--no a b c" \
            "--weights --refit all a b c d" "--steps x a b c" ". empty.json empty.json" "no no.json $data/laws/collectives.json" "a b no.json"
        refused msim-fit-steps "$data" "$data empty.csv" "$data jobs.csv --out" "$data jobs.csv --no x" "$data no.csv" "no jobs.csv" "a b c" \
            "$data few.csv --out no/no.json" "$data few.csv --errors no/no.csv" "$data few.csv --fits no/no.csv"
        refused msim-fit-factors "a" "a b" "a b c" "a b c d e" "no.csv $data/traces $data made/x.json" "empty.csv $data/traces $data made/x.json" \
            "programs.csv no $data made/x.json" "programs.csv $data/traces no made/x.json"
        refused msim-fit-host "a" "a b" "a b c d" "no.json b made/x.json" "empty.json b made/x.json" "empty.csv b made/x.json" \
            "nameless.json b made/x.json" "hosts_31.json b made/x.json" "hosts_32.json b made/x.json"
        refused msim-fit-serving "a b" "a b --models" "a b c --models ." "--models . a" "$data no.csv --models ." "$data empty.csv --models ." \
            "a b --models . --no x" "$data empty.csv --models . --out no/no.json"
        refused msim-learn "--out=x" "--out=x a" "--out=x --horizon=0 a b" "--out=x --no a b" "--out=x a b c" "--out=x -- no no" "--out=x --json empty.json ." \
            "--out=x --data=no empty.json ."
        refused msim-calibrate "--out=made/x.json" "--data=$data" "--out= --data=$data" "--out=made/x.json --data=no --fit-only" \
            "--out=made/x.json --data=$data --fit-only" "--budget=0" "--budget=x" "--budget=-1" "--budget=1x" "--budget=inf" "--target-interval=-1" \
            "--patience=0" "--seed=-1" "--seed=" "--backend=" "--for=" "--no" "--data=" "--out=x.json --data=$data --backend=no" "x" \
            "--fit-only --out=empty.csv --data=$data" "--out=made/x.json --data=$data --fit-only --for=no.json"
    } 2>&1 | to_eight_digits >"$folder/said"
    hold fit_refused
    cd "$here" || exit 1
fi

traces=${MSIM_TRACES:-}
if [ -z "$traces" ]; then
    finish
    exit 0
fi

# Hosts of some of the traces, two of which their recording slowed down.
kineto=traces/particle-transformer-a100/kineto
cat >"$folder/hosts.json" <<JSON
{"name": "mine", "title": "hosts", "about": "some", "about_repeats": "of them", "memory": {"gb_per_s": 30, "source": "made up"},
 "unrecorded": {"factor": 0.4, "low": 0.5, "high": 1.9, "backward": 0.8, "beside": {"a100": 0.5}, "source": "made up"},
 "hosts": [
  {"name": "dlrm", "traces": ["traces/dlrm-8xv100/kineto"], "repeats": ["traces/dlrm-8xv100/kineto"]},
  {"name": "ranking", "traces": ["traces/ranking-a100/kineto"], "repeats": ["traces/ranking-a100/kineto"]},
  {"name": "particle", "traces": ["$kineto/batch-2.json.gz", "$kineto/batch-32.json.gz"], "repeats": ["$kineto/batch-2.json.gz", "$kineto/batch-32.json.gz"]},
  {"name": "torchrec", "traces": ["traces/torchrec-4xv100/kineto"], "repeats": ["traces/torchrec-4xv100/kineto"]},
  {"name": "ddp", "traces": ["traces/resnet50-ddp-2xa100/kineto"], "repeats": ["traces/resnet50-ddp-2xa100/kineto"]},
  {"name": "2080ti", "traces": ["traces/linear-2080ti/kineto", "traces/resnet-2080ti/kineto"]},
  {"name": "vgg13", "traces": ["traces/vgg13-h100/kineto"]}]}
JSON
fit hosts msim-fit-host "$folder/hosts.json" "$traces" "$folder/made/host.json"

gzip -cd "$traces/serving/silicon.csv.gz" | awk 'NR == 1 || NR % 32 == 5' | gzip >"$folder/rows.csv.gz"
fit serving msim-fit-serving "$data" "$folder/rows.csv.gz" --models "$traces/serving/models" \
    --out "$folder/made/serving.json" --errors "$folder/made/errors.csv" --predicted "$folder/made/predicted.csv"

mkdir "$folder/tables"
gzip -cd "$traces/opdata/collective.csv.gz" | awk 'NR == 1 || NR % 40 == 3' | gzip >"$folder/tables/collective.csv.gz"
read_them=("$folder/tables" "$data/platforms/src/datasheets.json" "$data/laws/collectives.json")
fit collectives msim-fit-collectives --weights "${read_them[@]}"
fit collectives_again msim-fit-collectives --refit pcie --steps 20 "${read_them[@]}" "$folder/made/collectives.json"

# A machine learned from its traces.
cd "$traces/traces"
answer fit_machine calibrate --from ranking-a100/kineto --out "$folder/made/mine.json"
answer fit_machine_again calibrate --from vgg13-h100/kineto --platform "$folder/made/mine.json" --out "$folder/made/twice.json"
batches=particle-transformer-a100/kineto
answer fit_machine_two calibrate --from $batches/batch-2.json.gz $batches/batch-128.json.gz --out "$folder/made/two.json"
sums fit_machine_files "$folder/made"
finish
