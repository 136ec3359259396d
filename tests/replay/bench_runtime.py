"""Small models and their traces, and what a generator would write for them, here
by hand. bench_runtime.sh runs it in an empty folder."""
import contextlib
import gzip
import io
import json
import os
import pathlib
import runpy
import shutil
import subprocess
import sys

import torch
from torch.profiler import (ExecutionTraceObserver, ProfilerActivity, profile,
                            schedule)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EMIT, METER = SOURCE / "replay/emit", SOURCE / "scripts/capture/meter.py"
BATCH, WIDTHS = 6, (8, 16, 4)


# ---- benchmarks ------------------------------------------------------------

def describe(**more):
    return {"title": "by hand", "form": "direct", "gpu": False, "world": 1,
            "tensors": [], "parameters": [], "operators": [], "step": None,
            "nodes": None, **more,
            "coverage": {"emitted": 17, "selected": 18, "device_time": None,
                         "left_out": [{"node": 7, "name": "my::op\x1b[31m",
                                       "reason": "unknown"}]}}


def write(folder, program, **about):
    text = (EMIT / "bench.py.in").read_text(encoding="utf-8")
    for place, lines in (("@TITLE@", "By hand"), ("@PROGRAM@", program.strip()),
                         ("@CONSTANTS@", f"BATCH = {BATCH}\nREPEAT = 1")):
        assert text.count(place) == 1, f"{place}: {text.count(place)} times"
        text = text.replace(place, lines)
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    (folder / "bench.py").write_text(text, encoding="utf-8")
    (folder / "data.json").write_text(json.dumps(describe(**about)),
                                      encoding="utf-8")
    shutil.copy(METER, folder)


def bench(folder, *options):
    """Exit code, what was printed and what was complained of."""
    out, err, code = io.StringIO(), io.StringIO(), None
    argv, sys.argv = sys.argv, ["bench.py", "--threads", "1", "--iters", "2",
                                "--warmup", "1", *options]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            runpy.run_path(f"{folder}/bench.py", run_name="__main__")
        except SystemExit as end:
            code = end.code
    sys.argv = argv
    return code, out.getvalue(), err.getvalue()


def expect(code, said, folder, *options):
    got, out, err = bench(folder, *options)
    assert got == code and said in out + err, \
        f"{folder} {options}: exit code {got}, want {code} and '{said}': " \
        f"{out}{err}"
    return out


# ---- a model ---------------------------------------------------------------

def record(optimizer, path):
    """Three steps, two of them in the trace."""
    model = torch.nn.Sequential(
        torch.nn.Linear(*WIDTHS[:2]), torch.nn.ReLU(), torch.nn.Dropout(0.1),
        torch.nn.Linear(*WIDTHS[1:]))
    optimizer = {
        "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3),
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    }[optimizer](model.parameters())
    batch = torch.randn(BATCH, WIDTHS[0])
    target = torch.randint(WIDTHS[-1], (BATCH,))
    observer = ExecutionTraceObserver()
    observer.register_callback(path)
    with profile(activities=[ProfilerActivity.CPU],
                 schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
                 execution_trace_observer=observer) as prof:
        for _ in range(3):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(batch), target)
            loss.backward()
            optimizer.step()
            prof.step()
    observer.unregister_callback()


FORWARD = '''
aten = torch.ops.aten


def forward():
    h = aten.linear.default(X[4], X[0], X[1])
    h = aten.relu.default(h)
    h = aten.dropout.default(h, 0.1, True)
    h = aten.linear.default(h, X[2], X[3])
    return aten.cross_entropy_loss.default(h, X[5])
'''

# The state of parameter i begins at X[6 + i * (3 or 1)]; backward() finishes
# gradients in the reverse order.
UPDATE = {
    "adamw": '''
def update():
    for i in range(4):
        p, g = X[i], G[3 - i]
        steps, mean, square = X[6 + 3 * i:9 + 3 * i]
        aten.add_.Tensor(steps, 1)
        aten.mul_.Tensor(p, 0.99999)
        aten.lerp_.Scalar(mean, g, 0.1)
        aten.mul_.Tensor(square, 0.999)
        aten.addcmul_.default(square, g, g, value=0.001)
        aten.item.default(steps)
        root = aten.sqrt.default(square)
        root = aten.div.Tensor(root, 0.03)
        aten.add_.Tensor(root, 1e-8)
        aten.addcdiv_.default(p, mean, root, value=-0.001)
''',
    "sgd": '''
def update():
    for i in range(4):
        p, g, momentum = X[i], G[3 - i], X[6 + i]
        aten.mul_.Tensor(momentum, 0.9)
        aten.add_.Tensor(momentum, g)
        aten.add_.Tensor(p, momentum, alpha=-0.1)
'''}

