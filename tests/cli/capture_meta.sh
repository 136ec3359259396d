#!/usr/bin/env bash
# A model without a GPU and without memory: capture.py --device meta gives the
# operators of a GPU, and `--model` predicts them. Skipped without PyTorch.
# shellcheck source=tests/torch.bash
source "$SOURCE_DIR/tests/torch.bash"
export TORCH_CPP_LOG_LEVEL=ERROR PYTHON=$python
capture=$SOURCE_DIR/scripts/capture.py
mkdir -p tmp
export TMPDIR=$PWD/tmp

fail() {
    echo "capture_meta: $*" >&2
    exit 1
}

cat >net.py <<'PYTHON'
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32),
                                  nn.Conv2d(32, 32, 3, groups=32))
        self.rnn = nn.LSTM(32, 16)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(16, 10)

    def forward(self, x):
        x = self.stem(x).flatten(2).permute(2, 0, 1)
        x = F.silu(self.drop(self.rnn(x)[0])).unsqueeze(1)
        y = F.scaled_dot_product_attention(x, x, x)
        return self.head(y[:, 0].mean(0))


def build(batch=4):
    return Net(), torch.randn(batch, 3, 12, 12)


def train():
    model, x = build()
    labels = torch.randint(10, (4,))
    return model, x, lambda y: F.cross_entropy(y, labels), torch.optim.AdamW


def huge(): # 40 TB of weights
    return nn.Linear(10**7, 10**6), torch.randn(1, 10**7)


def wrong():
    return Net(), torch.randn(4, 5, 12, 12)


def steps(): # a step as it stands: two backward passes, an optimizer each
    first, second = nn.Linear(8, 8), nn.Linear(8, 8)
    optimizers = [torch.optim.SGD(m.parameters()) for m in (first, second)]

    def step(x):
        for model, optimizer in zip((first, second), optimizers):
            optimizer.zero_grad()
            model(x.to("cuda").cuda()).sum().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return step, torch.randn(4, 8)


def selects(): # what is selected is known of the first, not of the second
    class Masked(nn.Module):
        def forward(self, x):
            return x[torch.arange(8) < 3].sum(), x[x > 0]
    return Masked(), torch.randn(8, 4)


def compiled():
    return torch.compile(nn.Linear(8, 8)), torch.randn(2, 8)


def sizes(width):
    return nn.Linear(width, width), torch.randn(2, width)


def vector():
    return nn.Linear(4, 4), torch.randn(2, 4), lambda y: y


def branches():
    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x
    return Branch(), torch.randn(4)
PYTHON

"$python" "$capture" --device meta --model net.py:train,precision=bf16 \
    --steps 1 --out half >/dev/null || fail "no capture in bf16"
"$python" "$capture" --device meta --model net.py:train --steps 1 --out full \
    >/dev/null || fail "no capture"
"$python" - <<'PYTHON' || fail "wrong operators"
import collections, gzip, json


def load(job):
    with gzip.open(f"{job}/et/rank-0.json.gz", "rt") as file:
        text = file.read()
    assert '"meta"' not in text and "PythonDispatchMode" not in text
    nodes = json.loads(text)["nodes"]
    assert all(n["ctrl_deps"] in {m["id"] for m in nodes} for n in nodes)
    return nodes


def kinds(nodes):
    return collections.Counter(n["name"] for n in nodes)


def tensors(values):
    for v in values:
        if isinstance(v, list) and len(v) == 6 and isinstance(v[5], str):
            yield v
        elif isinstance(v, list):
            yield from tensors(v)


full = load("full")
found = kinds(full)
# What a GPU with cuDNN calls, and what a CPU or the meta device would.
for name, count in (
        ("aten::cudnn_convolution", 1), ("aten::_conv_depthwise2d", 1),
        ("aten::cudnn_batch_norm", 1), ("aten::_cudnn_rnn", 1),
        ("aten::native_dropout", 1), ("aten::convolution_backward", 2),
        ("aten::_scaled_dot_product_efficient_attention", 1),
        ("aten::_scaled_dot_product_efficient_attention_backward", 1),
        ("aten::_cudnn_rnn_backward", 1), ("aten::_foreach_sqrt", 1),
        ("aten::mkldnn_convolution", 0), ("aten::native_batch_norm", 0),
        ("aten::bernoulli_", 0), ("aten::sigmoid", 0),
        ("aten::silu_backward", 1), ("aten::sub", 0), ("ProfilerStep#0", 1)):
    assert found[name] == count, (name, found[name], count)
