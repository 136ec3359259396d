#!/usr/bin/env bash
# Served models against measured ones: closed loops, a run of vLLM, runs below
# the knee.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/serving_rows.py" --check \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