STEP = '''
def step():
    begin_step()
    loss = forward()
    loss.backward()
    with torch.no_grad():
        update()
    return loss
'''


def write_model(folder, optimizer, step):
    def tensor(shape, role, *fill, dtype="float32"):
        return {"dtype": dtype, "shape": shape, "role": role, "fill": fill}
    a, b, c = WIDTHS
    shapes = [[b, a], [b], [c, b], [c]]
    tensors = [tensor(shape, "parameter", "normal", 0.02) for shape in shapes]
    tensors += [tensor([BATCH, a], "input", "normal", 1),
                tensor([BATCH], "index", "integers", 0, c - 1, dtype="int64")]
    for shape in shapes:
        if optimizer == "adamw":
            tensors += [tensor([], "state", "full", 1),
                        tensor(shape, "state", "zeros")]
        tensors.append(tensor(shape, "state", "zeros"))
    write(folder, f"{FORWARD}\n{UPDATE[optimizer]}\n{STEP}", form="autograd",
          tensors=tensors, parameters=[0, 1, 2, 3], step=step,
          operators=["aten::linear.default", "aten::add_.Tensor"])


def flatten(source, target):
    """The same trace, in schema 1.0.1."""
    with open(source, encoding="utf-8") as file:
        trace = json.load(file)
    nodes = []
    for node in trace["nodes"]:
        about = {a["name"]: a["value"] for a in node["attrs"]}
        nodes.append({
            "name": node["name"], "id": node["id"],
            "parent": node["ctrl_deps"], "op_schema": about["op_schema"],
            **{side + end: node[side + "s"][what]
               for side in ("input", "output")
               for end, what in (("s", "values"), ("_shapes", "shapes"),
                                 ("_types", "types"))}})
    with gzip.open(target, "wt", encoding="utf-8") as file:
        json.dump({**trace, "schema": "1.0.1", "nodes": nodes}, file)


def check_models():
    for model in ("adamw", "sgd"):
        record(model, f"{model}.json")
        write_model(model, model, "ProfilerStep#2")
        expect(0, "leaf operators are equal, and the topmost ones", model,
               "--certify", f"{model}.json")
    # Both layouts of a trace, packed and not.
    flatten("adamw.json", "flat.json.gz")
    expect(0, "certified", "adamw", "--certify", "flat.json.gz")
    # The first difference: the node of the trace, and both operators.
    out = expect(1, "leaf operator 48 (node ", "adamw", "--certify", "sgd.json")
    assert "the benchmark ran 'aten::copy_'" in out and "Tensor(long)" in out

    out = expect(0, "", "sgd", "--json", "--certify", "sgd.json", "--profile",
                 "step.json.gz")
    r = json.loads(out)
    assert r["ms_low"] <= r["ms"] <= r["ms_high"] and r["cpu_ms"] > 0, r
    assert r["certified"] is True and r["topmost_equal"] and r["finite"], r
    assert r["difference"] is None and r["coverage"] == 17 / 18, r
    assert r["leaf_operators"] == 63 and r["device"] == "cpu", r
    # Parameters, momenta, gradients, batch: 4 bytes each, and targets of 8.
    least = 4 * (3 * 212 + 48) + 48
    assert least < r["peak_bytes"] < 2 * least, r
    assert r["metered"] is None, r
    # Steps in a row, whose power no CPU tells.
    out = expect(0, "", "sgd", "--json", "--meter", "0.2")
    r = json.loads(out)["metered"]
    assert r["seconds"] >= 0.2 and r["steps"] >= 1 and r["power_w"] is None, r
    expect(0, " steps in 0.2", "sgd", "--meter", "0.2")
    # What --profile wrote is a trace of the same step.
    write_model("again", "sgd", "ProfilerStep#1")
    expect(0, "certified", "again", "--certify", "step.et.json")

    # A program of its own says nothing but its report; PyTorch says where there is
    # no NumPy.
    done = subprocess.run([sys.executable, "-W", "ignore:Failed to initialize NumPy",
                           "sgd/bench.py", "--iters", "1"],
                          capture_output=True, text=True, check=True)
    assert not done.stderr and "94.4% of 18 operators" in done.stdout, done
    # A terminal shows names, and does not obey them.
    assert "left out: 1 x 'my::op?[31m'" in done.stdout, done


