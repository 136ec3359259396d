#!/usr/bin/env bash
# A backend for tests: answers at once with the times of a made-up machine, and says
# that each took it FAKE_TOOK seconds (0.04), so that budgets do not depend on how busy ours is.
#
#   fake_backend.bash COUNTER [die:N | hang:N | stuck:N | die:counters |
#       die:add | fail:N:TEXT | tired:N | sticky:TEXT]...
#
# COUNTER is a file that counts the questions of all its lives: at the N-th it
# dies, or hangs, or answers with something that is no JSON; or it dies of
# counters, or of an operator. From the N-th on all that match TEXT fail; or all
# fail from the N-th of one life on; or TEXT leaves its device unusable, which
# it answers, and ends.
#
# With FAKE_COUNTERS it reads counters where it is asked to: of twice the bytes
# that are read, and of what else there is to a product or a copy. With
# FAKE_SUSTAINED it takes 5 / 4 of the time where it is asked to run for long.
# With FAKE_RESTLESS it takes twice as long for every other question, in no
# order. With FAKE_BESIDE all takes 20 us, and 30 us beside a collective.
# FAKE_DEVICE has the members of another device, FAKE_RANKS another number of
# ranks. FAKE_LOG is a file that gets all questions, FAKE_NAME
# another name.
counter=$1
shift
[ -s "$counter" ] || echo 0 >"$counter"
device='"name": "Made-up machine", "kind": "cpu", "sms": 2,
    "memory_bytes": 8e9, "l2_bytes": 1000000'
device=${device//$'\n'/}
echo '{"schema": "mystique-sim/profiler/1",' \
    "\"backend\": \"${FAKE_NAME:-fake}\", \"version\": \"1\", \"device\": {${FAKE_DEVICE:-$device}}," \
    "${FAKE_COUNTERS:+\"counters\": true,}" \
    "${FAKE_SUSTAINED:+\"sustained\": true,}" \
    "${FAKE_BESIDE:+\"beside\": {\"gemm\": [\"fp32\"], \"vector\": [\"add:fp32\"]\},}" \
    "\"libraries\": {\"none\": \"1\"}, \"ranks\": ${FAKE_RANKS:-2}," \
    '"interconnect": "made-up link",' \
    '"tables": {"gemm": ["fp32"], "collective": ["all_reduce:fp32"],' \
    '"vector": ["add:fp32", "nonsense:fp32"], "copy": ["d2d"],' \
    '"dispatch": ["aten::mm", "step: made up"]}}'

number() { # NAME MEMBER DEFAULT: NAME is MEMBER's value in the line
    if [[ $line =~ \"$2\":([0-9]+) ]]; then
        printf -v "$1" %s "${BASH_REMATCH[1]}"
    else
        printf -v "$1" %s "$3"
    fi
}

took="\"took_s\": ${FAKE_TOOK:-0.04}"
lived=0
while IFS= read -r line; do
    failed='' lived=$((lived + 1))
    [ -z "${FAKE_LOG:-}" ] || echo "$line" >>"$FAKE_LOG"
    asked=$(($(<"$counter") + 1))
    echo "$asked" >"$counter"
    for fault in "$@"; do
        case $fault in
            "die:$asked") kill -SEGV $$ ;;
            "hang:$asked") sleep 60 ;;
            "stuck:$asked") echo 'no JSON' ;;
            die:add) [[ $line != *'"op":"add"'* ]] || kill -SEGV $$ ;;
            fail:*)
                IFS=: read -r _ from text <<<"$fault"
                [[ $asked -lt $from || $line != *$text* ]] ||
                    failed="madeUpCall: error $asked"
                ;;
            tired:*) [ "$lived" -lt "${fault#*:}" ] || failed="tired" ;;
            sticky:*) [[ $line != *"${fault#*:}"* ]] || failed="it sticks" ;;
            die:counters) [[ $line != *'"counters":true'* ]] || kill -SEGV $$ ;;
        esac
    done
    number id id 0
    if [ -n "$failed" ]; then
        echo "{\"id\": $id, $took, \"error\": \"$failed\"}"
        [ "$failed" != "it sticks" ] || exit 4
        continue
    fi
    if [[ $line == *nonsense* ]]; then
        echo "{\"id\": $id, $took, \"error\": \"no such operator\"," \
            '"unsupported": true}'
        continue
    fi
    if [[ $line == *dispatch* ]]; then
        echo "{\"id\": $id, \"time_us\": 9, $took, \"rounds\": 20, \"operators\":" \
            '[{"name": "aten::mm", "count": 1, "leaf": true,' \
            '"self_us": 4.5, "calls_us": 0}]}'
        continue
    fi
    if [[ $line == *'"beside":{'*collective* ]]; then
            echo "{\"id\": $id, \"time_us\": 30, \"alone_us\": 20," \
            "$took, \"runs\": 5}"
        continue
    fi
    # 50 GFLOP/s, 8 GB/s and 2 us, in nanoseconds
    number bytes bytes 0
    if [[ $line =~ \"shape\":\"([0-9]+)x([0-9]+)\" ]]; then
        bytes=$((12 * BASH_REMATCH[1] * BASH_REMATCH[2]))
    fi
    number m m 0
    number n n 0
    number k k 0
    number b batch 1
    ns=$((2000 + m * n * k * b / 25 + (bytes * 2) / 16 +
        4 * b * (m * n + n * k + m * k) / 8))
    if [ -n "${FAKE_RESTLESS:-}" ]; then # bits of a mixed number
        x=$((asked * 2654435761 & 0xffffffff))
        x=$(((x ^ x >> 15) * 2246822519 & 0xffffffff))
        x=$(((x ^ x >> 13) * 3266489917 & 0xffffffff))
        ns=$((ns << (x >> 16 & 1)))
    fi
    counters=''
    if [[ $line == *'"counters":true'* ]]; then
        read=$((4 * b * (n * k + m * k) + 8 * bytes / 12))
        [[ $line != *copy* ]] || read=$bytes
        counters="\"counters\": {\"dram_read_bytes\": $((2 * read)),
            \"dram_write_bytes\": $((bytes + 4 * b * m * n)),
            \"flops_fp64\": 0, \"flops_fp32\": $((2 * b * m * n * k)),
            \"flops_fp16\": 0, \"flops_tensor\": 0, \"ops_tensor_int8\": 0},"
    fi
    many=''
    [[ $line != *'"sustained":'* ]] ||
        many="\"sustained\": {\"seconds\": 0.4, \"runs\": 9, \"time_us\":
            $((ns / 800)), \"sm_mhz\": 1410, \"power_w\": 690},"
    echo "{\"id\": $id, \"time_us\": $((ns / 1000)).$((ns % 1000 / 100)),"\
        "${counters//$'\n'/}${many//$'\n'/}" "$took," \
        '"spread": 0.01, "runs": 5}'
done
