#!/usr/bin/env bash
# whatif --sensitivity: what a tenth less of each part brings, and that gains of
# parts add up where nothing overlaps.
. "$(dirname "$0")/lib.bash"

trace=$MSIM_DATA/traces/gpt2
column() { # NAME COLUMN: of that row, by the name of the column
    awk -F, -v name="$1" -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == name { print $at[want] }' "$folder/out"
}

run whatif --sensitivity --platform a100 "$trace" --csv
want_rc 0
want_no_err
for row in kernels family:gemm stream:compute link:d2d host-part:dispatch op:MmBackward0; do
    [ -n "$(column "$row" gain_us)" ] || complain "no row '$row': $out"
done
# A part saves no more than a tenth of what it takes, on the one rank there is.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 2 &&
         ($at["gain_us"] > 0.1000001 * $at["work_us"] || $at["exposed"] > 1.000001) { bad = 1 }
         END { exit bad }' "$folder/out" || complain "more than a tenth is saved: $out"
# A row is what --scale says.
gain=$(column family:gemm gain_us) base=$(sed -n 2p "$folder/out" | cut -d, -f2)
run --platform a100 --scale family:gemm=0.9 --json "$trace"
now=$(sed -n 's/.*"period_us": {"predicted": \([0-9.]*\).*/\1/p' "$folder/out" | head -1)
awk -v b="$base" -v n="$now" -v g="$gain" 'BEGIN { exit !(b - n < g + 1e-3 && g < b - n + 1e-3) }' ||
    complain "gains $gain, but --scale says $base to $now"

# With one stream and no host nothing overlaps: what families gain is what all
# GPU work does, to a picosecond for each of some thousand kernels.
families='gemm attention conv pointwise reduction softmax norm embedding copy optimizer bound'
{
    printf '{"scenarios": [{"name": "none", "changes": [{"remove": {"select": "host"}}]}'
    printf ',{"name": "all", "changes": [{"remove": {"select": "host"}}'
    printf ',{"scale": {"select": "%s", "factor": 0.9}}' kernels copies
    printf ']}'
    for f in $families; do
        printf ',{"name": "%s", "changes": [{"remove": {"select": "host"}},' "$f"
        printf '{"scale": {"select": "family:%s", "factor": 0.9}}]}' "$f"
    done
    printf ']}'
} >"$folder/serial.json"
run whatif --platform a100 "$folder/serial.json" "$trace" --csv
want_rc 0
awk -F, 'NR == 3 { none = $2 } NR == 4 { all = none - $2 } NR > 4 { sum += none - $2 }
         END { exit !(all > 100 && sum > all - 0.01 && sum < all + 0.01) }' "$folder/out" ||
    complain "gains of families do not add up: $out"

# Likewise parts of the host without a GPU.
parts='launch copy-calls synchronisation event-calls allocation other-calls dispatch
       autograd optimizer collectives data-loader python'
gone='{"remove": {"select": "kernels"}},{"remove": {"select": "copies"}}'
{
    printf '{"scenarios": [{"name": "none", "changes": [%s]}' "$gone"
    printf ',{"name": "all", "changes": [%s,{"scale": {"select": "host", "factor": 0.9}}]}' "$gone"
    for p in $parts; do
        printf ',{"name": "%s", "changes": [%s,' "$p" "$gone"
        printf '{"scale": {"select": "host-part:%s", "factor": 0.9}}]}' "$p"
    done
    printf ']}'
} >"$folder/host.json"
run whatif --platform a100 "$folder/host.json" "$trace" --csv
want_rc 0
awk -F, 'NR == 3 { none = $2 } NR == 4 { all = none - $2 } NR > 4 { sum += none - $2 }
         END { exit !(all > 100 && sum > all - 0.01 && sum < all + 0.01) }' "$folder/out" ||
    complain "gains of the host's parts do not add up: $out"

run whatif --sensitivity --platform a100 --json "$trace"
want_rc 0
tr -d '\n' <"$folder/out" | grep -q '"group": "family", *"select": "family:gemm", *"work_us": [0-9]' ||
    complain "no member of a group: $out"
run whatif --sensitivity --platform a100 "$trace"
want_out "with a tenth less of one part"
[[ $out =~ stream:compute\ +[0-9.]+\ ms\ +[0-9.]+\ ms\ +[0-9.]+\ %\ \[ ]] || complain "no row: $out"
finish
