#!/usr/bin/env bash
# Ranks that are equal are kept once: the answer is the same byte for byte as of
# ranks that are kept each, and ten times as many take no more memory.
. "$(dirname "$0")/lib.bash"
in_turn core/fold core/job core/graph core/report/analyse predict

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

# ranks FOLDER N FILE [MORE]: a job of N ranks, all of which are FILE, but for
# the numbers; MORE: and one that has an operator more.
ranks() {
    python3 - "$@" <<'PYTHON'
import gzip
import os
import re
import sys

folder, n, source = sys.argv[1], int(sys.argv[2]), sys.argv[3]
text = gzip.open(source, "rt").read()
os.mkdir(folder)
for rank in range(n + (len(sys.argv) > 4)):
    own = re.sub(r'("rank": *)\d+', rf"\g<1>{rank}", text, count=1)
    if rank == n:
        own = own.replace('"traceEvents": [', '"traceEvents": [{"ph": "X", '
                          '"cat": "cpu_op", "name": "more", "pid": 1, "tid": '
                          '1, "ts": 1, "dur": 1}, ', 1)
        assert own != text
    with open(f"{folder}/rank-{rank}.json", "w") as out:
        out.write(own)
PYTHON
}

# same JOB ARGUMENT...: with a timeline each rank is kept.
same() {
    local job=$1
    shift
    run predict "$@" --timeline "$folder/timeline.json" "$job"
    want_rc 0
    grep -v '"seconds"' "$folder/out" >"$folder/each"
    sort "$folder/err" >"$folder/each.err"
    run predict "$@" "$job"
    want_rc 0
    grep -v '"seconds"' "$folder/out" | diff "$folder/each" - >"$folder/diff" ||
        complain "ranks that are kept once: $(head -c 600 "$folder/diff")"
    sort "$folder/err" | diff "$folder/each.err" - >"$folder/diff" ||
        complain "other warnings: $(head -c 600 "$folder/diff")"
}

# peak ARGUMENT...: kilobytes at most.
peak() {
    last="$*"
    python3 - "$sim" "$@" <<'PYTHON'
import resource
import subprocess
import sys

subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}

# steady SMALL LARGE ARGUMENT...: LARGE has ten times as many ranks.
steady() {
    local small large
    small=$(peak "${@:3}" --threads 1 "$1")
    large=$(peak "${@:3}" --threads 1 "$2")
    awk -v small="${small:-0}" -v large="${large:-0}" \
        'BEGIN { exit !(small > 0 && large < 1.2 * small) }' ||
        complain "'$small' kB, and '$large' kB of ten times as many ranks"
}

sample=${SOURCE_DIR:?the source folder}/data/traces/dlrm-ddp-2ranks/kineto
ranks "$folder/job" 12 "$sample/rank-0.json.gz"
same "$folder/job" --platform a100 --json
same "$folder/job" --platform a100
same "$folder/job" --platform a100 --csv

# One that differs: the files of the others are what they were.
ranks "$folder/other" 12 "$sample/rank-0.json.gz" more
run info --json "$folder/job"
want_rc 0
want_out '"ranks": 12,'
cp "$folder/out" "$folder/equal"
run info --json "$folder/other"
want_rc 0
python3 - "$folder/equal" "$folder/out" <<'PYTHON' || complain "other files"
import json, os, sys
equal, other = (json.load(open(f)) for f in sys.argv[1:])
assert other["ranks"] == 13, other["ranks"]
assert len(equal["files"]) == 12
for a, b in zip(equal["files"], other["files"]):
    a["path"], b["path"] = map(os.path.basename, (a["path"], b["path"]))
    assert a == b, (a, b)
PYTHON

if [ -n "${MSIM_TRACES:-}" ]; then
    traces=$MSIM_TRACES/traces
    ranks "$folder/dlrm" 5 "$traces/dlrm-8xv100/kineto/rank-0.json.gz"
    ranks "$folder/rec" 10 "$traces/torchrec-4xv100/kineto/rank-1.json.gz"
    for job in dlrm rec; do
        same "$folder/$job" --json
        same "$folder/$job" --platform a100 --json
        same "$folder/$job" --costs model --platform v100
    done
fi

[ "${MSIM_SANITIZE:-0}" = 0 ] || { finish; exit; }
ranks "$folder/few" 30 "$sample/rank-0.json.gz"
ranks "$folder/many" 300 "$sample/rank-0.json.gz"
steady "$folder/few" "$folder/many" info
steady "$folder/few" "$folder/many" predict --platform a100

# A rank that takes longer than all others: the other thread does not read these
# meanwhile, for they would wait for their turn in memory.
python3 - "$folder/many/rank-0.json" <<'PYTHON'
import sys

path = sys.argv[1]
begin, rest = open(path).read().split('"traceEvents": [', 1)
mark = '{"ph": "M", "name": "process_labels", "pid": 1, "args": {}},\n'
with open(path, "w") as out:
    out.write(begin + '"traceEvents": [')
    for _ in range(200):
        out.write(mark * 10000)
    out.write(rest)
PYTHON
small=$(peak info --threads 1 "$folder/many")
large=$(peak info --threads 2 "$folder/many")
awk -v small="${small:-0}" -v large="${large:-0}" \
    'BEGIN { exit !(small > 0 && large < 2 * small) }' ||
    complain "'$small' kB with one thread, and '$large' kB with two"
finish
