#!/usr/bin/env bash
# select --merge: parts of a fleet, each answered by a process of its own, give
# what one process says of all of it, byte for byte.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces

# A fleet with what is left out, and with records that are not read.
mkdir "$folder/fleet" "$folder/parts"
for job in bert gpt2 resnet vit dlrm-ddp-2ranks; do
    cp -r "$samples/$job" "$folder/fleet/$job"
done
echo '{"traceEvents": [' >"$folder/fleet/vit/broken.json"
mkdir "$folder/fleet/odd"
printf '{"traceEvents": [%s, %s]}' \
    '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 9}' \
    '{"ph": "X", "cat": "odd one", "name": "x", "ts": 4, "dur": 2}' \
    >"$folder/fleet/odd/trace.json"

cd "$folder/fleet" || exit 1
export sim parts=$folder/parts
# shellcheck disable=SC2016 # the inner shell's
printf '%s\0' */ | xargs -0 -n 2 -P 3 sh -c \
    '"$sim" select --json "$@" >"$(mktemp "$parts/XXXXXX.json")" 2>/dev/null' sh
[ "$(ls "$parts" | wc -l)" = 3 ] || complain "not three parts"

for how in "--json -k 3" "--csv" "-k 2" "--json --weight job"; do
    # shellcheck disable=SC2086 # several words
    run select $how */
    want_rc 0
    cp "$folder/out" "$folder/whole"
    # shellcheck disable=SC2086
    run select $how --merge "$parts"/*.json
    want_rc 0
    cmp -s "$folder/out" "$folder/whole" || complain "other bytes"
    want_err "left out vit/broken.json: "
done
# Merged parts are a part again.
run select --json --merge "$parts"/*.json
cp "$folder/out" "$folder/all.json"
run select --json --merge "$folder/all.json"
want_rc 0
cmp -s "$folder/out" "$folder/all.json" || complain "not the same again"

# ---- what is no part -------------------------------------------------------------

run select --merge "$folder/all.json" "$folder/all.json"
want_rc 3
want_no_out
want_err "the job 'bert' is in two parts, want every job in one"
run select --merge bert
want_rc 3
run select --merge "$samples/bert/meta.json"
want_rc 3
want_no_out
refused() { # TEXT OLD NEW: the answer with OLD become NEW
    sed "s/$2/$3/" "$folder/all.json" >"$folder/bad.json"
    ! cmp -s "$folder/all.json" "$folder/bad.json" || complain "no '$2'"
    run select --merge "$folder/bad.json"
    want_rc 3
    want_no_out
    want_err "bad.json: $1"
}
refused 'schema is "mystique-sim/selection/2", want' 'selection\/1' 'selection\/2'
refused "jobs[0].device_time_us is -" '"device_time_us": ' '&-'
refused "jobs[0].device_time_us is missing, want a number above 0" \
    '"device_time_us": [0-9.e+]*, ' ''
refused "jobs[0].device_time_us is 1e+300, want at most 1e18" \
    '"device_time_us": ' '"device_time_us": 1e300, "was": '
for count in ranks gpus cpus; do
    refused "jobs[0].$count is 4294967296, want a number below 2^32" \
        "\"$count\": " "\"$count\": 4294967296, \"was\": "
done
refused "jobs[0].ranks is 1.5, want a whole number from 1" \
    '"ranks": 1' '"ranks": 1.5'
refused "jobs[0].shares.gemm is 1.5, want a number from 0 to 1" \
    '"gemm": 0[.0-9]*' '"gemm": 1.5'
refused 'jobs[0].shares is {"hemm"' '"gemm": ' '"hemm": '
refused "jobs[0].job is 7, want a text" '{"job": "[a-z0-9]*", "weight": [0-9.]*, "device' \
    '{"job": 7, "weight": 1, "device'
refused "jobs[0].paths[0] is 7, want a text" \
    '\("idle": .*"paths": \[\)"[^"]*"' '\17'
refused "left_out[0].reason is 3" '"reason": "[^"]*"' '"reason": 3'
refused 'import[1].records[0].kind is "metal", want a kind of records' '"kind": "metadata"' '"kind": "metal"'
refused "import[0].events is missing" '"events": [0-9]*' '"events": null'

finish
