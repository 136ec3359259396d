"""What PyTorch takes of the host: calls on tensors of one element, and steps of
small models, by the kinds of the table "dispatch" (prof_torch.py).

A loop of one call alone finds every cache as it left it, and takes a half to a
third of what the same call takes in a program. So before each call that is
timed all others are made, and the times inside are taken from a recording of
all of them in a row.
"""

import collections
import contextlib
import functools
import statistics
import time

import prof_dtensor
import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

LIST = 8     # tensors of a list
ROUNDS = 24  # recorded, of all calls in a row
STEPS = 12   # recorded, of a model
LABEL = "call of "
PAUSE_US = 1000  # from here on it was no pause between operators
RUNTIMES = ("cuda", "hip")  # what calls of the runtime begin with
# Waits: they last as long as the device is busy.
WAITS = ("Synchronize", "Malloc", "Free", "MemcpyDtoH")


# ---- what is called --------------------------------------------------------

def forward_calls(device):
    """{name in traces: call}; `m` and `w` are as parameters are."""
    def one(*shape, grad=False):
        return torch.rand(shape, device=device).requires_grad_(grad)

    a, m, w, bias = one(1), one(1, 1, grad=True), one(1, 1, grad=True), one(1)
    b, q = one(1, 1), one(1, 1, 1, 1)
    cube, image = one(1, 1, 1, grad=True), one(1, 1, 1, 1, grad=True)
    pair = one(2, 1, grad=True)  # of two rows, to be split
    x, y = one(1), one(1, 1)  # what is written in place
    ones, zeros = torch.ones(1, device=device), torch.zeros(1, device=device)
    index = torch.zeros(1, dtype=torch.long, device=device)
    mask = torch.zeros(1, dtype=torch.bool, device=device)
    lists = [[one(1) for _ in range(LIST)] for _ in range(3)]
    aten = torch.ops.aten
    calls = {
        # views
        "view": lambda: m.view(1), "reshape": lambda: m.reshape(1),
        "transpose": lambda: m.transpose(0, 1), "t": lambda: m.t(),
        "permute": lambda: cube.permute(2, 0, 1),
        "expand": lambda: m.expand(1, 1), "unsqueeze": lambda: m.unsqueeze(0),
        "squeeze": lambda: cube.squeeze(0), "select": lambda: pair[0],
        "slice": lambda: pair[0:1], "narrow": lambda: pair.narrow(0, 0, 1),
        "split": lambda: pair.split(1), "chunk": lambda: pair.chunk(2),
        "split_with_sizes": lambda: aten.split_with_sizes(pair, [1, 1]),
        "flatten": lambda: cube.flatten(), "detach": lambda: m.detach(),
        "as_strided": lambda: b.as_strided((1, 1), (1, 1)),
        "contiguous": lambda: m.contiguous(),
        # memory
        "empty": lambda: torch.empty(1, device=device),
        "empty_like": lambda: torch.empty_like(a),
        "empty_strided": lambda: torch.empty_strided((1,), (1,),
                                                     device=device),
        "zeros": lambda: torch.zeros(1, device=device),
        "zeros_like": lambda: torch.zeros_like(a),
        "ones_like": lambda: torch.ones_like(a),
        "new_empty": lambda: a.new_empty(1),
        "new_zeros": lambda: a.new_zeros(1),
        "arange": lambda: torch.arange(1, device=device),
        # copies
        "clone": lambda: m.clone(), "copy_": lambda: y.copy_(b),
        "to": lambda: m.to(torch.float64), "cat": lambda: torch.cat([m, w]),
        "stack": lambda: torch.stack([m, w]), "fill_": lambda: x.fill_(1.5),
        "zero_": lambda: x.zero_(), "item": lambda: ones.item(),
        "index": lambda: m[index], "where": lambda: torch.where(mask, a, m),
        "index_select": lambda: m.index_select(0, index),
        "index_put_": lambda: y.index_put_((index,), a),
        "index_add_": lambda: y.index_add_(0, index, b),
        "masked_fill_": lambda: y.masked_fill_(mask, 0.5),
        # products
        "mm": lambda: torch.mm(m, w), "addmm": lambda: torch.addmm(a, m, w),
        "bmm": lambda: torch.bmm(cube, cube),
        "baddbmm": lambda: torch.baddbmm(cube, cube, cube),
        "matmul": lambda: torch.matmul(cube, w),
        "linear": lambda: F.linear(m, w, bias),
        "einsum": lambda: torch.einsum("ij,jk->ik", m, w),
        # pictures
        "conv1d": lambda: F.conv1d(cube, cube),
        "conv2d": lambda: F.conv2d(image, image),
        "max_pool2d": lambda: F.max_pool2d(image, 1),
        "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(image, 1),
        "batch_norm": lambda: F.batch_norm(image, zeros, ones, bias, bias),
        # rows
        "layer_norm": lambda: F.layer_norm(m, (1,), ones, bias),
        "softmax": lambda: torch.softmax(m, -1),
        "log_softmax": lambda: torch.log_softmax(m, -1),
        "cross_entropy_loss": lambda: F.cross_entropy(m, index),
        "binary_cross_entropy_with_logits":
            lambda: F.binary_cross_entropy_with_logits(m, b),
        "scaled_dot_product_attention":
            lambda: F.scaled_dot_product_attention(q, q, q),
        "embedding": lambda: F.embedding(index, w),
        "embedding_bag": lambda: F.embedding_bag(index, w, index),
        "dropout": lambda: F.dropout(m, 0.5, True),
        "sum": lambda: m.sum(-1), "mean": lambda: m.mean(-1),
        "amax": lambda: b.amax(-1), "argmax": lambda: b.argmax(-1),
        "cumsum": lambda: b.cumsum(-1), "sort": lambda: b.sort(-1),
        "topk": lambda: b.topk(1),
        # elementwise
        "add": lambda: m + w, "sub": lambda: m - w, "mul": lambda: m * w,
        "div": lambda: m / w, "rsub": lambda: 1 - m, "pow": lambda: m ** 2.0,
        "sqrt": lambda: ones.sqrt(), "exp": lambda: b.exp(),
        "log": lambda: ones.log(), "neg": lambda: -m,
        "square": lambda: b.square(), "clamp": lambda: m.clamp(0, 1),
        "relu": lambda: torch.relu(m), "gelu": lambda: F.gelu(m),
        "silu": lambda: F.silu(m), "sigmoid": lambda: torch.sigmoid(m),
        "tanh": lambda: torch.tanh(m), "eq": lambda: b == y,
        "gt": lambda: b > 0.5, "le": lambda: b <= 0.5,
        "bitwise_not": lambda: ~mask,
        # in place
        "add_": lambda: x.add_(bias), "sub_": lambda: x.sub_(bias),
        "mul_": lambda: x.mul_(ones), "div_": lambda: x.div_(ones),
        "relu_": lambda: x.relu_(), "sqrt_": lambda: x.sqrt_(),
        "clamp_min_": lambda: x.clamp_min_(0.5),
        "addcmul_": lambda: x.addcmul_(bias, zeros),
        "addcdiv_": lambda: x.addcdiv_(zeros, ones),
        "lerp_": lambda: x.lerp_(bias, 0.1),
        # of optimizers
        "_foreach_add_":
            lambda: torch._foreach_add_(lists[0], lists[1], alpha=0.1),
        "_foreach_mul_": lambda: torch._foreach_mul_(lists[0], 0.5),
        "_foreach_sqrt": lambda: torch._foreach_sqrt(lists[1]),
        "_foreach_lerp_": lambda: torch._foreach_lerp_(lists[0], lists[1],
                                                       0.1),
        "_foreach_addcmul_":
            lambda: torch._foreach_addcmul_(lists[0], lists[1], lists[1]),
        "_foreach_addcdiv_":
            lambda: torch._foreach_addcdiv_(lists[0], lists[1], lists[2]),
    }
    return {f"aten::{name}": call for name, call in calls.items()}


