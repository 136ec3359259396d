#!/usr/bin/env python3
"""Time PyTorch's own operators: experiments in, rows out, a JSON line each.

    prof_torch.py [--device cpu|cuda] [--threads N]

A backend as profilers/serve.h describes it, in a process of its own: what users
run is PyTorch's kernels, not those of the libraries beneath. Operands are taken
from an area of random numbers twice as large as the last cache, each run
further on; outputs are allocated by PyTorch, as in users' programs. On a GPU
runs are timed by gpu_timer.py.

The table "dispatch" has calls on tensors of one element, gradients of them, and
steps of small models: what PyTorch itself takes, before any arithmetic. Their
answers have, beside the time of the whole call, the times of the operators in
it (prof_dispatch.py).
"""

import argparse
import ctypes
import functools
import json
import math
import os
import signal
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
    import gpu_timer
    import prof_dispatch
    aten = torch.ops.aten
except ImportError as error:
    print(f"{os.path.basename(sys.argv[0])}: no PyTorch: {error}",
          file=sys.stderr)
    sys.exit(3)

SCHEMA = "mystique-sim/profiler/1"
DTYPES = {"fp64": torch.float64, "fp32": torch.float32,
          "tf32": torch.float32, "fp16": torch.float16,
          "half": torch.float16, "bfloat16": torch.bfloat16,
          "float": torch.float32, "double": torch.float64}
# As profilers/serve_internal.h has them.
POLICY = {"warm_up": 2, "least": 5, "most": 1000, "spread": 0.01,
          "seconds": 1.0}
# Each of these is preceded by all others, which takes a millisecond or two.
DISPATCH_POLICY = {**POLICY, "most": 16, "seconds": 0.2}
FAR_OUT = 3
DEFAULT_TABLE_ROWS = 65536


class Unsupported(Exception):
    """The device or PyTorch cannot do it: reported, no failure."""


def whole(experiment, key, missing=None):
    value = experiment.get(key, missing)
    if not isinstance(value, (int, float)) or value < 1 or value != int(value):
        raise ValueError(f"'{key}' is {value}, want a whole number from 1")
    return int(value)


def dtype_of(experiment, missing=None):
    name = experiment.get("dtype", missing)
    if name not in DTYPES:
        raise Unsupported(f"no operators of '{name}' here")
    return DTYPES[name]


# ---- operands --------------------------------------------------------------

# Areas, and the smallest number in each (the largest is 1). What is changed in
# place is not what is read, which stays random; roots of negative numbers take
# many times as long.
LOWEST = {"read": -1, "written": -1, "positive": 0}
PADDING = 1024  # elements: all operands of a run on cache lines of their own


