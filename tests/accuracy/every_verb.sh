#!/usr/bin/env bash
# Three predictions of every real trace, and of every folder of ranks: figures
# that cannot be. Without --quick the script goes through every verb and cost
# mode.
. "$(dirname "$0")/lib.bash"
in_turn

exec python3 "$source_dir/scripts/accuracy/every_verb.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --quick
