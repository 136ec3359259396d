#!/usr/bin/env bash
# validate --rows: a table of training jobs, row by row.
. "$(dirname "$0")/lib.bash"

table=$folder/jobs.csv
cat >"$table" <<'CSV'
source,model,platform,gpus,tp,micro_batch,global_batch,sequence,status,step_ms
nanotron,nanotron-1b,h100,8,1,2,256,4096,ok,3264.558
other,llama3-8b,h100,16,2,1,128,8192,ok,
other,llama3-8b,h100,6,4,1,128,8192,ok,
other,llama3-80b,h100,8,1,1,128,8192,ok,
other,llama3-8b,h101,8,1,1,128,8192,ok,
CSV

run validate --rows "$table" --csv
want_rc 0
want_no_err
[ "$(wc -l <"$folder/out")" -eq 6 ] || complain "not one row for every row: $out"
want_out ",step_ms,predicted_ms,low_ms,high_ms,predicted_memory_gib,fits,uses_rows,defaults,reason,guards"
[[ $(sed -n 2p "$folder/out") =~ ^nanotron,nanotron-1b,h100,8,1,2,256,4096,ok,3264.558,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,yes,1,.*zero=0 ]] ||
    complain "the first row is not copied and predicted: $out"
[[ $(sed -n 3p "$folder/out") =~ ,ok,,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,(no|edge),0, ]] ||
    complain "the second row uses rows, or is not predicted: $out"
[[ $(sed -n 4p "$folder/out") == *",,,,,,"*"gpus 6 cannot be split by tp x pp x cp 4", ]] ||
    complain "the third row has no reason: $out"
[[ $(sed -n 5p "$folder/out") == *"no model 'llama3-80b' (did you mean llama3-70b?)"* ]] ||
    complain "the fourth row names no model: $out"
[[ $(sed -n 6p "$folder/out") == *h101* ]] || complain "no reason: $out"

