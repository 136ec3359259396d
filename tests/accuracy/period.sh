#!/usr/bin/env bash
# The period of every real job, simulated against traced, and against the
# committed table. scripts/accuracy/period.py --out tests/accuracy/period.csv
# regenerates it.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/period.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --check
