#!/usr/bin/env bash
# How busy SMs are in every real trace that records it, against the committed
# table. scripts/accuracy/sm_use.py --out tests/accuracy/sm_use.csv regenerates
# it.
. "$(dirname "$0")/lib.bash"
in_turn predict/groups

exec python3 "$source_dir/scripts/accuracy/sm_use.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --check