# What would make the second row fit without tensor parallel ranks, and nothing
# for those that fit.
sed 's/,16,2,1,/,16,1,1,/' "$table" >"$folder/more.csv"
run validate --rows "$folder/more.csv" --csv --would-fit
want_out ",defaults,reason,would_fit,guards"
[[ $(sed -n 3p "$folder/out") =~ ,no,0,.*zero\ 3\ \([0-9.]+\ GiB ]] ||
    complain "nothing would make it fit: $out"
[[ $(sed -n 2p "$folder/out") == *",,," ]] || complain "it fits as it is: $out"

usage_error "--would-fit is for --rows ROWS.csv --csv" validate --rows "$table" --would-fit

# What is asked is done, or refused: a picture, a limit, and what tables lack.
if command -v gnuplot >/dev/null; then
    run validate --rows "$table" --chart "$folder/rows.svg"
    want_rc 0
    for text in nanotron "Optimizer steps" "predicted, s"; do
        grep -q "$text" "$folder/rows.svg" || complain "a chart without '$text'"
    done
fi
sed 's/,3264.558$/,/' "$table" >"$folder/unmeasured.csv"
run validate --rows "$folder/unmeasured.csv" --chart "$folder/none.svg"
want_rc 3
want_err "no job has a measured time or peak"
[ ! -e "$folder/none.svg" ] || complain "a chart of nothing"
run validate --rows "$folder/unmeasured.csv" --max-error 5
want_rc 3
want_err "no job has a measured time of a step"
run validate --rows "$table" --max-error 5
want_rc 0
sed 's/,3264.558$/,32.64558/' "$table" >"$folder/hasty.csv"
for output in '' --csv; do
    run validate --rows "$folder/hasty.csv" --max-error 5 $output
    want_rc 1
    want_out "nanotron"
    want_err "steps were predicted 9934.2 % from what they took, the mean of 1 jobs, want at most 5 %"
done
usage_error "--json is for TRACE REPLAYED; --rows has --csv" validate --rows "$table" --json
usage_error "--iteration is for TRACE REPLAYED" validate --rows "$table" --iteration 3
usage_error "--no-rows is for --rows ROWS.csv without --trace" validate --rows "$table" \
    --trace x --no-rows nanotron
usage_error "want a file that ends in .svg or .png" validate --rows "$table" --chart rows.jpg

# Measured columns are never read for a prediction.
sed 's/3264.558/1/; s/^nanotron,/unknown,/; s/,ok,/,failed,/' "$table" >"$folder/other.csv"
predicted() { # FILE
    run validate --rows "$1" --csv
    awk -F, 'NR > 1 { print $11, $12, $13 }' "$folder/out"
}
[ "$(predicted "$table")" = "$(predicted "$folder/other.csv")" ] ||
    complain "measured columns change predictions"

# Constants without a source differ, and say so.
run validate --rows "$table" --csv --no-rows nanotron
want_rc 0
[[ $(sed -n 2p "$folder/out") =~ ,3264.558,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,[a-z]+,0, ]] ||
    complain "uses_rows is not 0 without that source: $out"
run validate --rows "$table" --no-rows nanotrom
want_rc 2
want_err "nanotron"

run validate --rows "$table"
want_rc 0
want_out "2 of 5 jobs predicted"
[[ $out =~ jobs\ that\ ran\ +1\ +[01]\ +[01] ]] || complain "no word on what fits: $out"
want_out "the first without a prediction: gpus 6"
[[ $out =~ nanotron\ +1\ .*fitted\ on ]] || complain "no errors by source: $out"

# A tenth of a step and ten times as much lie outside of its interval.
{
    sed -n 1,2p "$table"
    sed -n '2s/3264.558/326/p' "$table"
    sed -n '2s/3264.558/32646/p' "$table"
} >"$folder/apart.csv"
run validate --rows "$folder/apart.csv"
want_rc 0
[[ $out =~ step\ +nanotron\ +3\ .*\ 33\ % ]] || complain "not one of three is inside: $out"

# Models by numbers, a platform for all rows.
printf 'gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tp,dp,pp\n8,8,2,2048,16,20,1024,4,1,2\n' >"$folder/numbers.csv"
run validate --rows "$folder/numbers.csv" --platform a100 --csv
want_rc 0
[[ $(sed -n 2p "$folder/out") =~ ^8,8,2,2048,16,20,1024,4,1,2,[0-9.]+, ]] ||
    complain "a model by numbers is not predicted: $out"
run validate --rows "$folder/numbers.csv" --csv
want_rc 1
want_out "no platform"
want_err "0 of 1 jobs have an answer, want one; each says why"

# A spreadsheet's table is that table: its line ends, the mark of UTF-8 before
# quotes, and whole numbers as programs write them beside an empty field.
sed -n 1p "$table" | sed 's/[a-z_]*/"&"/g' >"$folder/sheet.csv"
sed -n '2s/,8,1,2,256,4096,/,8.0,1.0,2.0,256.0,4096.0,/p' "$table" >>"$folder/sheet.csv"
grep -q ',8.0,1.0,2.0,' "$folder/sheet.csv" || complain "nothing was changed"
{
    printf '\357\273\277'
    tr '\n' '\r' <"$folder/sheet.csv"
} >"$folder/old.csv"
sed -n 1,2p "$table" >"$folder/first.csv"
[ -n "$(predicted "$folder/first.csv")" ] || complain "no prediction"
[ "$(predicted "$folder/first.csv")" = "$(predicted "$folder/old.csv")" ] ||
    complain "a table of a spreadsheet is another one: $(cat "$folder/err")"
run validate --rows <(printf 'model\nllama3-8b\0\n') --csv
want_rc 3
want_err "a byte of zero, want text in UTF-8"

# A row that is refused says whose it is.
printf 'model,platform,zero\nllama3-8b,h100,4\nno-such,h100,1\n' >"$folder/refused.csv"
run validate --rows "$folder/refused.csv"
want_rc 1
want_out "   1  llama3-8b, h100 "
want_out "   2  no-such, h100 "

# A GPT by numbers that no heads divide.
printf 'hidden,heads,layers\n100,3,2\n1,7,2\n' >"$folder/uneven.csv"
run validate --rows "$folder/uneven.csv" --platform a100 --csv
want_rc 1
want_out "heads is 3, want a divisor of hidden, which is 100"
want_out "heads is 7, want a divisor of hidden, which is 1"

# What users mistype.
printf 'model,gpu\nllama3-8b,8\n' >"$folder/typo.csv"
run validate --rows "$folder/typo.csv"
want_rc 3
want_err "column 'gpu' is not known, did you mean 'gpus'?"
printf 'gpus\n8\n' >"$folder/none.csv"
run validate --rows "$folder/none.csv"
want_rc 3
want_err "no column 'model'"
run validate --rows "$folder/absent.csv"
want_rc 3
usage_error "--rows stands alone" validate --rows "$table" a b
usage_error "want TRACE and REPLAYED" validate a
usage_error "--no-rows is for --rows" validate --no-rows x a b

finish
