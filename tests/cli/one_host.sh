#!/usr/bin/env bash
# Which GPU: all stand beside one host, that of the GPU that is named first. A
# list, a what-if and a plan say the same of each, and the first is what it is
# alone; a scenario that names a host has the host of its own GPU's age.
. "$(dirname "$0")/lib.bash"

trace=${SOURCE_DIR:?the source folder}/data/traces/llama-block

alone() { # GPU: its period by itself, ms
    run --platform "$1" "$trace"
    want_rc 0
    awk '$1 == "period" { print $2 }' "$folder/out"
}
listed() { # GPU: in the list of the last run
    awk -v gpu="$1" '$1 == gpu { print $2 }' "$folder/list"
}
same() { # WHAT WANT GOT
    [ -n "$2" ] && [ "$2" = "$3" ] || complain "$1: want $2, got $3"
}

run --platform h100,b200,a100 "$trace"
want_rc 0
want_out "host: one for all, 'generic' x 0.31, for hosts as old as h100"
cp "$folder/out" "$folder/list"
same "h100 of a list" "$(alone h100)" "$(listed h100)"
[ "$(alone b200)" != "$(listed b200)" ] || complain "the b200 has its own host"

# A B200's kernels take less than an H100's, and nothing else differs.
awk -v b="$(listed b200)" -v h="$(listed h100)" 'BEGIN { exit !(b < h) }' ||
    complain "an h100 is faster than a b200"

run whatif --platform h100 --grid gpu=b200,a100 "$trace"
want_rc 0
want_out "another GPU stands beside the base's host"
for gpu in b200 a100; do
    same "$gpu of a what-if" "$(listed "$gpu")" \
        "$(awk -v gpu="$gpu" '$1 == "gpu" && $2 == gpu { print $3 }' "$folder/out")"
done

echo '{"scenarios": [{"name": "own",
    "changes": [{"gpu": "b200"}, {"host": "generic"}]}]}' \
    >"$folder/own.json"
run whatif --platform h100 "$folder/own.json" "$trace"
want_rc 0
own=$(awk '$1 == "own" { print $2 }' "$folder/out")
same "b200 beside its own host" "$(alone b200)" "$own"

printf '{"trace": "%s", "samples": 1e6, "gpus": [1],
  "platforms": ["h100", "b200", "a100"]}' "$trace" >"$folder/spec.json"
run plan --json "$folder/spec.json"
want_rc 0
python3 - "$folder/out" "$(listed b200)" <<'EOF' || complain "a plan differs"
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    best = json.load(f)["recommended"]
sys.exit(not (best["platform"] == "b200"
              and abs(best["step_us"]["predicted"] / 1e3 - float(sys.argv[2])) < 0.001))
EOF

finish
