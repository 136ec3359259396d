#!/usr/bin/env bash
# What every dependency rule is worth on the real traces, against the
# committed table. scripts/dependencies.py removal --out
# tests/accuracy/removal.csv regenerates it.
set -euo pipefail

if [ -z "${MSIM_TRACES:-}" ]; then
    echo "no folder of real traces (CMake variable MSIM_TRACES): skipped"
    exit 77
fi
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
dependencies() {
    python3 "${SOURCE_DIR:?the source folder}/scripts/dependencies.py" "$@" \
        --traces "$MSIM_TRACES" --build "${BUILD_DIR:?the build folder}"
}

dependencies removal --check
