#!/usr/bin/env bash
# Record data/traces again: small models of the real architectures, one step
# each, on the CPU. Widths, batches and images stay near full size (they cost
# no bytes in a trace); depths and tables are cut down.
#
#   scripts/capture/capture_samples.sh [DIR]       [default: data/traces]
#
# PYTHON names a Python that has PyTorch [default: python3].
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/data/traces}
python=${PYTHON:-python3}

sample() {
    local name=$1
    shift
    echo "$name: capture.py $*"
    rm -rf "${out:?}/$name"
    "$python" "$root/scripts/capture.py" --steps 1 --warmup 2 --timed 5 \
        --out "$out/$name" "$@"
}

sample resnet --model resnet50 --layers 26 --batch 8
sample vit --model vit --layers 1 --batch 8 --precision bf16
sample bert --model bert --layers 1 --batch 8 --vocab 30522
sample gpt2 --model gpt2 --layers 1 --batch 2 --seq 512
sample dlrm --model dlrm --tables 4 --batch 512
sample llama-block --model llama --width 1024 --seq 512 --vocab 8000 \
    --precision bf16
sample dlrm-ddp-2ranks --model dlrm --layers 1 --tables 2 --rows 10000 \
    --batch 512 --ranks 2
