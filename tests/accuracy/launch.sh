#!/usr/bin/env bash
# Sizes that launches tell, against shapes: within the spread that the model
# states for them.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/launch_spread.py" --traces "$MSIM_TRACES" \
    --launch "${BUILD_DIR:?the build folder}/tests/launch_spread" --check
