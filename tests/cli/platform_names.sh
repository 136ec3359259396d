#!/usr/bin/env bash
# A GPU is found by the table of names: no platform file is read that is of
# another one. A file that the table is not of is read itself.
. "$(dirname "$0")/lib.bash"

data=$folder/data
whole=${MSIM_DATA:?the data folder}
cp -r "$whole" "$data"
trace=$whole/traces/gpt2

with_data() {
    MSIM_DATA=$data
    run "$@"
    MSIM_DATA=$whole
}

run --platform 'NVIDIA A100-SXM4-80GB' "$trace" --json
want_rc 0
cp "$folder/out" "$folder/whole"

# The first file says, in as many bytes, that it is that GPU: only a reader of
# files would believe it.
first=$data/platforms/a10.json
size=$(wc -c <"$first")
printf '%-*s' "$size" '{"aliases": ["NVIDIA A100-SXM4-80GB"]}' >"$first"
[ "$(wc -c <"$first")" -eq "$size" ] || complain "another size: $first"
with_data --platform 'NVIDIA A100-SXM4-80GB' "$trace" --json
want_rc 0
cmp -s "$folder/out" "$folder/whole" || complain "another answer by the table"

# Without the table files say it.
rm "$data/platforms/names.csv"
with_data --platform 'NVIDIA A100-SXM4-80GB' "$trace"
want_err "a10.json"
cp "$whole/platforms/a10.json" "$first"
with_data --platform 'NVIDIA A100-SXM4-80GB' "$trace" --json
want_rc 0
cmp -s "$folder/out" "$folder/whole" || complain "another answer by files"

# A file that was edited is not what the table says of it.
cp "$whole/platforms/names.csv" "$data/platforms"
sed -i 's/"aliases":	\[/"aliases":	["our-a100", /' "$data/platforms/a100.json"
with_data --platform our-a100 "$trace"
want_rc 0
run --platform our-a100 "$trace"
want_rc 2
want_err "unknown platform 'our-a100'"

# A table of other columns is none.
sed -i 1s/platform/gpu/ "$data/platforms/names.csv"
with_data --platform our-a100 "$trace"
want_rc 0

finish
