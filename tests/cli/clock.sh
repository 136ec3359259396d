#!/usr/bin/env bash
# --clock and --power-cap: what a GPU takes at another SM clock.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces
job=$samples/gpt2

# kernels ARGUMENT...: their predicted time, in $kernels
kernels() {
    run --json "$@"
    want_rc 0
    kernels=$(sed -n 's/^ *"kernel_us": {"predicted": \([0-9.]*\).*/\1/p' \
        "$folder/out")
    [ -n "$kernels" ] || complain "no time of kernels"
}

between() { # LOW VALUE HIGH
    awk "BEGIN { exit !($1 <= $2 && $2 <= $3) }" ||
        complain "want $2 between $1 and $3"
}

# All of its clock is the usual one: the same figures to the last digit.
kernels --platform a100 --costs model "$job"
usual=$kernels
sed '/"warnings"/,/"host"/d' "$folder/out" >"$folder/plain"
kernels --platform a100 --costs model --clock 1.0 "$job"
want_out '"clock": {"ratio": 1, "mhz": 1410, "usual_mhz": 1410'
sed '/"warnings"/,/"host"/d; /"clock"/d' "$folder/out" |
    diff "$folder/plain" - >&2 || complain "all of the clock is not none of it"

# Half of it: between nothing and twice as long; a clock in MHz is the same.
kernels --platform a100 --costs model --clock 0.5 "$job"
half=$kernels
between "1.3*$usual" "$half" "2*$usual"
want_err "SM clock 0.71 GHz (of 1.41): work that follows it takes 2 times as long"
want_err "uncertain by a factor of 1.27 more"
kernels --platform a100 --costs model --clock=705MHz "$job"
[ "$kernels" = "$half" ] || complain "705 MHz is not half of 1410 MHz"
kernels --platform a100 --costs model --power-cap 300 "$job"
between "$usual" "$kernels" "$half"
want_out '"power_cap_w": 300'
run --platform a100 --costs model --power-cap 300W "$job"
want_out "on a100 at 1.20 GHz (of 1.41), power cap 300 W (of 400) (costs: model)"
run --platform a100 --costs model --clock 0.5 --explain aten::mm "$job"
want_out "on a100 at 0.71 GHz (of 1.41)"
want_out "the law is"
want_out "the interval is wider by a factor of"

# Rows of a table; the bare kernel and what a stack's launch gap hides.
printf 'm,n,k,dtype\n8192,8192,8192,bfloat16\n1,1,1,bfloat16\n' >"$folder/g.csv"
us() { # ARGUMENT...: of the first row on $gpu, in $us
    run op --platform "$gpu" "$@" "$folder/g.csv"
    want_rc 0
    want_no_err
    us=$(sed -n 2p "$folder/out" | cut -d, -f5)
}
gpu=h100
us
whole=$us
us --clock 0.5
between "1.95*$whole" "$us" "2*$whole"
us --power-cap 500
between "1.01*$whole" "$us" "1.4*$whole"
us --clock 1 && [ "$us" = "$whole" ] || complain "$us is not $whole"

# One chip with two limits: under the lower both are the same.
gpu=mi300x
us
lower=$us
gpu=mi325x
us --power-cap 750
between "0.98*$lower" "$us" "1.02*$lower"
gpu=rtx-6000-ada
us
lower=$us
gpu=l40s
us --power-cap 300
between "0.98*$lower" "$us" "1.02*$lower"

# Two clocks side by side, and two limits.
run compare --json --platform a100 --clock 1,0.5 "$job" "$job"
want_rc 0
grep -Eq '"kernel_us": \{[^}]*' "$folder/out" || complain "no kernels: $out"
for side in "$usual" "$half"; do
    want_out "$(awk -v v="$side" 'BEGIN { printf "%d.", v }')"
done
run compare --platform a100 --power-cap 400,200 "$job" "$job"
want_rc 0
usage_error "option '--clock' is 'slow', want a share of the usual clock" \
    compare --clock 1,slow "$job" "$job"

# What is wrong is said.
usage_error "option '--clock' is 'fast', want a share of the usual clock" \
    --clock fast "$job"
usage_error "option '--power-cap' is '0', want watts as 300" \
    --power-cap 0 "$job"
usage_error "option '--power-cap' is 50 W, want 120 to the 400 W of platform" \
    --platform a100 --costs model --power-cap 50 "$job"
usage_error "want 21 to the 70 W of platform 't4'" \
    op --platform t4 --power-cap 75 "$folder/g.csv"
sed '/"boost_clock"/,/}/d; /"power_limit"/,/}/d' \
    "$SOURCE_DIR/data/platforms/a100.json" >"$folder/mine.json"
usage_error "has no 'boost_clock', which megahertz count from; want '--clock'" \
    op --platform "$folder/mine.json" --clock 1100 "$folder/g.csv"
usage_error "has no 'power_limit'" \
    op --platform "$folder/mine.json" --power-cap 300 "$folder/g.csv"
run op --platform "$folder/mine.json" --clock 0.8 "$folder/g.csv"
want_rc 0

# The clocks and the limit that these count from, with their sources.
run platforms a40
want_out "boost_clock"
want_out "base_clock"
want_out "NVIDIA A40 product brief (2020)"
want_out "power_limit"

# 1.41 is a share, which no GPU reaches; who meant gigahertz is told how to say so.
run --platform a100 --brief --clock 1.41 "$samples/vit"
want_err "1.41GHz is a clock"
run --platform a100 --brief --clock 1.41GHz "$samples/vit"
[[ $err != *"is a clock"* ]] || complain "a clock is doubted: $err"
finish
