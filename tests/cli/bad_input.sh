#!/usr/bin/env bash
# Bad input: refused with exit code 3, and a message that names the file, says
# where, what was found and what was wanted; never a crash.
. "$(dirname "$0")/lib.bash"

sample=${SOURCE_DIR:?the source folder}/data/traces/bert
kineto=$folder/kineto.json
gzip -dc "$sample/kineto/rank-0.json.gz" >"$kineto"

refused() { # TEXT ARGUMENT...
    local text=$1
    shift
    run --platform a100 "$@"
    want_rc 3
    want_no_out
    want_err "$text"
}

echo hello >"$folder/text.json"
refused "text.json:0: found 'h', want '{' or '['" "$folder/text.json"

: >"$folder/empty.json"
refused "empty.json:0: is empty" "$folder/empty.json"

# A recording of nothing is no run of no time; info still says what is there.
for empty in '[]' '{"traceEvents":[]}' '{"schema":"1.1.0","nodes":[]}' \
    '{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,
      "args":{"name":"python"}}]}'; do
    printf '%s' "$empty" >"$folder/none.json"
    refused "and no operator, call or GPU activity, want a run: record it" \
        "$folder/none.json"
    run info "$folder/none.json"
    want_rc 0
done

# An ET and a Kineto trace of two models are not one rank.
mkdir "$folder/mixed"
cp "$sample/../gpt2/et/rank-0.json.gz" "$folder/mixed/et-rank-0.json.gz"
cp "$sample/kineto/rank-0.json.gz" "$folder/mixed/kineto-rank-0.json.gz"
refused "do not belong together" "$folder/mixed"
refused "do not belong together" --salvage "$folder/mixed"

mkdir "$folder/nothing"
refused "nothing: no trace" "$folder/nothing"

refused "gone.json: cannot open: No such file or directory" "$folder/gone.json"

cp "$kineto" "$folder/again.json"
refused "again.json: is a Kineto trace" "$kineto" "$folder/again.json"

head -c 100000 "$kineto" >"$folder/cut.json"
refused "cut.json:100000: cut: found the end" "$folder/cut.json"
run --platform a100 --salvage "$folder/cut.json"
want_rc 0
want_err "warning: "

head -c 20000 "$sample/kineto/rank-0.json.gz" >"$folder/cut.json.gz"
refused "the gzip stream ends early" "$folder/cut.json.gz"

# What PyTorch is known to write is read, with one warning a kind; the same
# where it cannot be read over is refused.
spoil() { # NAME TEXT: TEXT before the category of the first operator
    python3 - "$kineto" "$folder/$1" "$2" <<'END'
import sys
data = open(sys.argv[1], 'rb').read()
text = sys.argv[3].encode('latin-1').decode('unicode_escape').encode('latin-1')
begin, at, rest = data.partition(b'"cat": "cpu_op"')
assert rest
open(sys.argv[2], 'wb').write(begin + text + at + rest)
END
}
read_over() { # NAME WARNING TEXT
    spoil "$1" "\"args\": {\"x\": $3}, "
    run --platform a100 "$folder/$1"
    want_rc 0
    want_err "$1: $2, the first at byte "
    [ "$(grep -c "warning: .*$1" <<<"$err")" = 1 ] ||
        complain "$1: want one warning, got: $err"
}
read_over inf.json '2 numbers that are not finite (inf, nan)' '[inf, NaN]'
read_over escape.json '2 backslashes that begin no escape' \
    '"C:\\Users\\Xavier"'
read_over control.json '1 control characters in strings' '"a\nb"'
read_over utf8.json '1 bytes that are not UTF-8' '"\xb9"'
spoil dur.json '"dur": nan, '
refused "'dur' is no number, want microseconds" "$folder/dur.json"
spoil word.json '"args": {"x": oops}, '
refused "found 'o', want JSON" "$folder/word.json"
# A pipe can be read but once, and --salvage must not cut there.
run --platform a100 - <"$folder/inf.json"
want_rc 0
want_err "-: 2 numbers that are not finite"
run --platform a100 --salvage "$folder/utf8.json"
want_rc 0
want_err "1 bytes that are not UTF-8"
[[ $err != *kept* ]] || complain "salvaged: $err"

node() { # ID PARENT
    printf '{"name":"n%s","id":%s,"parent":%s,"tid":1,"op_schema":"",' "$1" "$@"
    printf '"inputs":[],"input_shapes":[],"input_types":[],"outputs":[],'
    printf '"output_shapes":[],"output_types":[]}'
}
printf '{"schema":"1.0.1","pid":1,"nodes":[%s,%s]}' "$(node 5 6)" \
    "$(node 6 5)" >"$folder/cycle.json"
refused "the parents of nodes form a cycle: 5 'n5' -> 6 'n6' -> 5" \
    "$folder/cycle.json"

if [ "$(id -u)" -ne 0 ]; then
    chmod 000 "$folder/again.json"
    refused "again.json: cannot open: Permission denied" "$folder/again.json"
fi

run --costs measured "$sample/et"
want_rc 3
want_err "no times in the trace"

run --platform nosuch "$kineto"
want_rc 2
want_err "unknown platform 'nosuch', known are: a100,"

finish
