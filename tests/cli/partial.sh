#!/usr/bin/env bash
# A job that is recorded in part has no verdict: a wait for what is not recorded
# looks like work of the host.
. "$(dirname "$0")/lib.bash"

event() { # CAT NAME TID TS DUR CORRELATION
    printf '{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":%s,"ts":%s,' "${@:1:4}"
    printf '"dur":%s,"args":{"device":0,"stream":%s,"correlation":%s}},' \
        "$5" "$3" "$6"
}
replays() { # FILE REPLAYS-WITH-KERNELS
    {
        printf '{"schemaVersion":1,"traceEvents":['
        event user_annotation ProfilerStep#1 1 0 3999 0
        for i in 0 1 2 3; do
            event cuda_runtime cudaGraphLaunch 1 $((1000 * i + 50)) 30 $((i + 1))
            [ "$i" -ge "$2" ] ||
                event kernel k 7 $((1000 * i + 100)) 890 $((i + 1))
            event cuda_runtime cudaStreamSynchronize 1 $((1000 * i + 90)) 905 9"$i"
        done
        printf '{"ph":"M","name":"end"}]}'
    } >"$1"
}

replays "$folder/whole.json" 4
run "$folder/whole.json"
want_rc 0
want_out "GPU-bound: "
[[ $err != *incomplete* ]] || complain "called incomplete: $err"
replays "$folder/part.json" 1
run "$folder/part.json"
want_rc 0
want_err "incomplete trace: 3 of 4 kernel launches have no kernel"
[[ $out != *bound:* ]] || complain "a verdict on a part: $out"
run --json "$folder/part.json"
want_out '"verdict": null'

# steps FILE MARK...: steps of three launches and a wait, a step a line of
# "launches mark waits"; the recording ends where a step has less.
steps() {
    local file=$1 i n=0 t launches mark waits
    shift
    {
        printf '{"schemaVersion":1,"traceEvents":['
        for step in "$@"; do
            read -r launches mark waits <<<"$step"
            t=$((1000 * ++n))
            event user_annotation "ProfilerStep#$n" 1 "$t" "$mark" 0
            for ((i = 1; i <= launches; i++)); do
                event cuda_runtime "cudaLaunchKernel" 1 $((t + 10 * i)) 5 "$n$i"
                event kernel "k$i" 7 $((t + 100 * i)) 90 "$n$i"
            done
            [ "$waits" = 0 ] ||
                event cuda_runtime cudaDeviceSynchronize 1 $((t + 40)) "$waits" 9"$n"
        done
        printf '{"ph":"M","name":"end"}]}'
    } >"$file"
}

# counted N FILE...: so many iterations make the mean
counted() {
    run --json "$2"
    want_rc 0
    [ "$(grep -c '"name": "ProfilerStep#' "$folder/out")" = "$1" ] ||
        complain "want $1 iterations: $(grep '"name": "ProfilerStep' "$folder/out")"
}
cut="incomplete trace: the recording ends within iteration 3: it is left out"
whole="3 999 400"
steps "$folder/s.json" "$whole" "$whole" "$whole"
counted 3 "$folder/s.json"
[[ $err != *incomplete* ]] || complain "called incomplete: $err"
steps "$folder/s.json" "$whole" "$whole" "2 999 0" # its mark goes on
counted 2 "$folder/s.json"
want_err "$cut"
want_out '"kernel_us": {"predicted": 270,'
steps "$folder/s.json" "$whole" "$whole" "0 25 0" # nothing of it is there
counted 2 "$folder/s.json"
want_err "in iteration 3 nothing was recorded: it is left out"
steps "$folder/s.json" "$whole" "$whole" "2 999 400" # a short step ends as others
counted 3 "$folder/s.json"
steps "$folder/s.json" "2 999 400" "$whole" "2 999 0" # one of others is as short
counted 3 "$folder/s.json"
steps "$folder/s.json" "2 999 0" # nothing would be left
counted 1 "$folder/s.json"
finish
