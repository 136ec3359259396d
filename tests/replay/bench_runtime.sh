#!/usr/bin/env bash
# bench.py.in, the part that all generated benchmarks share, around programs
# that were written by hand: each must certify itself as the model that it
# stands for and as no other. Skipped without PyTorch.
set -euo pipefail

python=${PYTHON:-python3}
helper=$SOURCE_DIR/tests/replay/bench_runtime.py
# Python's own memory is not what the sanitizers are to look at.
[ "${MSIM_SANITIZE:-0}" != 1 ] || exit 77
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch: skipped (pip install torch==2.13.0)"
    exit 77
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out"

fail() {
    echo "bench_runtime: $*" >&2
    exit 1
}

# bench RC NAME OPTION...: run it quickly; $said is what it printed, $why the rest.
bench() {
    local want=$1 name=$2 rc=0
    shift 2
    said=$("$python" "$name/bench.py" --iters 2 --warmup 1 --threads 1 "$@" \
        2>err) || rc=$?
    why=$(<err)
    [ "$rc" -eq "$want" ] || fail "$name $*: exit code $rc, want $want: $said $why"
}

holds() { # TEXT PART
    [[ $1 == *"$2"* ]] || fail "no '$2' in: $1"
}

for model in adamw sgd; do
    "$python" "$helper" record "$model" "$model.json" 2>record.log ||
        fail "recording: $(<record.log)"
    "$python" "$helper" write "$model" "$model"
    bench 0 "$model" --certify "$model.json"
    holds "$said" "operators are equal, and the topmost ones"
    [ -z "$why" ] || fail "noise: $why"
done

# Both layouts of an ET, packed and not.
"$python" "$helper" flat adamw.json flat.json
gzip -k flat.json
bench 0 adamw --certify flat.json.gz
holds "$said" "certified"

# The first difference: the node of the trace, and both operators.
bench 1 adamw --certify sgd.json
holds "$said" "leaf operator 48 (node "
holds "$said" "the benchmark ran 'aten::copy_'"
holds "$said" "Tensor(long)"

# One JSON object, and the profile of a step with its ET, which certifies.
bench 0 sgd --json --certify sgd.json --profile step.json.gz
"$python" - "$said" <<'PYTHON' || fail "wrong figures"
import json, sys
r = json.loads(sys.argv[1])
assert r["ms_low"] <= r["ms"] <= r["ms_high"] and r["cpu_ms"] > 0, r
assert r["certified"] is True and r["topmost_equal"] and r["finite"], r
assert r["difference"] is None and r["coverage"] == 17 / 18, r
assert r["leaf_operators"] == 63 and r["device"] == "cpu", r
# Parameters, momenta, gradients, batch: 4 bytes each, and targets of 8.
assert 4 * (3 * 212 + 48) + 48 < r["peak_bytes"] < 2 * 4 * (3 * 212 + 48), r
PYTHON
"$MYSTIQUE_SIM" info --json step.et.json step.json.gz >info.json ||
    fail "info refuses what --profile wrote"
grep -q kineto info.json || fail "no profile: $(<info.json)"
"$python" "$helper" write sgd again step.et.json
bench 0 again --certify step.et.json

# Input that is not what it should be.
echo '{"traceEvents": []}' >kineto.json
bench 2 sgd --certify kineto.json
holds "$why" "'kineto.json' is not the execution trace"
bench 2 sgd --certify none.json
bench 2 sgd --plugin none.py
holds "$why" "cannot open 'none.py'"
bench 2 sgd --iters 0
"$python" -c 'import torch; torch.cuda.is_available() and exit(1)' &&
    bench 2 sgd --device cuda

"$python" "$helper" forms || fail "tensors, custom operators or values"
echo "bench_runtime: ok"
