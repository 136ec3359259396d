#!/usr/bin/env python3
"""What training asks of a host when nobody records it, timed on this machine.

    scripts/accuracy/host_training.py [--repeats 5]

It needs PyTorch, no GPU: tensors are so small that the CPU's own kernels take
next to no time. Printed are

  backward   how much more the backward pass gains than the forward one when it
             is not recorded: (bare / recorded) of backward over that of forward,
             of chains of one operator and of whole models. This is "autograd" of
             "unrecorded" in data/hosts/src/generic.json.
  FSDP       what FullyShardedDataParallel's own Python does, a unit and a
             parameter of it, forward and backward: least squares over blocks of
             1 to 12 parameters, ResNet-50 and a small GPT, each with and without
             it, in a group that sends nothing (the fake backend of PyTorch's
             tests).
  ResNet     the forward pass of ResNet-50 a kernel that a GPU would launch. The
             same quotient of programs that others timed on GPUs, without a
             recorder (KernelBench), says how much slower their hosts are than
             this machine (scripts/accuracy/bare_host.py).

Times are of the processor, lower quartiles over steps, the least over repeats:
other work of the machine lengthens times and never shortens them.
"""
import argparse
import statistics
import time
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.profiler import ProfilerActivity, profile
from torch.testing._internal.distributed.fake_pg import FakeStore

CHAIN, STEPS, WARM = 200, 24, 5
UNITS = 8
SIZES = (1, 4, 12)


class Bottleneck(nn.Module):
    def __init__(self, given, width, stride):
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(given, width, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.short = nn.Sequential() if stride == 1 and given == out else \
            nn.Sequential(nn.Conv2d(given, out, 1, stride, bias=False),
                          nn.BatchNorm2d(out))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.body(x)
        y += self.short(x)
        return self.relu(y)


def resnet50(width=2):
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width),
              nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    given = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Bottleneck(given, width << stage,
                                     2 if stage and not i else 1))
            given = 4 * width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(given, 4))


# What a GPU launches: convolution, its normalisation, a count of batches, relu.
RESNET_KERNELS = 3 * 53 + 49 + 16 + 3


class Layer(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), \
            nn.Linear(4 * width, width)
        self.act = nn.ReLU()

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(self.norm1(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, w))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Block(nn.Module):
    """`size` parameters, one after the other."""

    def __init__(self, size):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(2, 2, bias=False)
                                   for _ in range(size))

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def quartile(times):
    return sorted(times)[len(times) // 4]


def passes(model, x, steps=STEPS):
    """Lower quartiles of forward and backward, us."""
    forward, backward = [], []
    for i in range(steps + WARM):
        model.zero_grad()
        t0 = time.process_time()
        y = model(x)
        t1 = time.process_time()
        loss = y.sum()
        t2 = time.process_time()
        loss.backward()
        t3 = time.process_time()
        if i >= WARM:
            forward.append(1e6 * (t1 - t0))
            backward.append(1e6 * (t3 - t2))
    return quartile(forward), quartile(backward)


# ---- recorded or not --------------------------------------------------------

class Chain(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.first = nn.Parameter(torch.ones(2, 2))
        self.step = step

    def forward(self, x):
        y = self.first * x
        for _ in range(CHAIN):
            y = self.step(y)
        return y


def programs():
    c, relu, x = torch.ones(2, 2), nn.ReLU(), torch.ones(2, 2)
    many = [nn.Parameter(torch.ones(2, 2)) for _ in range(CHAIN)]
    each = iter(())

    def parameter(y):
        nonlocal each
        p = next(each, None)
        if p is None:
            each = iter(many)
            p = next(each)
        return y * p

    def stack(make):
        return nn.Sequential(*[make() for _ in range(CHAIN // 4)])

    layers = nn.Sequential(*[Layer() for _ in range(12)])
    return {"mul": (Chain(lambda y: y * c), x),
            "view": (Chain(lambda y: y.view(2, 2)), x),
            "relu": (Chain(relu), x),
            "mul by parameter": (Chain(parameter), x),
            "linear": (stack(lambda: nn.Linear(2, 2)), x),
            "batch norm": (stack(lambda: nn.BatchNorm1d(2)), x),
            "GPT": (layers, torch.randn(1, 4, 8)),
            "ResNet-50": (resnet50(), torch.randn(2, 3, 32, 32))}


def least(model, x, repeats):
    return [min(times) for times in zip(*(passes(model, x)
                                          for _ in range(repeats)))]


def gains(model, x, repeats, shapes):
    bare = least(model, x, repeats)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=shapes):
        recorded = least(model, x, 2)
    return [b / r for b, r in zip(bare, recorded)]


def compare_recorded(repeats):
    logs = []
    for name, (model, x) in programs().items():
        found = [gains(model, x, repeats, shapes) for shapes in (False, True)]
        forward, backward = (statistics.mean(g[i] for g in found)
                             for i in (0, 1))
        more = backward / forward
        logs.append(more)
        print(f"  {name:18s} bare / recorded: forward {forward:.2f}, backward "
              f"{backward:.2f}, over it {more:.2f}")
    print(f"backward over forward, geometric mean: "
          f"{statistics.geometric_mean(logs):.2f}, {min(logs):.2f} to "
          f"{max(logs):.2f}")


# ---- FSDP -------------------------------------------------------------------

def wrapped(model, kinds):
    model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy(kinds),
                 use_orig_params=True, device_id=torch.device("cpu"))
    return model, sum(isinstance(m, FSDP) for m in model.modules())


def added(make, kinds, x, repeats):
    """What FSDP adds to forward and backward, us; units; parameters."""
    model, units = wrapped(make(), kinds)
    n = len(list(make().parameters()))
    return [s - p for s, p in zip(least(model, x, repeats),
                                  least(make(), x, repeats))], units, n


def line(xs, ys):
    """Intercept and slope of least squares."""
    mx, my = statistics.mean(xs), statistics.mean(ys)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / \
        sum((x - mx) ** 2 for x in xs)
    return my - slope * mx, slope


def models():
    """Name, how it is made, what is wrapped, an input."""
    for size in SIZES:
        yield (f"blocks of {size} parameters",
               lambda: nn.Sequential(*[Block(size) for _ in range(UNITS)]),
               {Block}, torch.ones(2, 2))
    yield "ResNet-50", resnet50, {Bottleneck}, torch.randn(2, 3, 32, 32)
    yield ("GPT", lambda: nn.Sequential(*[Layer() for _ in range(12)]),
           {Layer}, torch.randn(1, 4, 8))


def measure_fsdp(repeats):
    rows = []
    for name, make, kinds, x in models():
        both, units, n = added(make, kinds, x, repeats)
        units -= make is not resnet50  # a root without parameters
        rows.append((n / units, both[0] / units, both[1] / units))
        print(f"  {name}: {units} units, {n} parameters: a unit "
              f"{rows[-1][1]:.0f} us forward, {rows[-1][2]:.0f} backward")
    for i, name in ((1, "forward"), (2, "backward")):
        unit, each = line([r[0] for r in rows], [r[i] for r in rows])
        print(f"FSDP {name}: {unit:.0f} us a unit, {each:.1f} a parameter")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    print(f"PyTorch {torch.__version__}")
    compare_recorded(args.repeats)
    measure_fsdp(args.repeats)
    forward = least(resnet50(), torch.randn(2, 3, 32, 32), args.repeats)[0]
    print(f"ResNet-50 forward: {forward:.0f} us, {forward / RESNET_KERNELS:.2f} "
          "a kernel")


if __name__ == "__main__":
    main()
