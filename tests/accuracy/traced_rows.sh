#!/usr/bin/env bash
# Measured trainings of one model, each predicted from one captured step.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/traced_rows.py" --check \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
