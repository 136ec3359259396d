#!/usr/bin/env bash
# Small recordings with each record, each member of one and each word put otherwise: what
# is read of them, what is said, and when everything runs.
. "$(dirname "$0")/answers.bash"
in_turn core/read core/stream core/trace core/link core/match core/job core/graph core/run
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)

for kind in gpu ranks nodes chakra words clocks pairs streams forms edges; do
    python3 "$here/odd_records.py" "$sim" $kind >"$folder/said" || complain "odd_records.py $kind"
    hold "read_$kind"
done
finish
