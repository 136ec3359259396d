#!/usr/bin/env bash
# What calibrate --from learns of a machine holds for traces that it did not see.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/learned.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" \
    --check "$source_dir/tests/accuracy/learned.csv"
