#!/usr/bin/env bash
# convert: Chakra out and in. The files it writes are read again with the same
# figures, Chakra itself goes out byte by byte, and nothing is left of a file
# that could not be written.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces
bert=$samples/bert
ddp=$samples/dlrm-ddp-2ranks

# figures PATH...: the prediction without its inputs and their records
figures() {
    run --json --platform a100 --costs model "$@"
    want_rc 0
    sed '/^  "inputs"/,/^  ]/d; /^  "import"/,/^  ]/d' "$folder/out"
}

# ET and Kineto of one rank: one file, called as asked.
run convert "$bert" -o "$folder/bert.et"
want_rc 0
want_no_out
want_err "wrote $folder/bert.et: "
want_err "not_before_ns"
[ "$(figures "$bert")" = "$(figures "$folder/bert.et")" ] ||
    complain "other figures from Chakra"
run info "$folder/bert.et"
want_rc 0
want_out "chakra"

# An ET alone has no times, and that is said.
run convert "$bert/et" -o "$folder/et.et"
want_rc 0
want_err "an execution trace has no times"
want_err "op_schema"
[ "$(figures "$bert/et")" = "$(figures "$folder/et.et")" ] ||
    complain "other figures from an ET as Chakra"

# Several ranks: PREFIX.RANK.et, which is a job again.
mkdir "$folder/ranks"
run convert "$ddp" -o "$folder/ranks/x.et"
want_rc 0
[ "$(cd "$folder/ranks" && echo *)" = "x.0.et x.1.et" ] ||
    complain "wrote $(ls "$folder/ranks")"
[ "$(figures "$ddp")" = "$(figures "$folder/ranks")" ] ||
    complain "other figures from two ranks as Chakra"

run convert --json "$ddp" -o "$folder/ranks/y.et"
want_rc 0
python3 - "$folder/out" "$folder/ranks" <<'PYTHON' || complain "the JSON is wrong: $out"
import json, sys
answer = json.load(open(sys.argv[1]))
assert [f["path"] for f in answer["files"]] == [f"{sys.argv[2]}/y.{n}.et" for n in (0, 1)]
assert all(f["nodes"] > 800 for f in answer["files"]) and answer["copied"] == 0
assert any("not_before_ns" in text for text in answer["warnings"]), answer["warnings"]
PYTHON
grep -q "wrote" "$folder/err" && complain "JSON says what was written, and messages again"
rm "$folder"/ranks/y.*

# Chakra to Chakra: the same bytes; packed and from standard input too.
run convert "$folder/bert.et" -o "$folder/again.et.gz"
want_rc 0
want_err "were Chakra already"
gzip -dc "$folder/again.et.gz" | cmp -s - "$folder/bert.et" ||
    complain "other bytes"
dd bs=1 if="$folder/et.et" 2>/dev/null | "$sim" info --json - >"$folder/pipe"
"$sim" info --json "$folder/et.et" >"$folder/file"
diff <(grep -v '"path"' "$folder/pipe" | sed 's/"path": "[^"]*"//') \
    <(grep -v '"path"' "$folder/file" | sed 's/"path": "[^"]*"//') >&2 ||
    complain "a pipe says something else"

# Damage: the byte is named, --salvage keeps what is whole.
size=$(wc -c <"$folder/bert.et")
head -c $((size - 5)) "$folder/bert.et" >"$folder/cut.et"
run info "$folder/cut.et"
want_rc 3
want_err "cut.et:$((size - 5)): cut: the Chakra trace ends "
run convert "$folder/cut.et" -o "$folder/cut2.et"
want_rc 3
[ ! -e "$folder/cut2.et" ] || complain "wrote a file in spite of a failure"
run convert --salvage "$folder/cut.et" -o "$folder/cut2.et"
want_rc 0
want_err "warning: "
printf '\007\n\0050.0.4\377\377\377\377\377\377\377\377\377\377\377' \
    >"$folder/huge.et"
run info "$folder/huge.et"
want_rc 3
want_err "huge.et:8: a message of more than 1024 MiB"

# Two of one rank, and Chakra beside an ET.
cp "$folder/bert.et" "$folder/rank-0.et"
run info "$folder/rank-0.et" "$bert/et"
want_rc 3
want_err "is a Chakra trace of rank 0"

# A folder that is not there, and a file that was there before.
run convert "$bert" -o "$folder/nowhere/x.et"
want_rc 3
want_err "No such file or directory"
echo before >"$folder/kept.et"
run convert "$folder/cut.et" -o "$folder/kept.et"
want_rc 3
[ "$(cat "$folder/kept.et")" = before ] || complain "a file was lost"

finish
