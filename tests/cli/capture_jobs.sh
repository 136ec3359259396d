#!/usr/bin/env bash
# capture.py --jobs: many captures in one process are what each is alone; a job
# that fails leaves nothing behind, no memory and no recorder. And what else of
# capture.py is for a GPU: --meter, --graph, with stand-ins where there is none.
# shellcheck source=tests/torch.bash
source "${SOURCE_DIR:?the source folder}/tests/torch.bash"
export TORCH_CPP_LOG_LEVEL=ERROR OMP_NUM_THREADS=1
capture=$SOURCE_DIR/scripts/capture.py

fail() {
    echo "capture_jobs: $*" >&2
    exit 1
}

# Models that see whether one of an earlier job is still there; a module is
# loaded anew for each job.
cat >net.py <<'PYTHON'
import sys
import weakref

import torch
from torch import nn

MADE = sys.__dict__.setdefault("models_made", [])


class Net(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.layer, self.last, self.steps = nn.Linear(64, 64), last, 0

    def forward(self, x):
        self.steps += 1
        if self.steps == self.last:
            raise torch.OutOfMemoryError("out of memory, says a test")
        return self.layer(x)


def build(last=0):
    assert all(model() is None for model in MADE), "a model is still there"
    model = Net(last)
    MADE.append(weakref.ref(model))
    return model, torch.randn(4, 64), torch.sum, torch.optim.SGD


def late(): # fails in the last step that is recorded
    return build(7)
PYTHON
train="--model bert --layers 1 --width 64 --seq 8 --vocab 50 --batch 2 --steps 2"
infer="--model vit --layers 1 --width 64 --image 32 --batch 1 --precision bf16
    --inference --no-ranges"
cat >jobs.txt <<JOBS
# NAME OPTION...
train $train # two steps

late --model "net.py:late"
mine --model net.py:build
meta --device meta --model vit --layers 1 --width 64 --image 32
infer ${infer//$'\n'/ } --meter 0.2 --timed 3
wrong --model vit --precision tf32
train --model vit
quote --model 'vit
x/y --model vit
inner --model vit --out here
pinned --model vit --pin-malloc
JOBS
mkdir -p all/train all/mine.part
touch all/train/old all/mine.part/old
rc=0
"$python" "$capture" --jobs jobs.txt --out all --timed 2 --warmup 1 >said 2>err ||
    rc=$?
[ $rc -eq 1 ] || fail "exits $rc, want 1: $(tail -3 err)"
[ "$(ls -x all)" = "infer  meta  mine  train" ] || fail "made $(ls all)"
[ ! -e all/train/old ] && [ ! -e all/mine/old ] || fail "kept what was there"
[ "$(cut -d: -f1 said | paste -sd' ')" = "train mine meta infer" ] ||
    fail "says $(<said)"
for text in "jobs.txt:8: tf32 is a GPU's" "jobs.txt:9: a second job 'train'" \
    "jobs.txt:10: No closing quotation" "jobs.txt:11: 'x/y' is no name of a job" \
    "jobs.txt:12: '--out' and '--jobs' are no job's own" \
    "jobs.txt:13: '--pin-malloc' is for all jobs" \
    "late: .*OutOfMemoryError: out of memory, says a test"; do
    grep -q "^capture.py: $text" err || fail "does not say '$text': $(<err)"
done

# Alone; the last one in a process that then compares, and goes on below.
# shellcheck disable=SC2086 # several words
"$python" "$capture" $train --timed 2 --warmup 1 --out alone/train >out 2>&1 ||
    fail "$(<out)"
# shellcheck disable=SC2086
"$python" - "$SOURCE_DIR" $infer --timed 3 --warmup 1 --out alone/infer \
    <<'PYTHON' >out 2>err || fail "$(tail -5 err)"
import contextlib, gc, gzip, io, json, sys, weakref
from types import SimpleNamespace

sys.path[:0] = [f"{sys.argv[1]}/scripts", f"{sys.argv[1]}/scripts/capture"]
import torch
import capture, cuda_graph, given_models, meta_gpu

capture.main(sys.argv[2:])


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file)


def operators(folder):
    """Nodes without their numbers, which count on from job to job."""
    out = []
    for node in load(f"{folder}/et/rank-0.json.gz")["nodes"]:
        about = {a["name"]: a["value"] for a in node["attrs"]}
        out.append((node["name"], about["op_schema"], about["tensor_range"],
                    *(node[side][what] for side in ("inputs", "outputs")
                      for what in ("shapes", "types"))))
    return out


for job in "train", "infer":
    ours, theirs = (operators(f"{all}/{job}") for all in ("all", "alone"))
    assert len(ours) > 100 and ours == theirs, (job, len(ours), len(theirs))
    ours, theirs = (load(f"{all}/{job}/meta.json") for all in ("all", "alone"))
    assert ours["options"] == theirs["options"], ours["options"]
    for meta in ours, theirs:
        del meta["ranks"][0]["peak_memory"]["source"]
    assert ours["ranks"][0]["peak_memory"] == theirs["ranks"][0]["peak_memory"]
    assert theirs["metered"] is None and theirs["gpu"] is None, theirs
metered = load("all/infer/meta.json")["metered"]
assert metered["seconds"] >= 0.2 and metered["steps"] >= 1, metered
assert metered["power_w"] is None, metered
assert len(operators("all/mine")) > 20

# ---- what makes no sense ----------------------------------------------------

for code, text, options in (
        (2, "a CUDA graph is a GPU's", "--model vit --inference --graph"),
        (2, "a CUDA graph is a GPU's",
         "--model vit --inference --graph --device meta"),
        (2, "only forward passes", "--model vit --graph --device cuda"),
        (2, "want '--meter' above 0", "--model vit --meter 0"),
        (2, "want '--meter' above 0", "--model vit --meter 1 --device meta"),
        (2, "different numbers of steps", "--model vit --meter 1 --ranks 2"),
        (2, "want '--out DIR'", "--jobs jobs.txt"),
        (1, "capture.py: none: No such file", "--jobs none --out no")):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            capture.main([*options.split(),
                          *([] if "--jobs" in options else ["--out", "no"])])
    except SystemExit as end:
        found = end.code if isinstance(end.code, int) else 1
        assert found == code, (options, end.code)
        assert text in said.getvalue() + str(end.code), (text, said.getvalue())
    else:
        raise AssertionError(f"'{options}' is taken")

# ---- a GPU's, with stand-ins ------------------------------------------------

log = []


class Stream:
    def __init__(self, name="side"):
        self.name = name

    def wait_stream(self, other):
        log.append(f"{self.name} waits for {other.name}")


class Graph:
    def replay(self):
        log.append("replay")


@contextlib.contextmanager
def within(what):
    log.append(f"in {what.name if isinstance(what, Stream) else 'graph'}")
    yield
    log.append("out")


main = Stream("main")
for name, stand_in in (
        ("Stream", Stream), ("stream", within), ("CUDAGraph", Graph),
        ("graph", within), ("current_stream", lambda: main)):
    setattr(torch.cuda, name, stand_in)


class Job(given_models.Steps):
    def __init__(self):
        self.device, self.batch = torch.device("cpu"), [torch.ones(2)]

    def inputs(self):
        return [torch.zeros(2)]

    def forward(self):
        assert torch.is_inference_mode_enabled()
        log.append("forward")


job = Job()
inputs = job.inputs()
steps = cuda_graph.Graphed(job.device, job.forward, inputs, job.batch)
assert log == ["side waits for main", "in side", *["forward"] * 3, "out",
               "main waits for side", "in graph", "forward", "out"], log
log.clear()
assert steps.timed_step() > 0
assert log == ["replay"] and inputs[0].tolist() == [1, 1], (log, inputs)
# A graph knows addresses: what lies there stays as long as it.
held = weakref.ref(job)
del job
gc.collect()
assert held() is not None

# A loss, or a step as it stands, is no forward pass.
for given in (given_models.Given(torch.nn.Linear(1, 1), (), {}, sum, None),
              given_models.Given(sum, (), {}, None, None)):
    try:
        capture.graphed(SimpleNamespace(given=True), SimpleNamespace(
            given=given, device=None, forward=None))
    except given_models.Refused as why:
        assert "a module and no loss" in str(why)
    else:
        raise AssertionError("made a graph of it")

# What meta.json says of a GPU whose driver is not there; not which one it is.
torch.cuda.get_device_properties = lambda device: SimpleNamespace(
    name="FAKE", major=9, minor=0, multi_processor_count=132,
    total_memory=85 << 30, uuid="not-said")
about = capture.describe_gpu()
assert about == {"name": "FAKE", "capability": "9.0", "sms": 132,
                 "memory_bytes": 85 << 30, "driver": None, "max_sm_mhz": None,
                 "max_memory_mhz": None, "power_limit_w": None}, about

# All of a capture on a GPU, whose tensors have no values.
torch.cuda.max_memory_allocated = torch.cuda.max_memory_reserved = \
    lambda device: 7
torch.cuda.get_device_name = lambda: "FAKE"
torch.Tensor.pin_memory = lambda tensor: tensor
with meta_gpu.MetaGpu(None):
    capture.capture(capture.parse_args([
        *sys.argv[2:], "--device", "cuda", "--graph", "--meter", "0.1",
        "--steps", "1", "--out", "gpu"]))
meta = load("gpu/meta.json")
assert meta["gpu"] == about and meta["options"]["graph"], meta
assert meta["ranks"][0]["peak_memory"]["reserved_bytes"] == 7, meta
assert meta["metered"]["steps"] >= 1, meta
names = {name for name, *_ in operators("gpu")}
assert "aten::copy_" in names and "aten::linear" not in names, names
PYTHON
echo "capture_jobs: ok"
