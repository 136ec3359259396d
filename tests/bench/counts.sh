#!/usr/bin/env bash
# What the program does takes as many instructions as counts.csv says, within a
# few percent: no commit loses speed unseen. How, and how to write the file
# again: scripts/bench/speed.py.
set -euo pipefail
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
exec python3 "${SOURCE_DIR:?the source folder}/scripts/bench/speed.py" check
