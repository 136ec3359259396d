#!/usr/bin/env bash
# One batch predicted from another, against recordings of both.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/batch.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
