#!/usr/bin/env bash
# validate --rows --trace: a table of jobs, each as changes of one traced step.
. "$(dirname "$0")/lib.bash"

trace=${SOURCE_DIR:?the source folder}/tests/accuracy/resnet50_adam.et.json.gz
table=$folder/jobs.csv
cat >"$table" <<'CSV'
model,strategy,gpus,batch_per_gpu,amp,activation_checkpointing,grad_accum,cpu_offload,step_ms,peak_memory_gb,gpu
resnet50,single,1,16,0,0,1,0,19,1.6,L40S
resnet50,ddp,2,16,0,0,,0,24,1.7,L40S
resnet50,fsdp_full,2,16,1,1,1,0,,,A100-80GB
resnet50,single,2,16,0,0,1,0,,,L40S
resnet50,ddp,2,many,0,0,1,0,,,L40S
resnet50,ddp,2,16,0,0,1,0,,,L41S
resnet50,dpp,2,16,0,0,1,0,,,L40S
CSV

run validate --rows "$table" --trace "$trace" --csv
want_rc 0
want_no_err
[ "$(wc -l <"$folder/out")" -eq 8 ] || complain "not one row for every row: $out"
want_out ",gpu,predicted_ms,low_ms,high_ms,predicted_memory_gib,fits,uses_rows,defaults,reason,guards"
line() { sed -n "$(($1 + 1))p" "$folder/out"; }
# predicted, 90 %, GiB, fits, rows; then defaults, reason and guards
figures='[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,yes,0'
[[ $(line 1) =~ ^resnet50,single,1,16,0,0,1,0,19,1.6,L40S,$figures,,,$ ]] ||
    complain "row 1 is not copied and predicted: $(line 1)"
[[ $(line 2) =~ ,L40S,$figures",grad_accum as traced,,"$ ]] ||
    complain "row 2 does not name its default: $(line 2)"
[[ $(line 3) =~ ,$figures,,,$ ]] || complain "row 3: $(line 3)"
[[ $(line 4) == *",,,,,,,"*"strategy is 'single', want another one"* ]] ||
    complain "row 4 has no reason: $(line 4)"
[[ $(line 5) == *"batch_per_gpu is 'many', want a whole number from 1"* ]] ||
    complain "row 5 has no reason: $(line 5)"
[[ $(line 6) == *L41S* && $(line 6) == *l40s* ]] ||
    complain "row 6 names no GPUs: $(line 6)"
[[ $(line 7) == *shard* && $(line 7) == *ddp* ]] ||
    complain "row 7 names no strategies: $(line 7)"

# A peak of two ranks has DDP's buckets beside that of one.
peak() { line "$1" | cut -d, -f15; }
awk -v one="$(peak 1)" -v two="$(peak 2)" \
    'BEGIN { exit !(two > one && two < one + 0.2) }' ||
    complain "DDP's buckets take $(peak 1) to $(peak 2) GiB"

# Measured columns are never read for a prediction; the other names say the same.
sed 's/,19,1.6,/,1,99,/; s/batch_per_gpu/micro_batch/; s/peak_memory_gb/memory_gib/; s/,gpu$/,platform/' \
    "$table" >"$folder/other.csv"
cut -d, -f12- "$folder/out" | tail -n +2 >"$folder/first"
run validate --rows "$folder/other.csv" --trace "$trace" --csv
cut -d, -f12- "$folder/out" | tail -n +2 | sed 's/micro_batch/batch_per_gpu/' |
    cmp - "$folder/first" || complain "other names or times change predictions"

run validate --rows "$table" --trace "$trace"
want_rc 0
want_out "3 of 7 jobs predicted" "step   single" "memory ddp"
want_out "
   2  ddp, 2 x L40S                        24.000 ms "
want_out "
   4  single, 2 x L40S                   strategy is 'single', want"

sed '1s/grad_accum/grad_acum/' "$table" >"$folder/typo.csv"
run validate --rows "$folder/typo.csv" --trace "$trace"
want_rc 3
want_err "column 'grad_acum' is not known, did you mean 'grad_accum'?"
run validate --trace "$trace"
want_rc 2
run validate --rows "$table" --trace "$folder/none.json"
want_rc 3
finish
