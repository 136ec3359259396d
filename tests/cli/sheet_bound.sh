#!/usr/bin/env bash
# No time of `op` is below what the data sheet allows, on any shipped platform:
# 200 random rows of each table and platform (59,000); 10,000 are
#   tests/cli/sheet_bound.py build/mystique-sim data/platforms 10000
. "$(dirname "$0")/lib.bash"

python3 "$(dirname "$0")/sheet_bound.py" "$sim" "${SOURCE_DIR:?}/data/platforms" \
    "${MSIM_SHEET_ROWS:-200}" || complain "times below a data sheet"
finish