assert not any(name.startswith("prims::") for name in found)
loss = next(n["id"] for n in full if n["name"] == "aten::nll_loss_backward")
assert kinds(n for n in full if n["ctrl_deps"] == loss) == {"aten::zero_": 1}

# A storage each: weights of equal sizes lie apart, a view with its tensor.
by_name = {n["name"]: n for n in full}
conv = list(tensors(by_name["aten::cudnn_convolution"]["inputs"]["values"]))
assert len({t[1] for t in conv}) == 2, conv
t = next(n for n in full if n["name"] == "aten::t")
assert next(tensors(t["inputs"]["values"]))[1] == \
    next(tensors(t["outputs"]["values"]))[1]

# Autocast: products and convolutions in bf16, the loss in fp32.
half = load("half")
name = {n["name"]: n["inputs"]["types"] for n in half}
assert name["aten::cudnn_convolution"][0] == "Tensor(c10::BFloat16)"
assert name["aten::addmm"][1] == "Tensor(c10::BFloat16)"
assert name["aten::_cudnn_rnn"][1].startswith("GenericList[Tensor(c10::B")
assert name["aten::nll_loss_forward"][0] == "Tensor(float)"
assert "aten::_scaled_dot_product_flash_attention" in name
PYTHON

# In one process: who takes a filter for each channel, by PyTorch's conditions,
# and what is said of functions that --model cannot take.
PYTHONPATH=$SOURCE_DIR/scripts/capture${PYTHONPATH:+:$PYTHONPATH} \
    "$python" - <<'PYTHON' 2>said ||
import torch
import given_models, meta_gpu, meta_kernels

with meta_gpu.MetaGpu() as gpu:
    def own(dtype, stride, last, channels=64, wide=30):
        with gpu.building():
            x, w = (torch.empty(s, dtype=dtype) for s in (
                (4, channels, wide, wide), (channels, 1, 3, 3)))
        if last: # the weight's strides alone ask for it
            w = w.to(memory_format=torch.channels_last)
        return meta_kernels.depthwise(x, w, [stride] * 2, [1, 1], False,
                                      channels)
    half, bf16, full = torch.float16, torch.bfloat16, torch.float32
    for case, want in (
            ((full, 1, False), True), ((bf16, 1, False), True),
            ((half, 1, False), False), ((half, 2, False), True),
            ((half, 2, False, 512), False), ((half, 1, False, 16), True),
            ((half, 1, False, 64, 6), True), ((full, 1, True), False)):
        assert own(*case) == want, case

for name, want in (
        ("net.py:biuld", "no function 'biuld', want net.py:build, net.py:tr"),
        ("net.py:sizes", "net.py:sizes takes arguments (width)"),
        ("net.py:Net", "net.py:Net is a class"), (":x", "names no module")):
    try:
        given_models.make(name, {})
    except given_models.Refused as error:
        assert want in str(error), error
    else:
        raise AssertionError(name)
PYTHON
    fail "$(tail -1 said)"

# A timm that wants a torchvision, and none that fits.
mkdir -p fake/timm fake/torchvision
echo 'raise RuntimeError("operator torchvision::nms does not exist")' \
    >fake/torchvision/__init__.py
cat >fake/timm/__init__.py <<'PYTHON'
import torch
import torchvision.transforms as transforms
from torchvision.ops.misc import FrozenBatchNorm2d
from torchvision.transforms import InterpolationMode

MODES = {InterpolationMode.NEAREST: "nearest", InterpolationMode.BOX: "box"}


class Crop(transforms.RandomCrop):
    pass


def is_model(name):
    return name == "net"


def list_models(pattern):
    return ["net"]


def create_model(name):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(),
                                torch.nn.Linear(8 * 14 * 14, 10))
    assert len(MODES) == 2 and not isinstance(model, FrozenBatchNorm2d)
    model.default_cfg, model.num_classes = {"input_size": (3, 16, 16)}, 10
    return model
PYTHON
PYTHONPATH=$PWD/fake${PYTHONPATH:+:$PYTHONPATH} "$MYSTIQUE_SIM" \
    --platform h100 --model timm:net,batch=2,training,channels_last,dtype=bf16 \
    >out 2>err ||
    fail "timm needs torchvision: $(cat err)"

