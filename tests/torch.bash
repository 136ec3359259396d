# Shared by the tests that run PyTorch: skip without it; a folder of their own. To
# start it takes two seconds, hence turns where nothing changed of what it runs, nor
# below the paths that are given.

set -euo pipefail

python=${PYTHON:-python3}
. "${SOURCE_DIR:?the source folder}/tests/turn.bash"
in_turn scripts/capture scripts/capture.py profilers/torch replay tests/replay \
    tests/kernels "$0" "$@"
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch: skipped (pip install torch==2.13.0)"
    exit 77
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"
