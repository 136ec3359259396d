#!/usr/bin/env bash
# calibrate where things fail: a made-up backend with faults that stay, and
# what becomes of the rest.
. "$(dirname "$0")/lib.bash"

here=$(cd "$(dirname "$0")" && pwd)
if [ ! -x "$(dirname "$sim")/msim-calibrate" ]; then
    echo "built without XGBoost: skipped"
    exit 77
fi

export FAKE_TOOK=0.005 # most end by a fault, not by their budget

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
calibrate products 1 "fail:30:gemm fail:130:" --measure-only
want_rc 1
want_err "failures ended the measuring early"
want_few products "madeUpCall" 32
[[ $(sed -n '/madeUpCall/,$p' "$folder/products.journal.jsonl" | sed 1,20d) == \
    *time_us* ]] || complain "the rest did not go on"
want_err "starts 'fake' again after failures in a row: madeUpCall"
want_err "asks 'fake' for no more gemm fp32: 8 failures in a row"
want_lines 1 "failed [0-9]* times, first gemm fp32 .*: madeUpCall"

# All fails: the backend is given up, and what it gave before is fitted, as far
# as there is enough of it.
calibrate all 1 "fail:60:"
want_rc 0
want_few all "madeUpCall" 32
want_lines 1 "goes on without '.*': backend 'fake' failed 16 times in a row"
want_out "cpu_gemm           fake"
want_out " experiments are in no fit"

# A new start helps, once.
calibrate tired 1 "tired:40"
want_few tired tired 32
[ "$(answers tired time_us)" -gt 70 ] || complain "nothing after the new start"

# What leaves the device unusable ends the backend, and costs nothing else.
calibrate sticky 1 "sticky:gemm fail:80:" --measure-only
want_rc 1
want_few sticky "it sticks" 16
want_few sticky '"lost"' 0
want_err "asks 'fake' for no more gemm fp32"

# It holds for what comes last, too.
FAKE_BESIDE=1 calibrate beside 0.05 "fail:1:beside" --measure-only
want_rc 0
want_few beside "madeUpCall" 16

# Nothing that could be fitted: no platform, and what failed with what.
calibrate few 1 "fail:30:"
want_rc 1
want_err "few.journal.jsonl: too few rows of any kind to fit a law to: "
want_err " of them with 'madeUpCall"
for kind in json held.csv network.json host.json; do
    [ ! -e "$folder/few.$kind" ] || complain "few.$kind of nothing"
done

# To measure and to fit apart: on another machine, say, where no backend is.
calibrate apart 1 "fail:60:" --measure-only
want_rc 1
want_out "kept: $folder/apart.journal.jsonl: "
[ ! -e "$folder/apart.json" ] || complain "--measure-only wrote a platform"
cp "$folder/apart.journal.jsonl" "$folder/before"
run calibrate --fit-only --out "$folder/apart.json"
want_rc 0
want_no_err
want_out "cpu_gemm           fake"
cmp -s "$folder/before" "$folder/apart.journal.jsonl" ||
    complain "--fit-only has changed the journal"
run platforms "$folder/apart.json"
want_rc 0
run calibrate --fit-only --out "$folder/none.json"
want_rc 3
want_err "none.journal.jsonl: there is no such file"
[ ! -e "$folder/none.journal.jsonl" ] || complain "--fit-only began a journal"
calibrate nothing 1 "fail:1:" --measure-only
want_rc 1
want_err "failed 16 times in a row"
for options in "fit-only measure-only" "fit-only dry-run" "fit-only from=x" \
    "measure-only dry-run" "measure-only from=x" \
    "measure-only target-interval=3" "fit-only budget=1"; do
    read -r one other <<<"$options"
    usage_error "is of no use with --" calibrate "--$one" "--$other" \
        --out "$folder/none.json"
done

# One GPU tells neither what links several, nor here the rate of products, which
# a library refuses: all that is as the shipped platform of this device has it,
# which is said, and nothing of one rank is a collective.
h100='"name": "NVIDIA H100 80GB HBM3", "kind": "gpu", "sms": 132,
    "memory_bytes": 85e9, "l2_bytes": 52428800'
FAKE_DEVICE=${h100//$'\n'/} FAKE_RANKS=1 calibrate gpu 1 \
    "fail:1:gemm fail:160:"
want_rc 0
want_out "not measured here, but of the data sheet of h100: "
want_out "collectives were not timed: those of h100 are taken"
! grep -q '"table":"collective"' "$folder/gpu.journal.jsonl" ||
    complain "collectives of one rank were timed"
[ ! -e "$folder/gpu.network.json" ] || complain "a network of one rank"
printf 'collective,dtype,ranks,nodes,bytes\nall_reduce,fp32,8,1,268435456\n' \
    >"$folder/coll.csv"
run op --platform "$folder/gpu.json" "$folder/coll.csv"
own=$out
run op --platform h100 "$folder/coll.csv"
[ "$out" = "$own" ] || complain "eight ranks: $own, want h100's $out"
run platforms "$folder/gpu.json"
want_out "data sheet of h100: not measured here"
want_out "links of        h100"

# Another device than those that are shipped: too little is known of it.
FAKE_RANKS=1 calibrate unknown 1 "fail:1:gemm fail:60:"
want_rc 1
want_err "too few rows to tell the device's rates from"
FAKE_RANKS=1 calibrate alone 1 "fail:60:"
want_rc 0
run op --platform "$folder/alone.json" "$folder/coll.csv"
want_out "collective (ranks not run)"

# What can be run back to back is, before counters are read.
FAKE_SUSTAINED=1 FAKE_COUNTERS=1 calibrate many 0.04 "" --measure-only
want_rc 0
! grep -q '"fitting_seconds"' "$folder/many.journal.jsonl" ||
    complain "--measure-only has fitted"
run calibrate --fit-only --out "$folder/many.json"
want_rc 0
want_out "products: x 1.25 as long back to back (median of "
[ "$(answers many '"sustained":{')" -le 12 ] ||
    complain "more than twelve back to back"
! sed -n '/"counters":{/,$p' "$folder/many.journal.jsonl" |
    grep '"sustained"' || complain "back to back after counters"
run platforms "$folder/many.json"
want_out "products   x 1.25 as long back to back (median of "
want_out ", at 1410 MHz and 690 W"

finish
