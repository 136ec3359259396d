#!/usr/bin/env bash
# Steps that a replay of topmost operators on random tensors does not get
# through, each traced here, generated, and certified as what was traced.
# Skipped without PyTorch.
. "$(dirname "$0")/../torch.bash"
"$python" "$SOURCE_DIR/tests/replay/closed_steps.py"

for trace in *.et.json; do
    name=${trace%.et.json}
    "$MYSTIQUE_SIM" generate "$trace" -o "$name" 2>messages ||
        { cat messages; exit 1; }
    "$python" "$name/bench.py" --device cpu --threads 1 --iters 2 --warmup 1 --json \
        --certify "$trace" >figures.json || { cat figures.json; exit 1; }
    "$python" - "$name" <<'PYTHON'
import json, sys
f = json.load(open("figures.json"))
assert f["certified"] and f["coverage"] == 1 and f["finite"], (sys.argv[1], f)
print(f"{sys.argv[1]}: {f['leaf_operators']} leaf operators equal")
PYTHON
done

# An operator that this PyTorch lacks is named, and counts as not run.
sed 's/aten::tanh/aten::no_such_op/g' index_put.et.json >lacks.et.json
"$MYSTIQUE_SIM" generate lacks.et.json -o lacks 2>/dev/null
rc=0
"$python" lacks/bench.py --device cpu --threads 1 --iters 1 --warmup 0 --json \
    >figures.json 2>messages || rc=$?
grep -q no_such_op figures.json messages || { cat figures.json messages; exit 1; }
echo "closed_steps: ok (an operator that is lacking: exit $rc)"
