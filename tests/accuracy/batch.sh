#!/usr/bin/env bash
# One batch predicted from another, against recordings of both; other ways to
# train predicted from one step, against measured peaks of memory.
. "$(dirname "$0")/lib.bash"

exec python3 "$source_dir/scripts/accuracy/batch.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" \
    --capture "$source_dir/tests/accuracy/resnet50_adam.et.json.gz"
