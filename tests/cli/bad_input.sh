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

# zstd is read as gzip is: joined frames, cut files, rubbish behind the end.
if command -v zstd >/dev/null; then
    split=$(($(stat -c %s "$kineto") / 2))
    {
        head -c $split "$kineto" | zstd -q -c
        tail -c +$((split + 1)) "$kineto" | zstd -q -c
    } >"$folder/two.json.zst"
    run info "$folder/two.json.zst"
    want_rc 0
    want_no_err
    head -c 20000 "$folder/two.json.zst" >"$folder/cut.json.zst"
    refused "the zstd stream ends early" "$folder/cut.json.zst"
    run --platform a100 --salvage "$folder/cut.json.zst"
    want_rc 0
    want_err "the zstd stream ends early: the file is cut; kept the"
    { cat "$folder/two.json.zst" && echo rubbish; } >"$folder/more.json.zst"
    run info "$folder/more.json.zst"
    want_rc 0
    want_err "more.json.zst: the bytes behind the end of the zstd stream"
fi
{ cat "$sample/kineto/rank-0.json.gz" && echo rubbish; } >"$folder/more.json.gz"
run info "$folder/more.json.gz"
want_rc 0
want_err "more.json.gz: the bytes behind the end of the gzip stream, from byte"
printf '\375%s' 7zXZ >"$folder/x.json.xz"
refused "x.json.xz: is packed by xz: unpack it first (xz -dk FILE)" \
    "$folder/x.json.xz"
printf 'BZh91AY' >"$folder/x.json.bz2"
refused "is packed by bzip2" "$folder/x.json.bz2"
printf 'PK\003\004..' >"$folder/x.zip"
refused "is a zip archive" "$folder/x.zip"
tar -C "$folder" -czf "$folder/x.tar.gz" kineto.json
refused "is a tar archive: unpack it first (tar -xf FILE)" "$folder/x.tar.gz"
# A file that fills the memory when it is unpacked.
{
    printf '{"traceEvents":[{"name":"'
    head -c 300000000 /dev/zero | tr '\0' 'x'
} | gzip -1 >"$folder/bomb.json.gz"
refused "found a string of more than 16 MiB" "$folder/bomb.json.gz"
{
    printf '{"traceEvents":['
    head -c 150000000 /dev/zero | tr '\0' ' '
} | gzip -9 >"$folder/blank.json.gz"
refused "blank.json.gz:" "$folder/blank.json.gz"
yes '{"ph":"i"},' | head -c 80000000 | { printf '['; cat; } | gzip -9 \
    >"$folder/poor.json.gz"
refused "times as many, which no trace does" "$folder/poor.json.gz"

# A file that may not grow further leaves no draft.
mkdir "$folder/small"
message=$(ulimit -f 8; "$sim" --platform a100 --timeline \
    "$folder/small/run.json" "$kineto" 2>&1 >/dev/null)
code=$?
[ $code -eq 3 ] || [ $code -eq 4 ] || complain "exit code $code: $message"
[[ $message == *"cannot write"* ]] || complain "no message: $message"
[ -z "$(ls "$folder/small")" ] || complain "left: $(ls "$folder/small")"

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
read_over control.json '1 control character in strings' '"a\nb"'
read_over utf8.json '1 byte that is not UTF-8' '"\xb9"'
spoil dur.json '"dur": nan, '
run --platform a100 "$folder/dur.json"
want_rc 0
want_err "'dur' is no number, want microseconds"
spoil word.json '"args": {"x": oops}, '
refused "found 'o', want JSON" "$folder/word.json"
# A pipe can be read but once, and --salvage must not cut there.
run --platform a100 - <"$folder/inf.json"
want_rc 0
want_err "-: 2 numbers that are not finite"
run --platform a100 --salvage "$folder/utf8.json"
want_rc 0
want_err "1 byte that is not UTF-8"
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
want_err "unknown platform 'nosuch', known are: a10, a100,"

finish