def check_refusals():
    pathlib.Path("kineto.json").write_text('{"traceEvents": []}',
                                           encoding="utf-8")
    write_model("late", "sgd", "ProfilerStep#9")
    expect(2, "'kineto.json' is not the execution trace", "sgd", "--certify",
           "kineto.json")
    expect(2, "none.json", "sgd", "--certify", "none.json")
    expect(2, "ProfilerStep#9", "late", "--certify", "sgd.json")
    expect(2, "cannot open 'none.py'", "sgd", "--plugin", "none.py")
    expect(2, "want --iters", "sgd", "--iters", "0")
    expect(2, "want --iters", "sgd", "--threads", "0")
    expect(2, "want --iters", "sgd", "--meter", "0")
    if not torch.cuda.is_available():
        expect(2, "no CUDA device", "sgd", "--device", "cuda")


# ---- tensors ---------------------------------------------------------------

TENSORS = [ # and what must hold of them
    ({"shape": [1000], "fill": ["normal", 0.02]},
     lambda x: 0.015 < x.std() < 0.025),
    ({"shape": [3, 2], "fill": ["full", 1], "dtype": "bfloat16"},
     lambda x: (x == 1).all() and x.stride() == (2, 1)),
    ({"shape": [2, 3], "stride": [1, 2], "fill": ["integers", 4, 5],
      "dtype": "int64"},
     lambda x: x.stride() == (1, 2) and x.min() == 4 and x.max() == 5),
    ({"shape": [4], "fill": ["offsets", 8], "dtype": "int32"},
     lambda x: x.tolist() == [0, 2, 4, 6]),
    ({"shape": [2, 3], "fill": ["offsets", 6, 3], "dtype": "int64"},
     lambda x: x.tolist() == [[0, 2, 4], [0, 2, 4]]),
    ({"shape": [10000], "fill": ["zipf", 5, 104, 1.05], "dtype": "int64"},
     lambda x: x.min() == 5 and x.max() == 104 and (x == 5).sum() > 1300),
    ({"shape": [10000], "fill": ["zipf", 0, 9, 1], "dtype": "int64"},
     lambda x: 2700 < (x == 0).sum() < 3100 and x.max() == 9),
    ({"shape": [0, 3], "fill": ["zeros"]}, lambda x: x.numel() == 0),
    ({"shape": [], "fill": ["full", 2], "dtype": "int64"},
     lambda x: x.item() == 2 and x.dim() == 0),
    ({"shape": [2, 1], "stride": [3, 1], "base": 11, "offset": 2},
     lambda x: x.flatten().tolist() == [7, 7] and x.stride() == (3, 1)),
    ({"shape": [3], "base": 11, "offset": 0, "dtype": "int32"},
     lambda x: x.tolist() == [0x40e00000] * 3),
    ({"shape": [8], "fill": ["full", 7]}, lambda x: (x == 7).all()),
    ({"shape": [3], "fill": ["empty"]}, lambda x: x.shape == (3,)),
    ({"shape": [600, 1000], "fill": ["normal", 0.02]}, # no row twice
     lambda x: 0.019 < x.std() < 0.021 and len(x.unique(dim=0)) == 600),
]
PLUGIN = '''
import torch
library = torch.library.Library("msim_test", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CPU")
'''


def check_tensors():
    about = [{"dtype": "float32", "role": "other", **tensor}
             for tensor, _ in TENSORS]
    write("tensors", "def step():\n    pass", tensors=about)
    made = runpy.run_path("tensors/bench.py")
    before = None
    for _ in range(2): # equal each time
        made["make_tensors"]()
        for x, (tensor, holds) in zip(made["X"], TENSORS):
            assert holds(x), (tensor, x)
            assert str(x.dtype) == "torch." + tensor.get("dtype", "float32")
        assert before is None or before.equal(made["X"][0])
        before = made["X"][0]

    write("nan", "def step():\n    X[11].div_(0).sub_(X[11])\n"
          "    return X[0].sum()", tensors=about)
    expect(1, "inf or nan in X[9], X[11]", "nan")
    write("loss", "def step():\n    return X[0].sum() / 0", tensors=about)
    expect(1, "inf or nan in loss", "loss")


