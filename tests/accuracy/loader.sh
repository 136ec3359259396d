#!/usr/bin/env bash
# A run really made, predicted from another: its data loader replaced.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/loader.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
