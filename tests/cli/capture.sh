#!/usr/bin/env bash
# capture.py, end to end, on models of a few thousand weights: both files of
# each rank, joined by record function ids, nothing of this machine in them,
# and a program that reads them. Skipped without PyTorch.
# shellcheck source=tests/torch.bash
source "${SOURCE_DIR:?the source folder}/tests/torch.bash"
capture=$SOURCE_DIR/scripts/capture.py

fail() {
    echo "capture: $*" >&2
    exit 1
}

# capture NAME OPTION...: into $out/NAME, quietly unless it fails.
capture() {
    local name=$1
    shift
    "$python" "$capture" --out "$out/$name" --timed 2 --warmup 1 "$@" \
        >"$name.log" 2>&1 || {
        cat "$name.log" >&2
        fail "'$*' failed"
    }
}

capture train --model bert --layers 1 --width 64 --seq 8 --vocab 50 \
    --batch 2 --steps 2
capture infer --model vit --layers 1 --width 64 --image 32 --batch 1 \
    --steps 1 --precision bf16 --inference --no-ranges --pin-malloc
capture ranks --model dlrm --layers 1 --tables 2 --rows 20 --batch 4 \
    --steps 1 --ranks 2

"$python" - "$HOSTNAME" "$out" <<'PYTHON' || fail "wrong files"
import glob, gzip, json, os, sys

host, out = sys.argv[1:]


def load(path):
    with gzip.open(path, "rt") as file:
        text = file.read()
    for word in (out, os.path.expanduser("~/"), f'"{host}"'):
        assert word not in text, f"{path} names this machine: {word}"
    return json.loads(text)


def pair(job, rank):
    name = f"rank-{rank}.json.gz"
    et = load(f"{out}/{job}/et/{name}")
    kineto = load(f"{out}/{job}/kineto/{name}")
    ids = {a["value"]: node["name"] for node in et["nodes"]
           for a in node["attrs"] if a["name"] == "rf_id" and a["value"]}
    ops = {e["args"]["Record function id"]: e["name"]
           for e in kineto["traceEvents"]
           if "Record function id" in e.get("args", {})}
    assert len(ops) > 50, f"{job}: {len(ops)} operators"
    # gloo ends its records on threads of its own: now and then one of them
    # reaches the profiler only.
    wrong = [op for i, op in ops.items()
             if ids.get(i) != op and not op.startswith("gloo:")]
    assert not wrong, f"{job}: operators without their ET node: {wrong}"
    return et, kineto


def steps(kineto):
    return [e["name"] for e in kineto["traceEvents"]
            if e.get("cat") == "user_annotation"
            and e["name"].startswith("ProfilerStep#")]


def meta(job):
    with open(f"{out}/{job}/meta.json") as file:
        return json.load(file)


def ranges(et, name=None):
    """What tensor_range says of each node of this name, or of all."""
    texts = [a["value"] for node in et["nodes"] for a in node["attrs"]
             if name in (None, node["name"]) and a["name"] == "tensor_range"]
    return [json.loads(text) if text else {} for text in texts]


def names(et):
    return {node["name"] for node in et["nodes"]}


et, kineto = pair("train", 0)
assert steps(kineto) == ["ProfilerStep#1", "ProfilerStep#2"], steps(kineto)
assert "aten::addmm" in names(et) and "aten::native_layer_norm_backward" in \
    names(et) and any("AdamW" in name for name in names(et))
about = meta("train")
assert about["options"]["width"] == 64 and about["device"] == "cpu"
rank, = about["ranks"]
assert len(rank["step_ms"]) == 2 and len(rank["step_ms_recorded"]) == 2
assert len(rank["minor_faults"]) == 2 and min(rank["minor_faults"]) >= 0
assert about["options"]["ranges"] and not about["options"]["pin_malloc"]
# Weights, gradients and two moments, 4 bytes each, at the least.
assert rank["peak_memory"]["bytes"] > 16 * 50000, rank["peak_memory"]

# Tokens are among the 50 that are known; inputs count from the weights on.
tokens = [r["1"] for r in ranges(et, "aten::embedding")]
assert tokens and all(0 <= low <= high < 50 for low, high in tokens), tokens

et, kineto = pair("infer", 0)
assert not any(ranges(et)), "ranges that were not wanted"
assert meta("infer")["options"]["pin_malloc"]
assert not any("Backward" in name for name in names(et)), "a backward pass"
assert any("c10::BFloat16" in type for node in et["nodes"]
           for type in node["outputs"]["types"]), "nothing in bf16"

for rank in range(2):
    et, kineto = pair("ranks", rank)
    assert kineto["distributedInfo"]["rank"] == rank
    assert "c10d::allreduce_" in names(et)
    assert "## process_group:init ##" in names(et)
assert [r["rank"] for r in meta("ranks")["ranks"]] == [0, 1]
PYTHON

# Options that make no sense are refused before any work.
for options in "--model vit --seq 3" "--model vit --precision tf32" \
    "--model vit --batch 0" "--model resnet50 --layers 51" \
    "--model vit --ranks 0" "--model none"; do
    status=0
    # shellcheck disable=SC2086 # several words
    "$python" "$capture" --out "$out/no" $options 2>/dev/null || status=$?
    [ "$status" -eq 2 ] || fail "'$options' exits $status, want 2"
done
[ ! -e "$out/no" ] || fail "a refused run left files"

for job in train infer ranks; do
    "$MYSTIQUE_SIM" info --json "$out/$job/et" "$out/$job/kineto" \
        >"$job.json" || fail "info refuses '$job'"
    "$python" - "$job.json" "$job" <<'PYTHON' || fail "info is wrong on '$job'"
import json, sys
files = json.load(open(sys.argv[1]))["files"]
ranks = 2 if sys.argv[2] == "ranks" else 1
assert len(files) == 2 * ranks, files
for format in ("et", "kineto"):
    assert sorted(f["rank"] for f in files if f["format"] == format) == \
        list(range(ranks)), files
PYTHON
done
echo "capture: ok"
