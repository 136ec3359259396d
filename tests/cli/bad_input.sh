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
