#!/usr/bin/env bash
# A backend for tests that does not keep to the protocol:
#
#   lying_backend.bash LIE
#
# answers each question wrongly, in one way. "honest" answers as it should.
lie=$1
[ "$lie" != mute ] || exec sleep 100
[ "$lie" != endless ] || exec tr '\0' x </dev/zero
echo '{"schema": "mystique-sim/profiler/1", "backend": "liar",' \
    '"version": "1", "device": {"name": "Made up", "kind": "cpu", "sms": 2,' \
    '"memory_bytes": 8e9, "l2_bytes": 1000000}, "libraries": {"none": "1"},' \
    '"sequences": true, "tables": {"gemm": ["fp32"], "vector": ["add:fp32"],' \
    '"copy": ["d2d"]}}'
[ "$lie" != deaf ] || exec sleep 100

# An answer with the id $1 and the rest $2.
say() {
    echo "{\"id\": $1, ${2:-\"time_us\": 10, \"low_us\": 9, \"high_us\": 12}}"
}

# As many numbers as the sequence in $line has operators.
zeros() {
    local order=${line##*'"order":['}
    order=${order%%']'*}
    sed 's/[0-9]\+/0/g' <<<"$order"
}

while IFS= read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
    answer=''
    if [[ $line == *'"sequence":'* ]]; then
        answer="\"us\": 10, \"at_us\": [$(zeros)], \"time_us\": [$(zeros)]"
    fi
    case $lie in
        honest) say "$id" "$answer" ;;
        other) say $((id + 7)) "$answer" ;;
        nameless) echo '{"time_us": 10}' ;;
        twice) say "$id" "$answer" && say "$id" "$answer" ;;
        order) say "$id" '"time_us": 10, "low_us": 100, "high_us": 1' ;;
        earlier) say "$id" '"time_us": 10, "low_us": 11, "high_us": 12' ;;
        slower) say "$id" '"time_us": 10, "low_us": 9, "high_us": 9.5' ;;
        letters) say "$id" '"time_us": 10, "low_us": "x", "high_us": 12' ;;
        zero) say "$id" '"time_us": 0, "us": 0, "at_us": 0' ;;
        below) say "$id" '"time_us": -5, "us": -5' ;;
        infinite) say "$id" '"time_us": 1e999, "us": 1e999' ;;
        word) say "$id" '"time_us": "fast", "us": "fast"' ;;
        empty) say "$id" '"spread": 0' ;;
        garbage) printf '\1\377{]\n' ;;
        half) printf '{"id":' && exit 0 ;;
        flood) exec tr '\0' y </dev/zero ;;
        hang) exec sleep 100 ;;
        die) kill -SEGV $$ ;;
    esac
    if [[ $lie == honest && -n $answer ]]; then
        say "$id" '"done": true'
    fi
done
