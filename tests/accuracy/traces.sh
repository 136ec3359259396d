#!/usr/bin/env bash
# Predicted against measured over real traces: the means that the README
# promises. scripts/accuracy.py --out tests/accuracy/traces.csv regenerates the
# committed table.
set -euo pipefail

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of real traces (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "${SOURCE_DIR:?the source folder}/scripts/accuracy.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}" --check