# Forward calls whose gradients are timed too.
GRADIENTS = ("view", "transpose", "permute", "expand", "unsqueeze", "select",
             "slice", "clone", "to", "cat", "index", "mm", "addmm", "matmul",
             "conv2d", "max_pool2d", "batch_norm", "layer_norm", "softmax",
             "log_softmax", "cross_entropy_loss",
             "binary_cross_entropy_with_logits", "embedding", "sum", "mean",
             "add", "mul", "div", "pow", "clamp", "relu", "gelu", "silu",
             "sigmoid", "tanh")
BACKWARD = " backward"


def leaves(node, found):
    """The tensors that a graph's gradients end in."""
    if hasattr(node, "variable"):
        found[id(node.variable)] = node.variable
    for other, _ in node.next_functions:
        if other is not None:
            leaves(other, found)
    return list(found.values())


def backward_call(forward):
    out = forward()
    inputs, gradient = leaves(out.grad_fn, {}), torch.ones_like(out)
    return lambda: torch.autograd.grad(out, inputs, gradient,
                                       retain_graph=True)


# ---- small models ----------------------------------------------------------

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = (nn.Linear(width, 3 * width),
                               nn.Linear(width, width))
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width))
        self.heads = heads

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (t.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for t in self.into(self.before(x)).split(width, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.out(y)
        return x + self.wide(self.after(x))


def transformer(device):
    module = nn.Sequential(nn.Embedding(16, 8), Block(8, 2), Block(8, 2),
                           nn.LayerNorm(8), nn.Linear(8, 16)).to(device)
    tokens = torch.randint(16, (1, 4), device=device)
    optimizer = torch.optim.AdamW(module.parameters())
    return module, (tokens,), optimizer, \
        lambda out: F.cross_entropy(out.view(-1, 16), tokens.view(-1))


def convolutions(device):
    def layer(into, out):
        return [nn.Conv2d(into, out, 3, padding=1, bias=False),
                nn.BatchNorm2d(out), nn.ReLU(inplace=True)]

    module = nn.Sequential(*layer(3, 4), nn.MaxPool2d(2), *layer(4, 4),
                           *layer(4, 4), nn.AdaptiveAvgPool2d(1),
                           nn.Flatten(), nn.Linear(4, 4)).to(device)
    images = torch.rand(2, 3, 4, 4, device=device)
    labels = torch.randint(4, (2,), device=device)
    optimizer = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)
    return module, (images,), optimizer, \
        lambda out: F.cross_entropy(out, labels)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(8, 4, mode="sum")
                                    for _ in range(4))
        self.below = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
        self.above = nn.Sequential(nn.Linear(14, 8), nn.ReLU(),
                                   nn.Linear(8, 1))
        self.register_buffer("pairs", torch.triu_indices(5, 5, 1))

    def forward(self, dense, index, offsets):
        x = self.below(dense)
        every = torch.stack([x] + [t(i, offsets) for t, i in
                                   zip(self.tables, index)], 1)
        products = torch.bmm(every, every.transpose(1, 2))
        crossed = products[:, self.pairs[0], self.pairs[1]]
        return self.above(torch.cat([x, crossed], 1))


