#!/usr/bin/env bash
# Work over a second shows progress on a terminal, and none in a pipe.
. "$(dirname "$0")/lib.bash"

trace=${SOURCE_DIR:?the source folder}/data/traces/bert/kineto/rank-0.json.gz
gzip -dc "$trace" >"$folder/trace.json"

# A trace that takes more than a second to arrive.
cat >"$folder/slow" <<SLOW
{ head -c 100000 '$folder/trace.json'; sleep 1.2
  tail -c +100001 '$folder/trace.json'; } | '$sim' info -
SLOW

last="info - <slowly"
bash "$folder/slow" >"$folder/out" 2>&1 || complain "failed"
! grep -q 'reading' "$folder/out" || complain "progress in a pipe"

if ! command -v script >/dev/null; then
    echo "no terminal to be had (no 'script' command): that part is skipped"
else
    # Of many files their number is shown.
    sed "s|'$sim' info -|'$sim' select - '$trace'|" "$folder/slow" \
        >"$folder/slow_fleet"
    TERM=xterm script -qec "bash '$folder/slow_fleet'" "$folder/typed" \
        >/dev/null 2>&1 || complain "failed on a terminal"
    grep -q 'mystique-sim: reading: 1 of 2 files' "$folder/typed" ||
        complain "no number of files on a terminal"
    for term in xterm dumb; do
        TERM=$term script -qec "bash '$folder/slow'" "$folder/typed" \
            >/dev/null 2>&1 || complain "failed on a terminal"
        if [ $term = xterm ]; then
            grep -q 'mystique-sim: reading: ' "$folder/typed" ||
                complain "no progress on a terminal"
        else
            ! grep -q 'reading' "$folder/typed" ||
                complain "progress on a terminal that cannot overwrite"
        fi
    done
fi

finish
