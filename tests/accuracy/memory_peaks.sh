#!/usr/bin/env bash
# Peaks of memory, predicted against measured by the captures of data/traces,
# and against the committed table. scripts/accuracy/memory_peaks.py --out
# tests/accuracy/memory_peaks.csv regenerates it.
set -euo pipefail

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "${SOURCE_DIR:?the source folder}/scripts/accuracy/memory_peaks.py" \
    --binary "${MYSTIQUE_SIM:?the program}" --check
