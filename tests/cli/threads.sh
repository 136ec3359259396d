#!/usr/bin/env bash
# --threads: files of a job, and jobs of a fleet, are read by several, with the
# same bytes, warnings and errors as by one.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces

# alike RC VERB ARG...: with 1, 2, 3 and 8 threads.
alike() {
    local rc=$1 verb=$2 n
    shift 2
    for n in 1 2 3 8; do
        run "$verb" --threads "$n" "$@"
        want_rc "$rc"
        [ "$n" != 1 ] || { cp "$folder/out" "$folder/one" && one=$err; }
        cmp -s "$folder/out" "$folder/one" || complain "$n threads print else"
        [ "$err" = "$one" ] || complain "$n threads say else: $err"
    done
}

job=$samples/dlrm-ddp-2ranks
alike 0 info --json "$job"
alike 0 predict --json "$job"
alike 0 select --json "$samples"
alike 0 compare --json "$job" "$job"

# Where files have texts that others lack, and each its own number of them.
mkdir "$folder/ranks"
for i in 0 1 2 3 4 5; do
    printf '{"distributedInfo": {"rank": %d, "world_size": 6}, "traceEvents": [' \
        $i >"$folder/ranks/$i.json"
    for name in $(seq 0 $((i * 7 % 6))); do
        printf '{"ph": "X", "cat": "cpu_op", "name": "op-%d-%d", "pid": 1,
            "tid": 1, "ts": %d, "dur": 9, "args": {}},' \
            "$i" "$name" $((10 * name)) >>"$folder/ranks/$i.json"
    done
    echo '{"ph": "X", "cat": "odd", "name": "x", "pid": 1, "tid": 1, "ts": 99}]}' \
        >>"$folder/ranks/$i.json"
done
alike 0 info --json "$folder/ranks"
want_out '"name": "odd"'
alike 0 predict --json "$folder/ranks"

# Of several bad files the first is told, though a later one is shorter.
cp -r "$job/kineto" "$folder/bad"
gzip -dc "$job/kineto/rank-0.json.gz" | head -c 70000 \
    >"$folder/bad/rank-2.json"
echo '{"traceEvents": [}' >"$folder/bad/rank-3.json"
alike 3 info "$folder/bad"
want_err "bad/rank-2.json:"
alike 3 predict "$folder/bad" "$folder/none"
want_err "none: cannot open"
# In a fleet all of them are left out, in order.
alike 0 select --json "$folder/bad" "$samples/bert"
want_err "left out $folder/bad/rank-3.json: "
want_out '"left_out": ['

# Pipes, which may be one, are read one after the other.
for n in 1 3; do
    run info --threads $n --json - - <"$job/kineto/rank-0.json.gz"
    want_rc 3
    want_err "-:0: is empty, want an ET"
done

# A path that is a pipe is not looked into before it is read.
run info --json <(cat "$job/kineto/rank-0.json.gz")
want_rc 0
want_out '"format": "kineto"'

finish
