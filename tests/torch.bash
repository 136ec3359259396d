# Shared by the tests that run PyTorch: skip without it; a folder of their own.

set -euo pipefail

python=${PYTHON:-python3}
# Python's own memory is not what the sanitizers are to look at.
[ "${MSIM_SANITIZE:-0}" != 1 ] || exit 77
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch: skipped (pip install torch==2.13.0)"
    exit 77
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"