def ranking(device):
    module = Ranker().to(device)
    batch = (torch.rand(2, 4, device=device),
             torch.randint(8, (4, 4), device=device),
             torch.tensor([0, 2], device=device))
    clicks = torch.ones(2, 1, device=device)
    optimizer = torch.optim.SGD(module.parameters(), 0.01)
    return module, batch, optimizer, \
        lambda out: F.binary_cross_entropy_with_logits(out, clicks)


MODELS = {"step: transformer": transformer, "step: convolutions": convolutions,
          "step: ranking": ranking}


# Of these an answer has what is beside the operators of a step alone.
SHARED = "shared: transformer"


def step_call(make, device):
    module, batch, optimizer, loss = make(device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(module(*batch)).backward()
        optimizer.step()

    return step


# ---- a recording -----------------------------------------------------------

def is_call(event):
    return event.name.startswith(RUNTIMES)


def is_operator(event):
    return not is_call(event) and not event.is_user_annotation


def is_within(event, span):
    return span.start <= event.time_range.start < span.end


def made_us(event):
    """In calls of the runtime that the operator makes and that do not wait."""
    return sum(c.time_range.elapsed_us() for c in event.cpu_children
               if is_call(c) and not any(word in c.name for word in WAITS))


def pauses(events):
    """From the end of a topmost operator to the next one's start, less calls of
    the runtime: {"operator" or "autograd", the earlier one: mean}."""
    found = collections.defaultdict(list)
    before, calls_us = {}, collections.Counter()  # by thread
    for e in events:
        if is_call(e):
            calls_us[e.thread] += e.time_range.elapsed_us()
            continue
        last = before.get(e.thread)
        if last is not None:
            gap = e.time_range.start - last.time_range.end - calls_us[e.thread]
            autograd = "autograd::" in last.name or "Backward" in last.name
            if 0 <= gap < PAUSE_US:
                found["autograd" if autograd else "operator"].append(gap)
        before[e.thread], calls_us[e.thread] = e, 0
    return {kind: statistics.fmean(v) for kind, v in found.items()}


def topmost(events):
    """In no operator, as models/host/host.h has it: labels do not count."""
    def covered(e):
        parent = e.cpu_parent
        while parent is not None and not is_operator(parent):
            parent = parent.cpu_parent
        return parent is not None

    return [e for e in events if not e.is_user_annotation and not covered(e)]


def with_pauses(events):
    """(event, the pause before it where it is topmost)."""
    ends, top = {}, {id(e) for e in topmost(events)}  # ends by thread
    for e in events:
        pause = 0
        if id(e) in top:
            pause = e.time_range.start - ends.get(e.thread, e.time_range.start)
            ends[e.thread] = e.time_range.end
        yield e, pause


class Round:
    """One call of a kind, as it was recorded."""

    def __init__(self, events):
        self.events = events
        self.operators = collections.defaultdict(list)  # by name
        for e in events:
            if is_operator(e):
                self.operators[e.name].append(e)
        self.pauses = pauses(topmost(events))


class Recording:
    """All kinds in turn under PyTorch's profiler, by names only."""

    def __init__(self, calls, wait, on_gpu):
        activities = [ProfilerActivity.CPU]
        if on_gpu:
            activities.append(ProfilerActivity.CUDA)
        with profile(activities=activities) as prof:
            for i in range(ROUNDS):
                for name, call in calls.items():
                    if (name in MODELS or name == SHARED) and i >= STEPS:
                        continue
                    with record_function(LABEL + name):
                        call()
                    wait()
        events = [e for e in prof.events()
                  if e.device_type == torch.autograd.DeviceType.CPU]
        self.rounds = self.split(sorted(
            events, key=lambda e: (e.time_range.start, -e.time_range.end)))

    @staticmethod
    def split(events):
        """By the labels, whose call no other thread's operators outlive."""
        rounds = collections.defaultdict(list)
        label, inside = None, []
        for e in events:
            if e.name.startswith(LABEL):
                if label is not None:
                    rounds[label.name].append(Round(inside))
                label, inside = e, []
            elif label is not None and is_within(e, label.time_range):
                inside.append(e)
        if label is not None:
            rounds[label.name].append(Round(inside))
        return rounds

    def operators(self, kind):
        """Per call of each operator, the median over rounds."""
        rounds = self.rounds[LABEL + kind]
        if kind == SHARED:
            return prof_dtensor.operators([list(with_pauses(r.events))
                                           for r in rounds])
        out = []
        for name in sorted({n for r in rounds for n in r.operators}):
            lists = [r.operators[name] for r in rounds if name in r.operators]
            out.append({
                "name": name, "count": round(statistics.median(
                    len(events) for events in lists)),
                "leaf": not any(is_operator(c) for c in
                                lists[-1][0].cpu_children),
                "self_us": statistics.median(
                    statistics.fmean(e.self_cpu_time_total for e in events)
                    for events in lists),
                "calls_us": statistics.median(
                    statistics.fmean(made_us(e) for e in events)
                    for events in lists)})
        return out

    def pauses(self, kind):
        if kind == SHARED:
            return {}
        found = collections.defaultdict(list)
        for r in self.rounds[LABEL + kind]:
            for what, us in r.pauses.items():
                found[what].append(us)
        return {what: statistics.median(v) for what, v in found.items()}


# ---- the table -------------------------------------------------------------

@contextlib.contextmanager
def training():
    """Tensors of inference do not go into graphs. And a host is one thread:
    others, once woken, are waited for where the machine is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)


class Dispatch:
    def __init__(self, device):
        self.on_gpu = device.type == "cuda"
        self.wait = torch.cuda.synchronize if self.on_gpu else lambda: None
        with training():
            self.calls = forward_calls(device)
            self.calls.update((f"aten::{name}{BACKWARD}",
                               backward_call(self.calls[f"aten::{name}"]))
                              for name in GRADIENTS)
            self.others = list(self.calls.values())
            self.calls.update((name, step_call(make, device))
                              for name, make in MODELS.items())
            if SHARED in kinds():
                self.calls[SHARED] = prof_dtensor.step_call(device)
            self.turn()
            self.recording = None

    def turn(self):
        for call in self.others:
            call()
        self.wait()

    def time(self, kind):
        """Microseconds of one call, after all others, not waited for."""
        call = self.calls[kind]
        with training():
            self.turn()
            begin = time.perf_counter_ns()
            call()
            us = (time.perf_counter_ns() - begin) * 1e-3
            self.wait()
        return us

    def inside(self, kind):
        """Members of the answer beside the time of the call."""
        with training():
            if self.recording is None:
                self.recording = Recording(self.calls, self.wait, self.on_gpu)
        return {"rounds": len(self.recording.rounds[LABEL + kind]),
                "operators": self.recording.operators(kind),
                "pauses_us": self.recording.pauses(kind)}


@functools.cache
def kinds():
    names = forward_calls(torch.device("cpu"))
    return [*names, *(f"aten::{name}{BACKWARD}" for name in GRADIENTS),
            *MODELS, *([SHARED] if prof_dtensor.is_there() else [])]