"$python" "$capture" --device meta --model net.py:steps --steps 1 --out gan.gz \
    >/dev/null || fail "no capture of a step"
[ "$(zcat gan.gz | grep -c '"name": "Optimizer.step#SGD.step"')" -eq 2 ] ||
    fail "a step of its own lost an optimizer"
# What is on the GPU stays there, and norms are of lists.
[ "$(zcat gan.gz | grep -c '"name": "aten::_foreach_norm"')" -eq 2 ] ||
    fail "norms one by one"
zgrep -q '"name": "aten::_to_copy"' gan.gz &&
    fail "a copy from the GPU to itself"

# Both steps in one, and what a prediction says of it.
"$MYSTIQUE_SIM" --platform h100 --model net.py:train --json >p.json 2>err ||
    fail "no prediction: $(cat err)"
"$MYSTIQUE_SIM" --platform h100 --json full/et >q.json 2>/dev/null
"$python" - <<'PYTHON' || fail "wrong prediction"
import json
p, q = (json.load(open(name)) for name in ("p.json", "q.json"))
# Two steps there, one here, of the same operators.
assert p["kernel_us"]["predicted"] == q["kernel_us"]["predicted"] > 100
assert p["coverage"]["device_time"] == 1, p["coverage"]
assert len(p["iterations"]) == 2
# Weights and both moments of AdamW, 4 bytes each, at the least.
assert p["memory_bytes"]["by"]["optimizer_state"] > 8 * 4000
PYTHON
"$MYSTIQUE_SIM" --platform h100 --model net.py:huge 2>/dev/null |
    grep -q 'aten::linear' || fail "no prediction of 40 TB of weights"
"$MYSTIQUE_SIM" --platform h100 --model net.py:compiled >/dev/null 2>err &&
    grep -q '^mystique-sim: warning: torch.compile is left out' err ||
    fail "no word of what is recorded otherwise: $(cat err)"

# Against the CPU: the same operators, and kernel times that agree.
"$python" "$SOURCE_DIR/scripts/capture/compare_operators.py" --model \
    "$SOURCE_DIR/scripts/capture/sample_programs.py:make_resnet_block" \
    --binary "$MYSTIQUE_SIM" --out rows.csv >compared 2>&1 ||
    fail "$(cat compared)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 && ($at["equal"] < 100 || $at["percent"] > 1 ||
                $at["percent"] < -1) { exit 1 }' rows.csv ||
    fail "the CPU's capture differs: $(cat rows.csv)"

# refused CODE TEXT MODEL: one message, of the model's own line or name.
refused() {
    local rc=0
    "$MYSTIQUE_SIM" --platform h100 --model "$3" >out 2>err || rc=$?
    [ "$rc" -eq "$1" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
        grep -qF -- "$2" err || fail "'$3' exits $rc, want $1: $(cat err)"
}
refused 3 "net.py:15: in forward(): in Conv2d 'stem.0'" net.py:wrong
refused 3 "which is not known without computing" net.py:branches
refused 3 "'index' reads what a tensor of sizes [8, 4] holds" net.py:selects
refused 2 "1 to 100, with" net.py:selects,selects=101
"$python" "$capture" --device meta --model net.py:selects,selects=25 \
    --out selected.json.gz >/dev/null || fail "'selects=25' is refused"
zgrep -qF '"shapes": [[8]]' selected.json.gz ||
    fail "8 of 32 are not selected"
refused 3 "the loss is of sizes [2, 4], want a single number" net.py:vector
refused 2 "want net.py:FUNCTION" net.py
refused 3 "no Python module 'nowhere'" nowhere:build
refused 3 "absent.py: no such file" absent.py:build
refused 3 "no argument 'bach', want batch=VALUE" net.py:build,bach=8
"$python" "$capture" --device meta --model net.py:build,batch=8 --out eight.json.gz >/dev/null ||
    fail "an argument of the function is refused"
zgrep -qF '[8,3,12,12]' eight.json.gz || fail "the argument did not arrive"
refused 2 "no model 'gtp2'" gtp2
PYTHON=/nowhere/python refused 3 "cannot be started" net.py:build
cp net.py kept.py
! "$MYSTIQUE_SIM" --platform h100 --model net.py:build --timeline net.py \
    >out 2>err || fail "a timeline in the place of its model"
cmp net.py kept.py || fail "a model is lost"
ls -d tmp/mystique-sim.* 2>/dev/null && fail "a temporary folder is left"
echo "capture_meta: ok"
