#!/usr/bin/env bash
# calibrate where things fail: a made-up backend with faults that stay, and
# what becomes of the rest.
. "$(dirname "$0")/lib.bash"

here=$(cd "$(dirname "$0")" && pwd)
if [ ! -x "$(dirname "$sim")/msim-calibrate" ]; then
    echo "built without XGBoost: skipped"
    exit 77
fi

fake() { # FAULT...: the command line of the made-up backend
    echo "exec bash $here/fake_backend.bash $folder/asked $*"
}

# calibrate NAME MINUTES FAULTS [OPTION...]: with a backend that begins anew
calibrate() {
    local name=$1 minutes=$2 faults=$3
    shift 3
    rm -f "$folder/asked"
    run calibrate --backend "$(fake "$faults")" --budget "$minutes" \
        --out "$folder/$name.json" "$@"
}

# Answers in a journal that hold a text.
answers() { # NAME TEXT
    grep -c "\"answer\":.*$2" "$folder/$1.journal.jsonl"
}

want_few() { # NAME TEXT MOST
    [ "$(answers "$1" "$2")" -le "$3" ] ||
        complain "$(answers "$1" "$2") answers with '$2', want at most $3"
}

want_lines() { # N TEXT: so many messages hold it
    [ "$(grep -c "$2" "$folder/err")" -eq "$1" ] ||
        complain "want '$2' in $1 messages, got: $err"
}

# Products that fail from some time on, whatever is done: one new start, then no
# more of them; the rest goes on, and it is said once.
calibrate products 0.04 "fail:30:\\\"gemm\\\""
want_rc 0
want_few products "madeUpCall" 16
[ "$(answers products time_us)" -gt 50 ] || complain "the rest did not go on"
want_err "starts 'fake' again after failures in a row: madeUpCall"
want_err "asks 'fake' for no more gemm fp32: 8 failures in a row"
want_lines 1 "failed [0-9]* times, first gemm fp32 .*: madeUpCall"
want_out "cpu_vector         fake"

# All fails: the backend is given up, and what it gave before is fitted.
calibrate all 0.05 "fail:60:"
want_rc 0
want_few all "madeUpCall" 32
want_lines 1 "goes on without '.*': backend 'fake' failed 16 times in a row"
want_out "cpu_gemm           fake"

# A new start helps, once.
calibrate tired 0.05 "tired:40"
want_few tired tired 32
[ "$(answers tired time_us)" -gt 70 ] || complain "nothing after the new start"

# What leaves the device unusable ends the backend, and costs nothing else.
calibrate sticky 0.04 "sticky:\\\"add\\\""
want_rc 0
want_few sticky "it sticks" 16
want_few sticky '"lost"' 0
want_err "asks 'fake' for no more vector add:fp32"

# It holds for what comes last, too.
FAKE_BESIDE=1 calibrate beside 0.06 "fail:1:beside" --seed 2
want_rc 0
want_few beside "madeUpCall" 16
want_err "asks 'fake' for no more computing beside collectives"

# Nothing that could be fitted: no platform, and what failed with what.
calibrate few 0.04 "fail:30:"
want_rc 1
want_err "few.journal.jsonl: too few rows of any kind to fit a law to: "
want_err "failed, 24 of them with 'madeUpCall"
for kind in json held.csv network.json host.json; do
    [ ! -e "$folder/few.$kind" ] || complain "few.$kind of nothing"
done

finish
