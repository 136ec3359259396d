#!/usr/bin/env bash
# Predicted against measured over real traces: the means that the README
# promises, and every figure as committed, to the last digit. A change that is
# meant to move them regenerates the tables, and its commit says which rows moved
# and why:
#
#     scripts/accuracy/accuracy.py --traces FOLDER --out tests/accuracy/traces.csv
. "$(dirname "$0")/lib.bash"
in_turn

committed=$source_dir/tests/accuracy
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 "$source_dir/scripts/accuracy/accuracy.py" --traces "$MSIM_TRACES" \
    --binary "${MYSTIQUE_SIM:?the program}" --out "$folder/traces.csv" --check
moved=0
for table in traces families; do
    diff "$committed/$table.csv" "$folder/$table.csv" || {
        echo "'tests/accuracy/$table.csv' is not what the traces give (<:" \
            "committed, >: now)"
        moved=1
    }
done
exit $moved
