#!/usr/bin/env bash
# Memory techniques added one by one: sign and size of what each changes, as
# torchtune measured it, and absolute errors as committed. A change that is
# meant to move them writes the table again, and its commit says why:
#
#     scripts/accuracy/ladder.py FOLDER --out tests/accuracy/ladder.csv
. "$(dirname "$0")/lib.bash"

[ -r "$MSIM_TRACES/jobs/torchtune_ladder.csv" ] || { echo "no jobs: skipped"; exit 77; }
exec python3 "$source_dir/scripts/accuracy/ladder.py" "$MSIM_TRACES" \
    --binary "${MYSTIQUE_SIM:?the program}" --check
