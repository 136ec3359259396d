#!/usr/bin/env bash
# A run really made, predicted from another: its all-to-alls in half precision.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/quantised.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
