#!/usr/bin/env bash
# info on the sample traces: what is in the files, what is missing, bad input.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces

run info "$samples/bert"
want_rc 0
want_no_err
want_out "2 files, 1 rank"
want_out "bert/et/rank-0.json.gz"
want_out "missing:"
want_out "no GPU activity"

run info --json "$samples/dlrm-ddp-2ranks"
want_rc 0
want_no_err
want_out '"schema": "mystique-sim/info/1"'
if command -v python3 >/dev/null; then
    python3 - "$folder/out" <<'PYTHON' || complain "not as the contract says"
import json, sys

info = json.load(open(sys.argv[1]))
keys = ["path", "format", "version", "rank", "gpu", "events", "ops",
        "kernels", "collectives", "steps", "linked"]
assert len(info["files"]) == 4, info["files"]
for f in info["files"]:
    assert list(f)[:len(keys)] == keys, list(f)
    assert f["rank"] in (0, 1) and f["format"] in ("et", "kineto"), f
    assert f["events"] > f["ops"] > 0, f
assert isinstance(info["warnings"], list)
PYTHON
fi

# The same bytes twice, and from standard input as from a file.
cp "$folder/out" "$folder/first"
run info --json "$samples/dlrm-ddp-2ranks"
cmp -s "$folder/out" "$folder/first" || complain "two runs differ"
last="info - <bert"
"$sim" info - <"$samples/bert/et/rank-0.json.gz" >"$folder/out" ||
    complain "standard input is refused"
grep -q ' et ' "$folder/out" || complain "standard input is not told apart"

# Bad input: exit code 3, a message that names the file, no output.
bad_input() { # TEXT ARGUMENT...
    local text=$1
    shift
    run info "$@"
    want_rc 3
    want_no_out
    want_err "$text"
}

bad_input "$folder/absent.json: " "$folder/absent.json"
: >"$folder/empty.json"
bad_input "$folder/empty.json" "$folder/empty.json"
echo "this is no JSON" >"$folder/text.json"
bad_input "$folder/text.json:" "$folder/text.json"
mkdir "$folder/nothing"
bad_input "$folder/nothing" "$folder/nothing"
gzip -dc "$samples/bert/kineto/rank-0.json.gz" | head -c 30000 \
    >"$folder/cut.json"
bad_input "$folder/cut.json:30000: " "$folder/cut.json"
mkdir "$folder/twice"
cp "$samples/bert/et/rank-0.json.gz" "$folder/twice/a-rank-0.json.gz"
cp "$samples/bert/et/rank-0.json.gz" "$folder/twice/b-rank-0.json.gz"
run info "$folder/twice"
[ "$rc" -eq 2 ] || [ "$rc" -eq 3 ] || complain "exit code $rc"
want_no_out
want_err "b-rank-0.json.gz"
want_err "a-rank-0.json.gz"

# A part of a cut file is better than nothing, where that is asked for.
run info --salvage "$folder/cut.json"
want_rc 0
want_err "mystique-sim: warning: "
want_out "(broken: a part was salvaged)"

# Which ranks have no file, however large the job.
for rank in 1 3 4; do
    echo "{\"distributedInfo\": {\"rank\": $rank, \"world_size\": 4000000000}, \"traceEvents\": [
        {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]}" \
        >"$folder/of_many_$rank.json"
done
last="info of three of 4,000,000,000 ranks"
timeout 60 "$sim" info "$folder"/of_many_*.json >"$folder/out" 2>/dev/null || complain "exit code $?"
out=$(<"$folder/out")
want_out "traces of 3999999997 of the job's 4000000000 ranks: 0, 2, 5-3999999999"

finish
