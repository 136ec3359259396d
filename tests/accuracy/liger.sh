#!/usr/bin/env bash
# Layers and losses that others timed: predictions of programs that are recorded
# again are those of the committed table, whose errors are as low as promised.
# To make the table again, for instance after a law has changed:
#
#     scripts/accuracy/liger.py --kernels FOLDER --out tests/accuracy/liger.csv
. "$(dirname "$0")/lib.bash"
in_turn models data/laws data/platforms

kernels=$MSIM_TRACES/kernels
if [ ! -d "$kernels" ]; then
    echo "no folder of programs '$kernels': skipped"
    exit 77
fi
exec python3 "$source_dir/scripts/accuracy/liger.py" --kernels "$kernels" \
    --binary "${MYSTIQUE_SIM:?the program}" \
    --check "$source_dir/tests/accuracy/liger.csv"
