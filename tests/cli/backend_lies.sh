#!/usr/bin/env bash
# What backends answer is not believed: in calibrate and replay alike the id, the
# number of lines, the order of the times, and how long it may take.
. "$(dirname "$0")/lib.bash"
in_turn profilers/ask calibrate/measure replay/run

here=$(cd "$(dirname "$0")" && pwd)
sample=$here/../../data/traces/dlrm/et/rank-0.json.gz

liar() { # LIE
    echo "exec bash $here/lying_backend.bash $1"
}

# Those that are to be waited for in vain; others may be slow to start.
patience_with() { # LIE
    case $1 in
        hang | mute | endless | deaf | flood) echo 0.4 ;;
        *) echo 20 ;;
    esac
}

# within SECONDS COMMAND...
within() {
    local limit=$1 begin=$SECONDS
    shift
    "$@"
    [ $((SECONDS - begin)) -le "$limit" ] ||
        complain "took $((SECONDS - begin)) s, want at most $limit"
}

# LIE: what is said of it
lies='other:answered question
nameless:answered without the id
garbage:no JSON object
half:ended with exit code 0
die:killed by signal 11
hang:did not answer within
flood:the backend
mute:did not answer within
endless:the backend'
times='order:low_us 100
earlier:low_us 11
slower:high_us 9.5
letters:a '\''low_us'\'' that is no number
zero:time_us 0
below:time_us -5
infinite:time_us inf
word:neither '\''time_us'\'' nor '\''error'\''
empty:neither '\''time_us'\'' nor '\''error'\'''

if [ -x "$(dirname "$sim")/msim-calibrate" ]; then
    # One that answers as it should is fitted: what follows fails by its lie.
    run calibrate --backend "$(liar honest)" --budget 0.02 \
        --out "$folder/honest.json"
    ! grep -q "failed: .*the backend" "$folder/err" || complain "honest: $err"
    grep -q '"time_us"' "$folder/honest.journal.jsonl" || complain "no answer"
    while IFS=: read -r lie said; do
        within 15 run calibrate --backend "$(liar "$lie")" --budget 0.02 \
            --patience "$(patience_with "$lie")" --out "$folder/$lie.json"
        [ "$rc" -eq 1 ] || [ "$rc" -eq 3 ] || complain "exit code $rc"
        want_err "$said"
        [ ! -e "$folder/$lie.json" ] || complain "a platform of lies"
        ! grep '"answer"' "$folder/$lie.journal.jsonl" | grep -v '"error"' ||
            complain "a lie is kept"
    done <<<"$lies"$'\n'"$times"
    # Of two lines for one question the second is the answer to nothing.
    run calibrate --backend "$(liar twice)" --budget 0.1 --out "$folder/2.json"
    want_rc 1
    want_err "cannot be trusted: 3 times"
    # A journal of such answers is one of failures.
    sed 's/"high_us":12/"high_us":1/' "$folder/honest.journal.jsonl" \
        >"$folder/old.journal.jsonl"
    run calibrate --backend "$(liar hang)" --budget 0.0001 --patience 1 \
        --out "$folder/old.json"
    want_rc 1
    want_err "too few rows"
fi

while IFS=: read -r lie said; do
    within 15 run replay --backend "$(liar "$lie")" --warmup 0 --iterations 1 \
        --patience "$(patience_with "$lie")" -o "$folder/replayed.json" "$sample"
    want_rc 3
    want_no_out
    want_err "$said"
    [ ! -e "$folder/replayed.json" ] || complain "a trace of lies"
done <<<"$lies
deaf:did not answer within
twice:no end for every element
below:no us for every element
infinite:no us for every element
word:no us for every element"
run replay --backend "$(liar honest)" --iterations 1 --warmup 0 "$sample"
want_rc 0
usage_error "option '--patience' is 'x', want a number of seconds above 0" \
    replay --patience x "$sample"

finish
