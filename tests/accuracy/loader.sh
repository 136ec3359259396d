#!/usr/bin/env bash
# A run really made, predicted from another: its data loader replaced.
set -euo pipefail

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of real traces (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "${SOURCE_DIR:?the source folder}/scripts/loader.py" \
    --traces "$MSIM_TRACES" --binary "${MYSTIQUE_SIM:?the program}"
