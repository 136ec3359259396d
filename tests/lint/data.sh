#!/usr/bin/env bash
# Platform and host files: every parameter says where it came from.
. "$(dirname "$0")/lib.bash"

if ! command -v python3 >/dev/null; then
    echo "no python3: skipped"
    exit 77
fi
python3 scripts/check_data.py
scripts/platform_names.py --check