class Operands:
    """Areas of random numbers for each dtype; taken from again and again."""

    def __init__(self, device, cache_bytes):
        self.device = device
        self.least = 2 * cache_bytes
        self.areas = {}
        self.at = {}

    def reserve(self, area, dtype, elements):
        size = torch.empty(0, dtype=dtype).element_size()
        wanted = max(elements + PADDING, self.least // size)
        key = area, dtype
        if key not in self.areas or self.areas[key].numel() < wanted:
            self.areas.pop(key, None)  # before there are two of them
            whole = torch.empty(wanted, dtype=dtype, device=self.device)
            self.areas[key] = whole.uniform_(LOWEST[area], 1)
            self.at[key] = 0

    def begin(self, warm, dtype, elements):
        """A run that reads so many: what it takes lies side by side."""
        if warm:
            self.at = dict.fromkeys(self.at, 0)
        key = "read", dtype
        if self.at[key] + elements + PADDING > self.areas[key].numel():
            self.at[key] = 0

    def next(self, area, dtype, shape):
        """On a cache line of its own."""
        n = math.prod(shape)
        key = area, dtype
        at = self.at[key]
        if at + n > self.areas[key].numel():
            at = 0
        self.at[key] = at + (n + 63) // 64 * 64
        return self.areas[key][at:at + n].view(shape)

    def take(self, dtype, *shape):
        """The next operand that is read, of what was reserved."""
        return self.next("read", dtype, shape)

    def take_other(self, area, dtype, *shape):
        """The next of an area that is reserved here. One a run."""
        self.reserve(area, dtype, math.prod(shape))
        return self.next(area, dtype, shape)


# ---- experiments as cases --------------------------------------------------
# Each returns how many elements to reserve, their dtype, and a function that
# takes the operands of one run and returns the call to be timed.

def gemm(e):
    m, n, k = (whole(e, key) for key in "mnk")
    batch = whole(e, "batch", 1)
    dtype = dtype_of(e)
    layout = e.get("layout", "NT")

    def matrix(take, rows, cols, transposed):
        lead = (batch,) if batch > 1 else ()
        if not transposed:
            return take(dtype, *lead, rows, cols)
        return take(dtype, *lead, cols, rows).transpose(-1, -2)

    def ready(take):
        a = matrix(take, m, k, layout[0] == "T")
        b = matrix(take, k, n, layout[1] == "T")
        return lambda: torch.matmul(a, b)

    return (m * k + k * n) * batch, dtype, ready


def conv(e):
    n, c, h, w, k, r, s = (whole(e, key) for key in "nchwkrs")
    stride, groups = whole(e, "stride", 1), whole(e, "groups", 1)
    pad = int(e.get("pad", 0))
    dtype = dtype_of(e, "fp32")
    op = e.get("op", "conv2d_fwd")
    p = (h + 2 * pad - r) // stride + 1
    q = (w + 2 * pad - s) // stride + 1
    if p < 1 or q < 1 or c % groups or k % groups:
        raise ValueError("the filter is larger than the padded picture, or "
                         "groups do not divide the channels")
    masks = {"conv2d_bwd_data": [True, False, False],
             "conv2d_bwd_weight": [False, True, False]}
    if op != "conv2d_fwd" and op not in masks:
        raise Unsupported(f"no convolution '{op}' here")

    def ready(take):
        x = take(dtype, n, c, h, w)
        weight = take(dtype, k, c // groups, r, s)
        if op == "conv2d_fwd":
            return lambda: F.conv2d(x, weight, None, stride, pad, 1, groups)
        grad = take(dtype, n, k, p, q)
        return lambda: torch.ops.aten.convolution_backward(
            grad, x, weight, None, [stride] * 2, [pad] * 2, [1, 1], False,
            [0, 0], groups, masks[op])

    return n * c * h * w + k * c * r * s + n * k * p * q, dtype, ready


def attention(e):
    batch, heads = whole(e, "batch"), whole(e, "heads")
    kv_heads = whole(e, "kv_heads", heads)
    q_len, kv_len = whole(e, "q_len"), whole(e, "kv_len")
    head_dim = whole(e, "head_dim")
    dtype = dtype_of(e)
    phase = e.get("phase")
    if phase not in ("prefill", "decode", "encoder") or e.get("window"):
        raise Unsupported(f"no attention '{phase}' here, or none with a window")
    if phase == "prefill" and q_len != kv_len:
        raise Unsupported("no prefill after a prefix here")
    more = {"enable_gqa": True} if heads != kv_heads else {}

    def ready(take):
        q = take(dtype, batch, heads, q_len, head_dim)
        k = take(dtype, batch, kv_heads, kv_len, head_dim)
        v = take(dtype, batch, kv_heads, kv_len, head_dim)
        return lambda: F.scaled_dot_product_attention(
            q, k, v, is_causal=phase == "prefill", **more)

    return batch * head_dim * (heads * q_len + 2 * kv_heads * kv_len), dtype, \
        ready


# Operators as traces have them (models/opmap_*.c): how many tensors of the
# shape are read, and the call. With a u the second operand is a number; with an
# underscore the first is changed in place, whose own values hardly matter.
VECTOR = {
    "copy": (1, torch.clone),
    "addu": (1, lambda a: a + 1.5),
    "mulu": (1, lambda a: a * 1.5),
    "divu": (1, lambda a: a / 1.5),
    "sqrt": (1, torch.sqrt),
    "relu": (1, torch.relu),
    "gelu": (1, F.gelu),
    "tanh": (1, torch.tanh),
    "sigmoid": (1, torch.sigmoid),
    "silu": (1, F.silu),
    "exp": (1, torch.exp),
    "add": (2, torch.add),
    "sub": (2, torch.sub),
    "mul": (2, torch.mul),
    "div": (2, torch.div),
    "gelu_backward": (2, aten.gelu_backward),
    "silu_backward": (2, aten.silu_backward),
    "threshold_backward": (2, lambda g, a: aten.threshold_backward(g, a, 0)),
    "dropout": (1, lambda a: torch.native_dropout(a, 0.1, True)),
    "sum": (1, lambda a: a.sum(-1)),
    "mean": (1, lambda a: a.mean(-1)),
    "softmax": (1, lambda a: torch.softmax(a, -1)),
    "log_softmax": (1, lambda a: torch.log_softmax(a, -1)),
    "softmax_backward": (2, lambda g, y: aten._softmax_backward_data(
        g, y, -1, g.dtype)),
    "add_": (2, lambda a, b: a.add_(b)),
    "mulu_": (1, lambda a: a.mul_(-1.0)),
    "addu_": (1, lambda a: a.add_(1e-8)),
    "divu_": (1, lambda a: a.div_(-1.0)),
    "lerp_": (2, lambda a, b: a.lerp_(b, 0.1)),
    "addcmul_": (3, lambda a, b, c: a.addcmul_(b, c, value=1e-3)),
    "addcdiv_": (3, lambda a, b, c: a.addcdiv_(b, c, value=1e-3)),
    "clamp_min_": (1, lambda a: a.clamp_min_(-0.5)),
    "copy_": (2, lambda a, b: a.copy_(b)),
    "fill_": (1, lambda a: a.fill_(0.5)),
    "bernoulli_": (1, lambda a: a.bernoulli_(0.9)),
}


def fill(e, dtype, rows, cols):
    """Into memory that was just asked for: what zeros() is."""
    return lambda take: lambda: torch.full((rows, cols), 0.5, dtype=dtype,
                                           device=DEVICE)


def layer_norm(e, dtype, rows, cols):
    def ready(take):
        a, weight, bias = (take(dtype, *s) for s in
                           ((rows, cols), (cols,), (cols,)))
        return lambda: F.layer_norm(a, (cols,), weight, bias)
    return ready


def layer_norm_backward(e, dtype, rows, cols):
    """The three gradients: of the input, the weight and the bias."""
    mean, rstd = (torch.rand(rows, 1, device=DEVICE) for _ in range(2))

    def ready(take):
        grad, a, weight, bias = (take(dtype, *s) for s in
                                 ((rows, cols),) * 2 + ((cols,),) * 2)
        return lambda: aten.native_layer_norm_backward(
            grad, a, (cols,), mean, rstd, weight, bias, [True] * 3)
    return ready


def pictures(rows, cols):
    """The shape of a batch whose channels have `cols` elements each."""
    batch = math.gcd(cols, 8)
    return batch, rows, cols // batch, 1


def batch_norm(e, dtype, rows, cols):
    weight, bias, mean, variance = torch.rand(4, rows, device=DEVICE)

    def ready(take):
        a = take(dtype, *pictures(rows, cols))
        return lambda: F.batch_norm(a, mean, variance, weight, bias, True)
    return ready


def batch_norm_backward(e, dtype, rows, cols):
    weight, mean, variance, saved, rstd = torch.rand(5, rows, device=DEVICE)

    def ready(take):
        grad, a = (take(dtype, *pictures(rows, cols)) for _ in range(2))
        return lambda: aten.native_batch_norm_backward(
            grad, a, weight, mean, variance, saved, rstd, True, 1e-5,
            [True] * 3)
    return ready


def drawn(e, rows):
    """Rows of a table, others each time, so that they are in no cache."""
    return torch.randint(table_rows(e), (rows,), device=DEVICE)


def table_rows(e):
    return whole(e, "table_rows", DEFAULT_TABLE_ROWS)


def index_select(e, dtype, rows, cols):
    def ready(take):
        table, index = take(dtype, table_rows(e), cols), drawn(e, rows)
        return lambda: F.embedding(index, table)
    return ready


def embedding_backward(e, dtype, rows, cols):
    """With the clearing of the table's gradient, which is part of the call."""
    def ready(take):
        grad, index = take(dtype, rows, cols), drawn(e, rows)
        return lambda: aten.embedding_dense_backward(
            grad, index, table_rows(e), -1, False)
    return ready


# Those whose operands are not all of one shape: tensors of it that are read,
# and what makes runs ready.
SHAPED = {
    "fill": (0, fill),
    "layer_norm": (1, layer_norm),
    "layer_norm_backward": (2, layer_norm_backward),
    "batch_norm": (1, batch_norm),
    "batch_norm_backward": (2, batch_norm_backward),
    "index_select": (0, index_select),
    "embedding_backward": (1, embedding_backward),
}

# What is offered: what models have most of, and one of each other sort.
OFFERED = ("copy", "fill", "divu", "sqrt", "relu", "gelu", "tanh", "silu",
           "add", "mul", "gelu_backward", "silu_backward",
           "threshold_backward", "sum", "softmax", "softmax_backward",
           "layer_norm", "layer_norm_backward", "batch_norm",
           "batch_norm_backward", "index_select")
# On a CPU new memory may be pages that the system hands out first. A GPU drops
# out in one kernel, and clears a table's gradient by an operator of its own.
ON_CPU = ("add_", "addu_", "mulu_", "divu_", "lerp_", "addcmul_", "addcdiv_",
          "clamp_min_", "copy_", "fill_", "bernoulli_", "embedding_backward")
ON_GPU = ("dropout",)


def area_of(op):
    if op == "sqrt":
        return "positive"
    return "written" if op.endswith("_") else "read"


def plain(op, inputs, run, dtype, rows, cols):
    area = area_of(op)

    def ready(take):
        others = inputs if area == "read" else inputs - 1
        operands = [take(dtype, rows, cols) for _ in range(others)]
        if area != "read":
            operands.insert(0, OPERANDS.take_other(area, dtype, rows, cols))
        return lambda: run(*operands)
    return ready


def vector(e):
    dtype = dtype_of(e)
    op = e.get("op")
    try:
        shape = [int(size) for size in e["shape"].split("x")]
    except (KeyError, AttributeError, ValueError):
        raise ValueError("'shape' is missing or wrong, want sizes such as "
                         "1000x512") from None
    cols = shape[-1]
    rows = math.prod(shape) // cols
    if op in VECTOR:
        inputs, run = VECTOR[op]
        ready = plain(op, inputs, run, dtype, rows, cols)
    elif op in SHAPED:
        inputs, make = SHAPED[op]
        ready = make(e, dtype, rows, cols)
    else:
        raise Unsupported(f"no operator '{op}' here")
    elements = inputs * (rows * cols + 64) + 2 * cols + 128
    if op == "index_select":
        elements += table_rows(e) * cols
    return elements, dtype, ready


def copy(e):
    op, n = e.get("op"), whole(e, "bytes")
    host = DEVICE.type == "cpu"
    if op not in ("d2d",) + (() if host else ("h2d", "d2h")):
        raise Unsupported(f"no copy '{op}' here")
    pinned = not host and e.get("memory", "pinned") == "pinned"
    elements = max(n // 4, 1)
    beyond = None if op == "d2d" else \
        torch.empty(elements, pin_memory=pinned).uniform_()

    def ready(take):
        a = take(torch.float32, elements)
        other = take(torch.float32, elements) if beyond is None else beyond
        target, source = (a, other) if op == "h2d" else (other, a)
        return lambda: target.copy_(source, non_blocking=True)

    return 2 * elements, torch.float32, ready


TABLES = {"gemm": gemm, "conv": conv, "attention": attention,
          "vector": vector, "copy": copy}


# ---- timing ----------------------------------------------------------------

def time_on_cpu(call):
    begin = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begin) * 1e-3


def point(ordered, part):
    at = part * (len(ordered) - 1)
    i = int(at)
    if i + 1 >= len(ordered):
        return ordered[-1]
    return ordered[i] + (at - i) * (ordered[i + 1] - ordered[i])


def median_spread(ordered):
    """As profilers/sampler.c: order statistics of the median."""
    n = len(ordered)
    reach = 0.98 * math.sqrt(n)
    low = int(max(math.floor(n / 2 - reach), 0))
    high = int(min(math.ceil(n / 2 + reach), n - 1))
    return (ordered[high] - ordered[low]) / 2 / point(ordered, 0.5)


def sample(once, policy):
    begin = time.perf_counter()
    samples = []
    for _ in range(int(policy["warm_up"])):
        once()
        if time.perf_counter() - begin >= policy["seconds"]:
            break
    while True:
        samples.append(max(once(), 1e-3))
        n = len(samples)
        if n >= policy["most"] or \
                time.perf_counter() - begin >= policy["seconds"]:
            break
        # To sort each time would take longer than what is timed.
        if n >= policy["least"] and n & (n - 1 if n < 64 else 15) == 0 and \
                median_spread(sorted(samples)) <= policy["spread"]:
            break
    return samples, time.perf_counter() - begin


def row(samples, seconds):
    ordered = sorted(samples)
    q1, q3 = point(ordered, 0.25), point(ordered, 0.75)
    far = FAR_OUT * (q3 - q1)
    return {"time_us": statistics.median(ordered),
            "low_us": point(ordered, 0.1), "high_us": point(ordered, 0.9),
            "spread": median_spread(ordered), "runs": len(ordered),
            "outliers": sum(v < q1 - far or v > q3 + far for v in ordered),
            "seconds": seconds}


def answer(experiment, gpu):
    if "beside" in experiment:
        raise Unsupported("nothing runs beside an experiment here")
    if experiment.get("table") == "dispatch":
        return dispatch(experiment)
    table = TABLES.get(experiment.get("table"))
    if table is None:
        raise Unsupported(f"no table '{experiment.get('table')}' here")
    if gpu:
        tf32 = experiment.get("dtype") == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
    elements, dtype, ready = table(experiment)
    OPERANDS.reserve("read", dtype, elements)
    warm = experiment.get("cache", "cold") == "warm"
    timer = gpu_timer.Timer(gpu, warm) if gpu else time_on_cpu

    def once():
        OPERANDS.begin(warm, dtype, elements)
        return timer(ready(OPERANDS.take))

    out = timed(once, POLICY, experiment)
    return {**out, "uncovered": timer.uncovered} if gpu else out


def timed(once, policy, experiment):
    samples, seconds = sample(once, {**policy, **experiment.get("policy", {})})
    out = row(samples, seconds)
    if experiment.get("raw"):
        out["samples"] = samples
    return out


@functools.cache
def host():
    """Made once, or why it cannot be made."""
    try:
        return prof_dispatch.Dispatch(DEVICE)
    except (ValueError, RuntimeError, MemoryError) as why:
        return why.with_traceback(None) # which would hold what was made


def dispatch(experiment):
    """What the host takes to call it, not what the device takes to do it."""
    op = experiment.get("op")
    if op not in prof_dispatch.kinds():
        raise Unsupported(f"no dispatch of '{op}' here")
    if isinstance(host(), Exception):
        raise host().with_traceback(None)
    out = timed(lambda: host().time(op), DISPATCH_POLICY, experiment)
    return {**out, **host().inside(op)}


# ---- the program -----------------------------------------------------------

def cpu_device():
    """As mystique-prof-cpu describes it."""
    model, cache = "CPU", 0
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            model = next(line.split(":", 1)[1].strip() for line in f
                         if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    for index in range(8):
        path = f"/sys/devices/system/cpu/cpu0/cache/index{index}/size"
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read().strip()
        except OSError:
            break
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        cache = max(cache, int(text.rstrip("KM")) * unit)
    cores = torch.get_num_threads()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"name": f"{model} ({cores} core{'s' if cores > 1 else ''})",
            "kind": "cpu", "sms": cores, "threads": cores,
            "memory_bytes": pages, "l2_bytes": cache or 32 << 20}


def gpu_device():
    p = torch.cuda.get_device_properties(DEVICE)
    return {"name": p.name, "kind": "gpu", "sms": p.multi_processor_count,
            "memory_bytes": p.total_memory,
            "l2_bytes": gpu_timer.l2_bytes(p),
            "capability": f"{p.major}.{p.minor}"}


def tables():
    on_gpu = DEVICE.type == "cuda"
    products = ["fp32", "bfloat16", "fp64"]
    floats = ["fp32"]
    if on_gpu:
        products = ["fp32", "tf32", "fp16", "bfloat16", "fp64"]
        floats = ["fp32", "fp16", "bfloat16"]
    passes = ["conv2d_fwd", "conv2d_bwd_data", "conv2d_bwd_weight"]
    phases = ["prefill", "decode", "encoder"]
    vectors = OFFERED + (ON_GPU if on_gpu else ON_CPU)
    return {"gemm": products,
            "conv": [f"{p}:{d}" for d in floats for p in passes],
            "attention": [f"{p}:{d}" for d in floats for p in phases],
            "vector": [f"{op}:{d}" for d in floats for op in vectors],
            "copy": ["d2d"] + (["h2d:pinned", "h2d:pageable", "d2h:pinned",
                                "d2h:pageable"] if on_gpu else []),
            "dispatch": prof_dispatch.kinds()}


def say(line):
    print(json.dumps(line), flush=True)


def serve(answered):
    """`answered` gives what is known of an experiment, or why it is not."""
    for number, text in enumerate(sys.stdin, 1):
        if not text.strip():
            continue
        try:
            experiment = json.loads(text)
            if not isinstance(experiment, dict):
                raise ValueError
        except ValueError:
            sys.exit(f"prof_torch.py: line {number} is no JSON object, want "
                     "an experiment")
        out = {"id": experiment.get("id", 0)}
        try:
            out.update(answered(experiment))
        except Unsupported as why:
            out.update(error=str(why), unsupported=True)
        except NotImplementedError as why:
            out.update(error=str(why).split("\n", maxsplit=1)[0],
                       unsupported=True)
        except (ValueError, RuntimeError, MemoryError) as why:
            out.update(error=str(why).split("\n", maxsplit=1)[0],
                       unsupported=False)
        say(out)


def die_with_parent():
    """Whoever asks may be killed: what goes on then would disturb what is timed
    next (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["cpu", "cuda"],
                        default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=0,
                        help="on a CPU [default: as many as cores]")
    options = parser.parse_args()
    die_with_parent()
    global DEVICE, OPERANDS
    DEVICE = torch.device(options.device)
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.stderr.write("prof_torch.py: PyTorch finds no GPU\n")
        sys.exit(3)
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    device = cpu_device() if options.device == "cpu" else gpu_device()
    OPERANDS = Operands(DEVICE, device["l2_bytes"])
    gpu = gpu_timer.current(torch) if options.device == "cuda" else None
    say({"schema": SCHEMA, "backend": "torch", "version": torch.__version__,
         "device": device,
         "libraries": {"PyTorch": torch.__version__,
                       "CUDA": torch.version.cuda or "none"},
         "tables": tables(),
         "left_out": {"collective": "torch.distributed is not timed here",
                      "latency": "the C backends time these"}})
    with torch.inference_mode():
        serve(lambda experiment: answer(experiment, gpu))


DEVICE = torch.device("cpu")
OPERANDS = None  # once the device is known

if __name__ == "__main__":
    main()
