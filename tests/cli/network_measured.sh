#!/usr/bin/env bash
# A network file of collectives that were measured, without figures of its
# cards, as `calibrate` writes one: `op`, `plan` and `whatif` of a described job
# take their times from it, and none joins cards that it does not have.
. "$(dirname "$0")/lib.bash"

python3 - "$SOURCE_DIR/data/platforms" "$folder/mine.json" <<'EOF'
import json
import sys

with open(sys.argv[1] + "/h100.json", encoding="utf-8") as f:
    h100 = json.load(f)
with open(sys.argv[2], "w", encoding="utf-8") as f:
    json.dump({"schema": "mystique-sim/network/1", "name": "mine",
               "generation": h100["generation"], "data_sheet": h100["data_sheet"],
               "cells": [c for c in h100["cells"] if c["law"] == "collective"]}, f)
EOF

# An H100's collectives by its own file, and by that network.
cat >"$folder/rows.csv" <<'EOF'
collective,ranks,nodes,bytes,dtype
all_reduce,8,1,33554432,bf16
all_gather,16,2,33554432,bf16
EOF
run op --platform h100 "$folder/rows.csv"
want_rc 0
cp "$folder/out" "$folder/own"
run op --platform h100 --network "$folder/mine.json" "$folder/rows.csv"
want_rc 0
cmp -s "$folder/own" "$folder/out" || complain "op: not the h100's own times"
run op --platform a100 "$folder/rows.csv"
cp "$folder/out" "$folder/own"
run op --platform a100 --network "$folder/mine.json" "$folder/rows.csv"
want_rc 0
! cmp -s "$folder/own" "$folder/out" || complain "op: the network does nothing"

# Cards that are named: faster ones take less time, inside a node nothing moves.
took() {
    run op --platform b200 --network "$1" "$folder/rows.csv"
    want_rc 0
    inside=$(awk -F, 'NR == 2 { print $6 }' "$folder/out")
    across=$(awk -F, 'NR == 3 { print $6 }' "$folder/out")
}
took infiniband-ndr400
fast=$across node=$inside
took ethernet-100
awk "BEGIN { exit !($fast < $across) }" || complain "want $fast < $across"
[ "$inside" = "$node" ] || complain "op: a network counts inside a node"

usage_error "unknown network 'string', known are: aws-efa-3200," \
    op --platform h100 --network string "$folder/rows.csv"

# A plan and a what-if of a described job.
plan() {
    printf '{"model": "llama3-8b", "gpus": [16], "global_batch": 64,
             "platforms": [{"name": "h100"%s}]}' "$1" >"$folder/spec.json"
    run plan "$folder/spec.json"
    want_rc 0
}
plan ''
cp "$folder/out" "$folder/own"
plan ", \"network\": \"$folder/mine.json\""
diff "$folder/own" "$folder/out" >&2 || complain "plan: not the h100's own times"

echo '{"gpus": 16, "zero": 3, "micro_batch": 1}' >"$folder/job.json"
whatif() {
    run whatif --platform h100 --strategy "$folder/job.json" "$@" \
        --grid layers=16 llama3-8b
    want_rc 0
}
whatif
cp "$folder/out" "$folder/own"
whatif --network "$folder/mine.json"
diff <(grep -v mine "$folder/own") <(grep -v mine "$folder/out") >&2 ||
    complain "whatif: not the h100's own times"

finish
