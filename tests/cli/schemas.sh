#!/usr/bin/env bash
# `schema`: a file each, and the answers of all verbs, to all samples, are as it says;
# columns of CSV are fields of JSON.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
source=${SOURCE_DIR:?}

run schema
want_rc 0
[ "$(sort <<<"$out")" = "$(cd "$source/data/schemas" && find . -name '*.json' | sed 's/^..//; s/\.json$//' | sort)" ] ||
    complain "lists other schemas than data/schemas has"
for name in $out; do
    run schema "$name"
    want_rc 0
    cmp -s "$folder/out" "$source/data/schemas/$name.json" || complain "$name is another"
    run schema "mystique-sim/$name/1" # as an answer says it
    want_rc 0
    cmp -s "$folder/out" "$source/data/schemas/$name.json" || complain "$name/1 is another"
done
usage_error "no schema is called 'prediktion', did you mean 'prediction'?; 'mys" schema prediktion
usage_error "no schema is called 'mystique-sim/plan/2'; 'mys" schema mystique-sim/plan/2
usage_error "no schema is called '../hosts/generic'" schema ../hosts/generic

# A verb is told what it answers, as docs/json.md has it.
sed -nE 's/^\| `([a-z]+) .*` [^|]*\| (.*) \|$/\1 \2/p' "$source/docs/json.md" >"$folder/verbs"
while read -r verb text; do
    for name in $(grep -oE 'mystique-sim/[a-z/-]+/1' <<<"$text" | sed 's/^[^/]*.//; s/.1$//'); do
        [ "$verb" = "$name" ] && continue # asked for by that, and printed
        run schema "$verb"
        [ $rc -eq 0 ] || want_err "'$name'"
    done
done <"$folder/verbs"
[ "$(wc -l <"$folder/verbs")" -gt 15 ] || complain "docs/json.md names no verbs"
usage_error "no schema is called 'op', did you mean 'operations'?; 'mys" schema op
usage_error "did you mean 'prediction', 'predictions', 'explanation'?;" schema predict

# Columns of CSV, and their values.
run --platform a100 --json "$source/data/traces/gpt2"
cp "$folder/out" "$folder/answer.json"
run --platform a100 --csv "$source/data/traces/gpt2"
python3 - "$folder/answer.json" "$folder/out" <<'PYTHON' || complain "CSV and JSON differ"
import csv, json, sys

ops = json.load(open(sys.argv[1]))["ops"]
rows = list(csv.DictReader(open(sys.argv[2])))
assert set(rows[0]) - {"options"} == set(ops[0]), set(rows[0]) ^ set(ops[0])
assert len(rows) == len(ops)
for row, op in zip(rows, ops):
    for key, want in op.items():
        got = row[key]
        if isinstance(want, bool):
            assert got == str(want).lower(), (key, got, want)
        elif isinstance(want, (int, float)):
            assert float(got) == want, (key, got, want)
        else:
            assert got == (want or ""), (key, got, want)
PYTHON

python3 "$source/scripts/schemas.py" check >"$folder/checked" 2>&1
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 77 ] || complain "$(cat "$folder/checked")"
tail -1 "$folder/checked"

finish
