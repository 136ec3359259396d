#!/usr/bin/env bash
# From nothing to a prediction: set up, build, and say how long a recorded
# ResNet training step would take on an A100, with a chart of where it goes.
# What only predicts needs few libraries, and that is what is set up and built.
#
#   scripts/demo.sh [TRACE] [PLATFORM]   [default: data/traces/resnet a100]
set -euo pipefail

trace=$(realpath -- "${1:-$(dirname "$0")/../data/traces/resnet}")
platform=${2:-a100}
cd "$(dirname "$0")/.."

build=$PWD/build-predictor
scripts/setup.sh --predictor
cmake --preset predictor
cmake --build --preset predictor --parallel "$(nproc)"

chart=$build/chart.svg
echo
(
    set -x
    "$build/mystique-sim" --platform "$platform" --chart "$chart" "$trace"
)
echo
echo "chart: $chart"
echo "program: $build/mystique-sim (try --help)"
