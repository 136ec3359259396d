#!/usr/bin/env bash
# Python's package (python/mystique_sim): its own tests, and its types where mypy
# is there. Without pytest it skips; tests that want PyTorch or pandas do so alone.
set -euo pipefail

. "$(dirname "$0")/../turn.bash"
in_turn python
python=${PYTHON:-python3}
[ "${MSIM_SANITIZE:-0}" != 1 ] || exit 77 # the program's tests are others
if ! "$python" -m pytest --version >/dev/null 2>&1; then
    echo "no pytest: skipped (pip install pytest)"
    exit 77
fi
cd "${SOURCE_DIR:?the source folder}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

export PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -q -rs -p no:cacheprovider --basetemp "$folder/tests" python/tests
if "$python" -m mypy --version >/dev/null 2>&1; then
    "$python" -m mypy --cache-dir "$folder/mypy"
else
    echo "no mypy: types are not looked at (pip install mypy)"
fi
