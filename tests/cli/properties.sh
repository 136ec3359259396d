#!/usr/bin/env bash
# What must not matter does not: the order of events in a file and of files on
# the command line, the number of threads, and scales of 1. Same bytes, apart
# from the command itself. On a made-up trace full of ties, on samples, and on
# real traces where there are some.
. "$(dirname "$0")/lib.bash"
in_turn core

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
sim=$(realpath "$sim")
samples=${SOURCE_DIR:?the source folder}/data/traces

# spread SEED FOLDER FILE...: the files, their events shuffled (0: as they are)
spread() {
    python3 - "$@" <<'PYTHON'
import gzip, json, os, random, sys

seed, folder = int(sys.argv[1]), sys.argv[2]
os.makedirs(folder)
for path in sys.argv[3:]:
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt") as f:
        whole = json.load(f)
    events = whole if isinstance(whole, list) else whole["traceEvents"]
    if seed:
        random.Random(seed).shuffle(events)
    name = os.path.basename(path).removesuffix(".gz")
    with open(os.path.join(folder, name), "w") as f:
        json.dump(whole, f)
PYTHON
}

# Two threads launch to three streams in the same microseconds; kernels that
# take none, and two that end together before a third begins.
made_up() {
    python3 - >"$folder/made-up.json" <<'PYTHON'
import json

events, corr = [], 0

def add(cat, name, pid, tid, ts, dur, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid,
                   "tid": tid, "ts": ts, "dur": dur, "args": args})

for i in range(40):
    for thread in (1, 2):
        add("cpu_op", "aten::mm", 9, thread, 20 * i, 20)
        add("cpu_op", "aten::add", 9, thread, 20 * i, 20)
        for stream in (7, 20, 24):
            corr += 1
            add("cuda_runtime", "cudaLaunchKernel", 9, thread, 20 * i + stream
                % 5, 0 if stream == 24 else 1, correlation=corr)
            add("kernel", f"k{stream % 3}", 0, stream, 30 * i + 5,
                5 * (corr % 3), correlation=corr, device=0, stream=stream)
    corr += 1
    add("cuda_runtime", "cudaStreamSynchronize", 9, 1, 20 * i + 10, 9,
        correlation=corr)
print(json.dumps({"schemaVersion": 1, "traceEvents": events}))
PYTHON
}

# The report without the names of files, which are the command.
without_command() {
    python3 -c '
import json, sys
p = json.load(sys.stdin)
for key in ("settings", "inputs"):
    p.pop(key, None)
json.dump(p, sys.stdout, indent=1)' <"$folder/out" >"$1"
}

# same FILE WHAT: the last run's output, but for the command, is FILE
same() {
    without_command "$folder/now"
    cmp -s "$1" "$folder/now" || complain "$2: not the same bytes"
}

# check COSTS... -- FILE...
check() {
    local options=() files=() seed
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    for seed in 0 1 2; do
        spread "$seed" "$folder/$seed" "$@"
    done
    for file in "$@"; do
        file=${file##*/}
        files+=("${file%.gz}")
    done
    pushd "$folder/0" >/dev/null || exit 1
    run "${options[@]}" --json "${files[@]}"
    want_rc 0
    without_command "$folder/first"
    cp "$folder/out" "$folder/first.out"
    cp "$folder/err" "$folder/first.err"
    for threads in 1 2; do
        run "${options[@]}" --json --threads "$threads" "${files[@]}"
        same "$folder/first" "$threads threads"
    done
    run "${options[@]}" --json --scale kernels=1 --scale copies=1 \
        --scale communication=1 --scale host=1 --scale 'op:*=1' "${files[@]}"
    same "$folder/first" "scales of 1"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | tac)
    run "${options[@]}" --json "${files[@]}"
    same "$folder/first" "files in reverse"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | tac)
    for seed in 1 2; do
        cd "$folder/$seed" || exit 1
        run "${options[@]}" --json "${files[@]}"
        # records of one kind begin at another place in the file
        cmp -s <(sed 's/"byte": [0-9]*/"byte": 0/' "$folder/first.out") \
            <(sed 's/"byte": [0-9]*/"byte": 0/' "$folder/out") ||
            complain "events in another order ($seed): not the same bytes"
        cmp -s "$folder/first.err" "$folder/err" ||
            complain "events in another order ($seed): not the same messages"
    done
    popd >/dev/null || exit 1
    rm -rf "${folder:?}"/[012]
}

made_up
check --costs measured -- "$folder/made-up.json"
check --platform a100 -- "$samples"/dlrm-ddp-2ranks/kineto/*
# Slow, and nothing that the sanitizers would not see above.
if [ -n "${MSIM_TRACES:-}" ] && [ "${MSIM_SANITIZE:-0}" != 1 ]; then
    traces=$MSIM_TRACES/traces
    check --costs measured -- "$traces"/dlrm-8xv100/kineto/*
    check --costs model --platform v100 -- "$traces"/torchrec-4xv100/kineto/*
fi

finish
