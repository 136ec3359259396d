#!/usr/bin/env bash
# Predicted against measured over real traces: the means that the README
# promises. scripts/accuracy/accuracy.py --out tests/accuracy/traces.csv regenerates the
# committed table.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/accuracy.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --check
