"""What bench_runtime.sh runs: a small model and its trace, and what a generator
would write for it, here by hand.

    bench_runtime.py record OPTIMIZER ET
                    record three steps of the model, two of them in the trace
    bench_runtime.py write OPTIMIZER DIR [ET]
                    write its benchmark, of that ET, into DIR
    bench_runtime.py flat ET ET
                    the same trace, in schema 1.0.1
    bench_runtime.py forms
                    tensors of all kinds, custom operators, values not finite
"""
import importlib.util
import json
import pathlib
import subprocess
import sys

EMIT = pathlib.Path(__file__).resolve().parents[2] / "replay/emit"
BATCH, WIDTHS = 6, (8, 16, 4)


def record(optimizer, path):
    import torch
    from torch.profiler import (ExecutionTraceObserver, ProfilerActivity,
                                profile, schedule)
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


def tensors(optimizer):
    def tensor(shape, role, *fill, dtype="float32"):
        return {"dtype": dtype, "shape": shape, "role": role, "fill": fill}
    a, b, c = WIDTHS
    shapes = [[b, a], [b], [c, b], [c]]
    out = [tensor(shape, "parameter", "normal", 0.02) for shape in shapes]
    out += [tensor([BATCH, a], "input", "normal", 1),
            tensor([BATCH], "index", "integers", 0, c - 1, dtype="int64")]
    for shape in shapes:
        if optimizer == "adamw":
            out += [tensor([], "state", "full", 1),
                    tensor(shape, "state", "zeros")]
        out.append(tensor(shape, "state", "zeros"))
    return out


def data(optimizer):
    return {"title": "mlp", "form": "autograd", "gpu": False, "world": 1,
            "tensors": tensors(optimizer), "parameters": [0, 1, 2, 3],
            "operators": ["aten::linear.default", "aten::add_.Tensor"],
            "step": "ProfilerStep#2", "nodes": None,
            "coverage": {"emitted": 17, "selected": 18, "device_time": None,
                         "left_out": [{"node": 7, "name": "my::op",
                                       "reason": "unknown"}]}}


def write(folder, program, about):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = (EMIT / "bench.py.in").read_text(encoding="utf-8")
    for place, lines in (("@TITLE@", "mlp"), ("@PROGRAM@", program.strip()),
                         ("@CONSTANTS@", f"BATCH = {BATCH}")):
        assert text.count(place) == 1, f"{place}: {text.count(place)} times"
        text = text.replace(place, lines)
    (folder / "bench.py").write_text(text, encoding="utf-8")
    (folder / "data.json").write_text(json.dumps(about), encoding="utf-8")


def flat(source, target):
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
    with open(target, "w", encoding="utf-8") as file:
        json.dump({**trace, "schema": "1.0.1", "nodes": nodes}, file)


FORMS = [ # tensors, and what must hold of them
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
]
PLUGIN = '''
import torch
library = torch.library.Library("msim_test", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CPU")
'''


def bench(folder, *options):
    """Exit code, what was printed and what was complained of."""
    done = subprocess.run(
        [sys.executable, f"{folder}/bench.py", "--iters", "1", "--warmup", "0",
         *options], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def forms():
    about = {**data("sgd"), "form": "direct", "parameters": [], "step": None}
    about["tensors"] = [{"dtype": "float32", "role": "other", **tensor}
                        for tensor, _ in FORMS]
    write("forms", "def step():\n    pass", about)
    spec = importlib.util.spec_from_file_location("bench", "forms/bench.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for _ in range(2): # equal each time
        made.make_tensors()
        for x, (tensor, holds) in zip(made.X, FORMS):
            assert holds(x), (tensor, x)
            assert str(x.dtype) == "torch." + tensor.get("dtype", "float32")
        assert made.X[0][0].item() == made.X[0].clone()[0].item()

    about.update(operators=["msim_test::twice.default", "aten::no_such.out"])
    write("plugin", "def step():\n"
          "    torch.ops.msim_test.twice.default(X[0])", about)
    rc, _, why = bench("plugin")
    assert rc == 2 and "has no msim_test::twice.default, aten::no_such.out" \
        in why, (rc, why)
    about.update(operators=["msim_test::twice.default"])
    write("plugin", "def step():\n"
          "    torch.ops.msim_test.twice.default(X[0])", about)
    pathlib.Path("plugin.py").write_text(PLUGIN, encoding="utf-8")
    rc, said, why = bench("plugin", "--plugin", "plugin.py")
    assert rc == 0, (rc, said, why)

    write("nan", "def step():\n    X[11].div_(0).sub_(X[11])\n"
          "    return X[0].sum()", dict(about, operators=[]))
    rc, said, why = bench("nan")
    assert rc == 1 and "inf or nan in X[9], X[11]" in said, (rc, said, why)


if __name__ == "__main__":
    verb, *args = sys.argv[1:]
    if verb == "write":
        about = data(args[0])
        if args[2:]: # one that a benchmark wrote, with a step of its own
            about["step"] = "ProfilerStep#1"
        write(args[1], FORWARD + "\n" + UPDATE[args[0]] + "\n" + STEP, about)
    else:
        {"record": record, "flat": flat, "forms": forms}[verb](*args)
