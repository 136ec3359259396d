#!/usr/bin/env bash
# whatif: a step that is made of a recorded one takes what its operators took.
. "$(dirname "$0")/lib.bash"

traces=${MSIM_TRACES:-}
[ -d "$traces/traces/vgg13-h100" ] || {
    echo "no MSIM_TRACES: skipped"
    exit 77
}
value() { # NAME COLUMN
    awk -F, -v n="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == n { print $at[c] }' \
        "$folder/out"
}
holds() { # WHAT A OP B
    awk -v a="$2" -v b="$4" "BEGIN { exit !(a + 0 $3 b + 0) }" || complain "$1: $2 $3 $4 does not hold"
}

cat >"$folder/s.json" <<'JSON'
{"scenarios": [
  {"name": "two", "changes": [{"accumulate": 2}]},
  {"name": "three", "changes": [{"accumulate": 3}]},
  {"name": "same", "changes": [{"parallel": {"micro_batches": 1}}]},
  {"name": "elsewhere", "changes": [{"accumulate": 2}, {"gpu": "a100"}]}]}
JSON
run whatif "$folder/s.json" "$traces/traces/vgg13-h100" --csv
want_rc 0
# What one micro batch more takes: the recorded step, but its optimizer, and
# sums of gradients, which are small; a hundredth of the recorded kernels is of
# no operator with shapes, and is in none.
base=$(value base kernel_us)
two=$(value two kernel_us)
three=$(value three kernel_us)
holds "a micro batch" "$(awk "BEGIN { print ($three - $two) / ($two - $base) }")" ">" 0.98
holds "a micro batch" "$(awk "BEGIN { print ($three - $two) / ($two - $base) }")" "<" 1.02
holds "a micro batch" "$(awk "BEGIN { print ($two - $base) / $base }")" ">" 0.96
holds "a micro batch" "$(awk "BEGIN { print ($two - $base) / $base }")" "<" 1
holds "as many micro batches as there are" "$(value same period_us)" "==" "$(value base period_us)"
# Nothing new, nothing that the models may be wrong about; on another GPU they
# may be.
holds "the interval" "$(awk "BEGIN { print $(value two ratio_high) / $(value two ratio_low) }")" "<" 1.01
holds "another GPU" "$(awk "BEGIN { print $(value elsewhere ratio_high) / $(value elsewhere ratio_low) }")" ">" 1.05

finish