def check_gloo():
    """Parents that gloo spoiled follow from the order in which nodes ended."""
    def node(i, name, parent):
        nothing = {"values": [], "shapes": [], "types": []}
        return {"id": i, "name": name, "ctrl_deps": parent, "inputs": nothing,
                "outputs": nothing, "attrs": [
                    {"name": "tid", "value": 1},
                    {"name": "op_schema", "value":
                     "" if ":" not in name or "gloo" in name
                     else f"{name}() -> ()"}]}
    nodes = [node(4, "aten::inner", 3), node(3, "c10d::allreduce_", 2),
             node(5, "gloo:all_reduce", 3), # now 7 is taken off the stack
             node(8, "aten::t", 6), node(7, "aten::linear", 6),
             node(6, "aten::outer", 2), node(2, "thread", 1)]
    pathlib.Path("gloo.json").write_text(json.dumps({"nodes": nodes}))
    made = runpy.run_path("tensors/bench.py")
    leaves, top = made["operators"]("gloo.json", None)
    assert [i for i, _ in leaves] == [3, 8], leaves
    assert [i for i, _ in top] == [3, 6], top


def check_plugin():
    write("plugin", "def step():\n"
          "    torch.ops.msim_test.twice.default(torch.ones(2))",
          operators=["msim_test::twice.default", "aten::no_such.out",
                     "aten::add.no_such"])
    expect(2, "has no msim_test::twice.default, aten::no_such.out, "
           "aten::add.no_such", "plugin")
    about = json.loads(pathlib.Path("plugin/data.json").read_text())
    about["operators"] = ["msim_test::twice.default"]
    pathlib.Path("plugin/data.json").write_text(json.dumps(about))
    pathlib.Path("plugin.py").write_text(PLUGIN, encoding="utf-8")
    expect(0, "", "plugin", "--plugin", "plugin.py")


# ---- several ranks ---------------------------------------------------------

RANKS = '''
aten = torch.ops.aten
@COLLECTIVES@


def step():
    x = aten.mul.Tensor(X[0], 2.0)
    work = collective('allreduce_', [x])
    aten.add.Tensor(X[1], 1.0)
    work.wait()
    collective('broadcast_', [x], 0, sync=True, group=0)
    collective('barrier', X[1], sync=True)
    if RANKS > 1 and not RECORDING:
        assert x.tolist() == [4] * 4, x
    return aten.sum.default(x)
'''


def original(folder):
    """What RANKS stands for, recorded by every rank."""
    import torch.distributed as dist
    dist.init_process_group("gloo")
    path = f"{folder}/rank-{dist.get_rank()}.json"
    ones = torch.ones(4)
    observer = ExecutionTraceObserver()
    observer.register_callback(path)
    observer.start()
    x = ones * 2.0
    work = dist.all_reduce(x, async_op=True)
    work.wait() # else gloo's label may end inside an operator of this thread
    ones + 1.0
    dist.broadcast(x, 0)
    # As dist.barrier() does it, on a tensor that is there.
    torch.ops.c10d.barrier(ones, dist.group.WORLD.boxed(), [])
    x.sum()
    observer.stop()
    observer.unregister_callback()
    assert x.tolist() == [4] * 4
    dist.barrier()
    dist.destroy_process_group()


def torchrun(*command):
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--local-addr", "localhost", "--nproc-per-node", "2", *command],
        capture_output=True, text=True, check=False,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def check_ranks():
    pathlib.Path("ranks").mkdir()
    torchrun(__file__, "ranks")
    collectives = (EMIT / "collectives.py.in").read_text(encoding="utf-8")
    write("two", RANKS.replace("@COLLECTIVES@", collectives), world=2,
          delays_us=[1000, 2000, 3000],
          delays_from="predicted by hand", groups=[[0, 1]], tensors=[
              {"dtype": "float32", "shape": [4], "fill": ["full", 1]},
              {"dtype": "float32", "shape": [4], "fill": ["zeros"]}])
    out = torchrun("two/bench.py", "--certify", "ranks/rank-1.json", "--json")
    r = json.loads(out) # of one rank alone
    assert r["certified"] and r["ranks"] == 2 and r["leaf_operators"] > 4, r
    # Alone: as many operators, and the time that was predicted or, on a busy
    # machine, more; but not in other units.
    r = json.loads(expect(0, "", "two", "--json", "--certify",
                          "ranks/rank-0.json"))
    assert r["certified"] and r["ranks"] == 1 and 6 <= r["ms_low"] < 3000, r


if __name__ == "__main__":
    if sys.argv[1:]:
        original(sys.argv[1])
    else:
        check_models()
        check_refusals()
        check_tensors()
        check_gloo()
        check_plugin()
        check_ranks()
