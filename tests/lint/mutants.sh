#!/usr/bin/env bash
# The lists of mutants: each text is once in its file, each test of a room is there.
. "$(dirname "$0")/lib.bash"

if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
scripts/mutants.py --check
