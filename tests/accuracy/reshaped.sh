#!/usr/bin/env bash
# Models changed to other depths and widths, against captures of those.
. "$(dirname "$0")/lib.bash"
in_turn core/rewrite core/reshape core/sizes

python=${PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch: skipped"; exit 77; }
OMP_NUM_THREADS=1 exec "$python" "$source_dir/scripts/accuracy/reshaped.py" --check \
    --binary "${MYSTIQUE_SIM:?the program}"
