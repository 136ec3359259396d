#!/usr/bin/env bash
# Several steps recorded by the code of docs/traces.md, one of them generated from
# the folder: by autograd, as many calls as from its execution trace, certified.
# Skipped without PyTorch.
. "$(dirname "$0")/../torch.bash"
"$python" "$SOURCE_DIR/tests/replay/recorded_steps.py" "$SOURCE_DIR/docs/traces.md"

# bench OPTION...: figures.json, and the exit code.
bench() {
    "$python" bench/bench.py --device cpu --iters 1 --warmup 0 --json --certify run \
        "$@" >figures.json 2>messages
}

"$MYSTIQUE_SIM" generate run -o bench 2>messages || { cat messages; exit 1; }
grep -q "backward by autograd" messages || { cat messages; exit 1; }
for trace in run run/et.json; do
    "$MYSTIQUE_SIM" generate --json "$trace" >"program-${trace##*/}"
done
cmp program-run program-et.json
bench --threads 1 || { cat figures.json messages; exit 1; }

# Attention has one buffer a thread: another number is no certificate, and the
# right one is named.
rc=0
bench --threads 3 || rc=$?
[ "$rc" -eq 1 ] || { echo "exit $rc, want 1"; cat figures.json messages; exit 1; }
"$python" - <<'PYTHON'
import json
f = json.load(open("figures.json"))
assert not f["certified"] and f["threads"] == 3 and f["threads_alike"] == 1, f
PYTHON

# What differs by more than threads gets no advice.
sed 's/aten::gelu(/aten::relu(/' run/et.json >other.json
rc=0
"$python" bench/bench.py --device cpu --threads 1 --iters 1 --warmup 0 --json \
    --certify other.json >figures.json || rc=$?
[ "$rc" -eq 1 ] && grep -q '"threads_alike": null' figures.json ||
    { cat figures.json; exit 1; }
echo "recorded_steps: ok"
