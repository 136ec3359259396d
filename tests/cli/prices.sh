#!/usr/bin/env bash
# --price FILE: prices of instances from a table are those that a list would give.
. "$(dirname "$0")/lib.bash"

job=${SOURCE_DIR:?the source folder}/data/traces/gpt2
cat >"$folder/prices.csv" <<'CSV'
platform,gpus,usd_per_hour,kind,source,date
t4,,0.3,spot,made up,2026-11-02
H100,8,24.00,on demand,made up,2026-11-02
a100,1,2,on demand,made up,2026-11-02
CSV

run --platform a100,h100@pytorch-2.9,t4 --price 2,3,0.3 --json "$job"
want_rc 0
cp "$folder/out" "$folder/listed"
run --platform a100,h100@pytorch-2.9,t4 --price "$folder/prices.csv" --json "$job"
want_rc 0
cmp -s "$folder/out" "$folder/listed" || complain "a table is not its list"
grep -q '"cost_usd": [0-9]' "$folder/out" || complain "no cost: $out"

# By the names that --platform takes, and those that drivers report.
printf '%s\n' platform,usd_per_hour 'NVIDIA A100-SXM4-80GB,2' h100-sxm,3 unheard-of,1 \
    'Tesla T4,0.3' >"$folder/products.csv"
run --platform a100,h100@pytorch-2.9,t4 --price "$folder/products.csv" --json "$job"
want_rc 0
cmp -s "$folder/out" "$folder/listed" || complain "names of products are not known: $err"

wrong() { # CODE TEXT LINE...: an A100's price of that table
    local code=$1 text=$2
    shift 2
    printf '%s\n' "$@" >"$folder/wrong.csv"
    run --platform a100 --price "$folder/wrong.csv" "$job"
    want_rc "$code"
    want_err "$folder/wrong.csv: $text"
}
wrong 2 "no price of 'a100', want a row of it" platform,usd_per_hour h100,2
wrong 3 "line 3 is a second price of 'A100'" platform,usd_per_hour a100,2 A100,3
wrong 3 "line 3 is a second price of 'NVIDIA A100-SXM4-80GB'" platform,usd_per_hour a100,2 \
    "NVIDIA A100-SXM4-80GB,3"
wrong 3 "two columns are called 'usd_per_hour', want one" platform,usd_per_hour,usd_per_hour a100,2,3
wrong 3 "two columns are called 'gpus', want one" gpus,platform,usd_per_hour,gpus 8,a100,2,1
wrong 3 "no column 'usd_per_hour'" platform,usd a100,2
wrong 3 "line 2: usd_per_hour is '-1', want a number above 0" platform,usd_per_hour a100,-1
wrong 3 "line 2: gpus is 'x', want a number above 0" platform,gpus,usd_per_hour a100,x,3
wrong 3 "line 2: a GPU costs 1e+20 US dollars an hour" platform,usd_per_hour a100,1e20
# What the option takes, the table does.
printf '%s\n' platform,usd_per_hour a100,1e9 >"$folder/most.csv"
run --platform a100 --price 1e9 --json "$job"
want_rc 0
cp "$folder/out" "$folder/listed"
run --platform a100 --price "$folder/most.csv" --json "$job"
cmp -s "$folder/out" "$folder/listed" || complain "a price that the option takes is not the table's: $err"
usage_error "want --platform, which says whose" --price "$folder/prices.csv" "$job"
usage_error "option '--price' is '$folder/none.csv'" --platform a100 --price "$folder/none.csv" "$job"
# A number is one, whatever files there are.
cd "$folder" && cp prices.csv 2
run --platform a100 --price 2 "$job"
want_rc 0

finish
