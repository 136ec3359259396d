#!/usr/bin/env bash
# Random what-ifs over every real trace with times: none ends before its work,
# and none takes longer where a cost goes down. 1,000 in all, or as many as an
# argument says; 10,000 take minutes.
. "$(dirname "$0")/lib.bash"
in_turn core/run predict/edit

python3 "$source_dir/scripts/accuracy/whatifs.py" --traces "$MSIM_TRACES" \
    --build "${BUILD_DIR:?the build folder}" --number "${1:-1000}"
