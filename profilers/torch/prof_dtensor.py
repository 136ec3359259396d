"""What PyTorch's DTensor takes of the host beside the operators that it runs:
a step of a small transformer that parallelize_module shares out.

This process is one of RANKS, and messages to the others go nowhere (the "fake"
backend of torch.distributed), so that nothing is waited for. What is timed is
Python: an operator that is dispatched to a DTensor, what makes one and unmakes
it, what moves it, and the hooks of modules, which run in the pause before these.
"""

import collections
import statistics

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

RANKS = 2
WIDTH, HEADS, WORDS = 8, 2, 16
PAUSE_US = 1000  # from here on it was no pause between operators
ENGINE = "autograd::engine::evaluate_function: "
BACKWARD = ("_FromTorchTensorBackward", "_ToTorchTensorBackward",
            "RedistributeBackward")
NAMES = {"PythonSubclass", "_FromTorchTensor", "_ToTorchTensor", "Redistribute",
         "NestedRedistribute", *BACKWARD, *(ENGINE + name for name in BACKWARD)}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH)
                                            for _ in range(4))
        self.wide, self.back = (nn.Linear(WIDTH, 4 * WIDTH),
                                nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.before(x)
        q, k, v = (f(y).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.back(F.gelu(self.wide(self.after(x))))


def is_there():
    """Builds of PyTorch without distributed have none."""
    return dist.is_available()


def join(device):
    """One of several, alone."""
    from torch.distributed.device_mesh import init_device_mesh
    if not dist.is_initialized():
        from torch.testing._internal.distributed.fake_pg import FakeStore
        dist.init_process_group("fake", rank=0, world_size=RANKS,
                                store=FakeStore())
    return init_device_mesh(device.type, (RANKS,))


def step_call(device):
    """A step of training, as PyTorch's tutorial of tensor parallelism has it."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel, RowwiseParallel, loss_parallel, parallelize_module)
    mesh = join(device)
    module = nn.Sequential(nn.Embedding(WORDS, WIDTH), Block(), Block(),
                           nn.LayerNorm(WIDTH),
                           nn.Linear(WIDTH, WORDS, bias=False)).to(device)
    plan = {"0": RowwiseParallel(input_layouts=Replicate()),
            "4": ColwiseParallel(output_layouts=Shard(-1),
                                 use_local_output=False)}
    for block in ("1", "2"):
        plan |= {f"{block}.{name}": ColwiseParallel()
                 for name in ("q", "k", "v", "wide")}
        plan |= {f"{block}.{name}": RowwiseParallel() for name in ("out", "back")}
    parallelize_module(module, mesh, plan)
    tokens = torch.randint(WORDS, (1, 4), device=device)
    optimizer = torch.optim.AdamW(module.parameters(), foreach=False)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with loss_parallel():
            out = module(tokens)
            F.cross_entropy(out.flatten(0, 1), tokens.view(-1)).backward()
        optimizer.step()

    return step


def operators(rounds):
    """As an answer of the table "dispatch" has them, with the pause before each.
    `rounds` has lists of (event, pause). What is dispatched for one operator
    takes several times as long as for another, and an event during which the
    machine did something else a thousand times: so of each operator around them
    events have one median."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for event, pause in (pair for events in rounds for pair in events):
        if event.name in NAMES:
            around = event.cpu_parent.name if event.cpu_parent else ""
            us = pause if 0 <= pause < PAUSE_US else 0
            found[event.name][around].append(event.self_cpu_time_total + us)
    return [{"name": name, "leaf": False, "calls_us": 0,
             "count": round(sum(map(len, by.values())) / len(rounds)),
             "self_us": sum(len(v) * statistics.median(v) for v in by.values())
             / sum(map(len, by.values()))}
            for name, by in sorted(found.items())]
