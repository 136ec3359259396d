#!/usr/bin/env bash
# mystique-prof-cuda on a GPU that is made up: an experiment of every kind is
# answered, with one GPU and with two; and what each answer must not depend on.
. "$(dirname "$0")/../cli/lib.bash"

prof=${BUILD_DIR:?the build folder}/fake_gpu/mystique-prof-cuda
here=$(cd "$(dirname "$0")" && pwd)
last="mystique-prof-cuda on a made-up GPU"

command -v python3 >/dev/null || {
    echo "no python3: skipped"
    exit 77
}

# Whatever lies in the way of CUPTI or NVML, and whoever else has them.
for settings in "" "gpus=2" "late_us=40" "drift_ppm=-0.001" "no_nvml=1" \
    "no_cupti=1"; do
    FAKE_GPU="leaks=1 $settings" \
        python3 "$here/../gpu/ask_all.py" "$prof" >"$folder/log" 2>&1 &&
        continue
    # Latencies from host to device are of CUPTI's clock alone.
    if [ "$settings" = no_cupti=1 ] &&
        [ "$(grep -c '^BAD' "$folder/log")" -eq 2 ] &&
        [ "$(grep -c '^BAD.*not without CUPTI' "$folder/log")" -eq 2 ]; then
        continue
    fi
    complain "'$settings': $(grep -v '^ok' "$folder/log" | tail -5)"
done

ask() { # SETTINGS QUESTION...: fills answers, one a line
    local settings=$1
    shift
    printf '%s\n' "$@" | FAKE_GPU=$settings "$prof" >"$folder/answers" \
        2>"$folder/err"
    rc=$?
    answers=$(tail -n +2 "$folder/answers")
}

value() { # MEMBER: of the only answer, the first of that name
    sed -nE "s/^[^\n]*\"$1\": ([0-9.e+-]+).*/\1/p" <<<"$answers"
}

near() { # WHAT WANTED GOT SHARE
    awk "BEGIN { exit !($3 > (1 - $4) * $2 && $3 < (1 + $4) * $2) }" ||
        complain "$1: $3, want $2: $answers"
}

product='"table": "gemm", "dtype": "bfloat16", "m": 2048, "n": 2048, "k": 2048'

# The same in every run.
ask "" "{$product, \"raw\": true}"
first=$answers
ask "" "{$product, \"raw\": true}"
[ -n "$first" ] && [ "$answers" = "$first" ] || complain "not reproducible"
alone=$(value time_us)

# Nanoseconds since 1970 are no doubles: these are 256 apart.
for op in launch_start sync_wake; do
    for us in 0 1 2; do
        ask "host_us=2.$us" "{\"table\": \"latency\", \"op\": \"$op\"}"
        value time_us
    done
done >"$folder/latencies"
awk '{ if ($1 <= 0) bad = 1; r = $1 / 0.256; if (r != int(r)) fine++ }
    END { exit bad || fine < 4 }' "$folder/latencies" ||
    complain "rounded latencies: $(xargs <"$folder/latencies")"
near "a launch that takes 0.1 us more" \
    "$(awk 'NR == 1 { print $1 + 0.1 }' "$folder/latencies")" \
    "$(sed -n 2p "$folder/latencies")" 1e-6

# A clock of the device that is 7 us behind is said, and no time is made of it.
ask "drift_ppm=-7" '{"table": "latency", "op": "launch_start"}'
grep -q '"error": "the clocks of host and device are .* us apart"' \
    <<<"$answers" || complain "clocks apart: $answers"

# Streams are told apart: a copy on another one is no part of the product.
beside='"beside": {"table": "copy", "op": "d2d", "bytes": 100000000}'
ask "" "{$product, $beside}"
near "beside a copy" "$alone" "$(value time_us)" 0.05
near "beside a copy, by CUPTI" "$alone" "$(value cupti_us)" 0.05
near "without it" "$alone" "$(value alone_us)" 0.05

# Launches that take the host long are hidden behind what spins: between events
# there is the work alone, here of two kernels.
ask "host_us=60" '{"table": "vector", "op": "sum", "dtype": "fp32", "shape": "1x50000000"}'
[ "$(value kernels)" = 2 ] || complain "a sum of one long row: $answers"
near "launches that are covered" "$(value cupti_us)" "$(value event_us)" 0.1

# By columns, transposed or not, sizes are those of the product.
for layout in NN NT TN; do
    ask "" "{\"table\": \"gemm\", \"dtype\": \"fp32\", \"m\": 640, \"n\": 320, \"k\": 160, \"batch\": 3, \"layout\": \"$layout\"}"
    [ "$(value time_us)" ] || complain "layout $layout: $answers"
done

# Operands of one size hold other numbers.
FAKE_GPU_COUNTS=$folder/counts ask "" "{$product}"
! grep -q the_seed_before "$folder/counts" || complain "a times a"

# NVML may be slow: it is asked ten times a second at most.
rm -f "$folder/counts"
lines=()
for i in $(seq 60); do
    lines+=("{\"id\": $i, $product}")
done
FAKE_GPU_COUNTS=$folder/counts ask "" "${lines[@]}"
asked=$(awk '/^nvmlDeviceGet(Clock|Power|Temp|Curr)/ { n += $2 } END { print n }' \
    "$folder/counts")
[ "$asked" -lt 120 ] || complain "60 experiments asked NVML $asked times"
ask "nvml_us=10000" "{$product}"
near "NVML that takes 10 ms" "$alone" "$(value time_us)" 0.02
head -1 "$folder/answers" | grep -q '"nvml_us": [1-9][0-9][0-9][0-9][0-9]' ||
    complain "not said what NVML takes: $(head -1 "$folder/answers")"

# Over and over the clock falls, and the product takes longer.
ask "" "{$product, \"sustained\": 0.4}"
sustained=$(sed -nE 's/.*"sustained": \{[^}]*"time_us": ([0-9.]+).*/\1/p' \
    <<<"$answers")
awk "BEGIN { exit !($sustained > 1.1 * $alone && $sustained < 1.5 * $alone) }" ||
    complain "sustained $sustained us, alone $alone: $answers"
near "its state is that of the runs before" 1980 "$(value sm_mhz_after)" 0.01
ask "" '{"table": "latency", "op": "launch", "sustained": 0.1}'
grep -q '"sustained_error": ' <<<"$answers" || complain "$answers"

# What NCCL is asked to say goes where no answer is.
NCCL_DEBUG=INFO ask "gpus=2" \
    '{"table": "collective", "collective": "all_reduce", "ranks": 2, "bytes": 4096}'
[ "$(value time_us)" ] || complain "NCCL_DEBUG: $answers"
grep -q "NCCL INFO" "$folder/err" || complain "NCCL is not heard"

finish
