#!/usr/bin/env bash
# README.md's tables of accuracy are what the committed figures say.
. "$(dirname "$0")/lib.bash"

if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
python3 scripts/accuracy_readme.py --check
