#!/usr/bin/env bash
# bench.py.in, the part that all generated benchmarks share, around programs
# that were written by hand: each must certify itself as the model that it
# stands for and as no other. Skipped without PyTorch.
. "$(dirname "$0")/../torch.bash"
"$python" "$SOURCE_DIR/tests/replay/bench_runtime.py"

# What --profile wrote is read as any profile is.
"$MYSTIQUE_SIM" info --json step.et.json step.json.gz >info.json
"$python" - <<'PYTHON'
import json
files = json.load(open("info.json"))["files"]
assert sorted(f["format"] for f in files) == ["et", "kineto"], files
PYTHON
echo "bench_runtime: ok"
