#!/usr/bin/env bash
# Intervals of whole jobs, each judged without its program: the shipped spreads
# and every figure as committed, to the last digit. A change that is meant to
# move them makes both files again, and its commit says why:
#
#     scripts/accuracy/job_spread.py --traces FOLDER --update
. "$(dirname "$0")/lib.bash"
in_turn

exec python3 "$source_dir/scripts/accuracy/job_spread.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --check
