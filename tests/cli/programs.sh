#!/usr/bin/env bash
# generate --json: the program of a trace is one that can run, whatever it is of, and
# what is written as files is that program. Without PyTorch: generate.sh runs them.
. "$(dirname "$0")/lib.bash"

command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

for trace in "${MSIM_DATA:?the data folder}"/traces/*/; do
    run generate "$trace" --json
    want_rc 0
    cp "$folder/out" "$folder/program.json"
    run generate "$trace" --json --no-loops
    want_rc 0
    cp "$folder/out" "$folder/flat.json"
    [[ $trace != *ranks* ]] || continue # each of which has a file
    run generate "$trace" -o "$folder/bench"
    want_rc 0
    python3 - "$folder" <<'PYTHON' || complain "the program of $trace is none"
import ast, json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
program, flat, data = (json.loads((folder / name).read_text()) for name in (
    "program.json", "flat.json", "bench/data.json"))
statements, outside = program["statements"], program["outside"]

# What a statement reads was made before, is from outside, or is a gradient.
values, used = 0, set()


def leaves(inputs):
    for i in inputs:
        if isinstance(i, list) and i and isinstance(i[0], str):
            yield i
        elif isinstance(i, list):
            yield from leaves(i)


for s in statements:
    for what, *which in leaves(s["inputs"]):
        if what == "value":
            assert 0 <= which[0] < values, s
        if what == "outside":
            assert 0 <= which[0] < len(outside), s
            used.add(which[0])
        if what == "gradient":
            assert 0 <= which[0] < program["gradients"], s
    for o in s["outputs"]:
        assert o == values, s
        values += 1
    assert s["recorded"] in (True, False), s
nodes = [s["node"] for s in statements]
assert nodes == sorted(nodes) and len(set(nodes)) == len(nodes)
assert used == set(range(len(outside))), set(range(len(outside))) - used

# A loop runs what is there so often, one after the other.
end = 0
for loop in program["loops"]:
    first, n, runs = loop["first"], loop["statements"], loop["runs"]
    assert first >= end and runs >= 2 and n >= 1, loop
    end = first + n * runs
    assert end <= len(statements), loop
    for i in range(first, end):
        assert statements[i]["operator"] == statements[first + (i - first) % n]["operator"], loop
assert flat["statements"] == statements and not flat["loops"]

# The files are of that program, and Python reads them.
names = {f"{s['operator']}.{s['overload'] or 'default'}" for s in statements if "overload" in s}
assert set(data["operators"]) == names, names ^ set(data["operators"])
assert data["coverage"]["selected"] == len(statements) + len(program["left_out"])
assert data["coverage"]["emitted"] == len(statements)
assert data["form"] == program["form"] and data["inferred"] == program["inferred"]
assert [t["shape"] for t in data["tensors"]] == [o["shape"] for o in outside]
torch = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
assert [t["dtype"] for t in data["tensors"]] == [
    torch.get(o["dtype"], o["dtype"]) for o in outside]
assert [t["role"] for t in data["tensors"]] == [o["role"] for o in outside]
bench = (folder / "bench/bench.py").read_text()
ast.parse(bench)
for name in names:
    space, rest = name.split("::")
    assert f"{space}.{rest}(" in bench, name
PYTHON
done
finish
