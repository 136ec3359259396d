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
finish
