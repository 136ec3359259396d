#!/usr/bin/env bash
# What a GPU measured is predicted as far off as when it was measured: timed rows and
# captured jobs in gpu/, which scripts/on_gpu.sh finish wrote.
set -euo pipefail

folder=${SOURCE_DIR:?the source folder}/tests/accuracy/gpu
if [ ! -f "$folder/held.csv" ]; then
    echo "no GPU was measured yet: skipped"
    exit 77
fi
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "$SOURCE_DIR/scripts/gpu/held.py" --check "$folder" \
    --binary "${MYSTIQUE_SIM:?the program}"
