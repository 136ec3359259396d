#!/usr/bin/env python3
"""The change "parallel" against PyTorch's own pipelining and tensor parallelism.

    PYTHONPATH=TORCH scripts/accuracy/parallel_captures.py mystique-sim DIR [NAME ...]

records a step of a small GPT alone, and as each job below trains it on 2 or 4
ranks over gloo on this CPU (torch.distributed.pipelining, parallelize_module,
both on a mesh). It changes the first into the others and prints, rank by rank,
messages and operators, and of each job kernel time, step and peak. "In order":
messages of the same kinds and sizes are posted in the same order; "as read": they
are where what is received counts where it is first read. With RECORDED in the
environment, the traces in DIR are compared anew.
"""

import collections
import json
import os
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.distributed import pipelining
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput,
                                               RowwiseParallel, SequenceParallel,
                                               loss_parallel, parallelize_module)
from torch.profiler import ExecutionTraceObserver, record_function

WIDTH, HEADS, VOCAB, TOKENS, BATCH = 128, 4, 640, 48, 2
SCHEDULES = {"1f1b": "Schedule1F1B", "gpipe": "ScheduleGPipe",
             "interleaved": "ScheduleInterleaved1F1B",
             "zero-bubble": "ScheduleInterleavedZeroBubble"}
COUNTED = ("aten::mm", "aten::addmm", "aten::native_layer_norm", "aten::gelu",
           "aten::native_layer_norm_backward", "aten::gelu_backward",
           "aten::embedding", "aten::embedding_dense_backward")


class Job:
    """`stages`: blocks of each stage, where they are not spread evenly."""

    def __init__(self, pp=1, tp=1, vp=1, schedule="1f1b", layers=4, parts=4,
                 stages=None, rows=False):
        self.pp, self.tp, self.vp, self.schedule = pp, tp, vp, schedule
        self.layers, self.parts, self.stages, self.rows = layers, parts, stages, rows

    ranks = property(lambda self: self.pp * self.tp)

    @property
    def base(self):
        return f"alone-{self.layers}{'-shared' * (self.tp > 1)}{'-rows' * self.rows}"

    def change(self):
        how = {"tp": self.tp, "sequence_parallel": self.rows,
               "implementation": "dtensor"} if self.tp > 1 else {}
        if self.pp > 1:
            how |= {"pp": self.pp, "vp": self.vp, "schedule": self.schedule,
                    "micro_batches": self.parts}
        return how | ({"stages": self.stages} if self.stages else {})

    def blocks(self, stage):
        """First and last but one of stage `stage` of pp * vp."""
        each = self.stages or [self.layers // (self.pp * self.vp)] * self.pp * self.vp
        return sum(each[:stage]), sum(each[:stage + 1])


JOBS = {
    "1f1b-2": Job(2), "gpipe-2": Job(2, schedule="gpipe"),
    "1f1b-2-long": Job(2, parts=7), "uneven-2": Job(2, layers=5, stages=[3, 2]),
    "interleaved-2": Job(2, vp=2, schedule="interleaved"),
    "zero-bubble-2": Job(2, schedule="zero-bubble"),
    "zero-bubble-4": Job(4, schedule="zero-bubble", parts=8),
    "tp-2": Job(tp=2), "rows-2": Job(tp=2, rows=True),
    "1f1b-4": Job(4), "gpipe-4": Job(4, schedule="gpipe"),
    "1f1b-4-long": Job(4, parts=9), "uneven-4": Job(4, layers=8, stages=[3, 2, 2, 1]),
    "interleaved-4": Job(4, vp=2, schedule="interleaved", layers=8, parts=8),
    "tp-4": Job(tp=4), "rows-4": Job(tp=4, rows=True), "tp-2-pp-2": Job(2, 2),
    "rows-2-pp-2": Job(2, 2, rows=True),
}


# ---- the model --------------------------------------------------------------

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, y):
        q, k, v = (f(y).unflatten(2, (-1, WIDTH // HEADS)).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.between = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Stage(nn.Module):
    """Blocks, with what is before the first and behind the last. Ranks that
    share tokens have no table of places, each row of which is a token's."""

    def __init__(self, job, begin, end):
        super().__init__()
        self.first, self.last = begin == 0, end == job.layers
        self.places = None
        if self.first:
            self.words = nn.Embedding(VOCAB, WIDTH)
            self.places = None if job.rows else nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(begin, end))
        if self.last:
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, x):
        if self.first:
            tokens = x.shape[1]
            x = self.words(x)
            x = x + self.places(torch.arange(tokens)) if self.places else x
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)) if self.last else x


def share(stage, mesh, rows):
    """As PyTorch's tutorial of tensor parallelism does."""
    tokens = Shard(1) if rows else Replicate()
    plan = {"words": RowwiseParallel(input_layouts=Replicate(), output_layouts=tokens),
            "head": ColwiseParallel(input_layouts=tokens, output_layouts=Shard(-1),
                                    use_local_output=False)}
    plan |= {"norm": SequenceParallel()} if rows else {}
    parallelize_module(stage, mesh, {k: v for k, v in plan.items() if hasattr(stage, k)})
    plan = {f"attention.{name}": ColwiseParallel() for name in "qkv"}
    plan |= dict.fromkeys(("attention.out", "down"), RowwiseParallel(output_layouts=tokens))
    plan |= {"up": ColwiseParallel(input_layouts=tokens)}
    if rows:
        plan |= dict.fromkeys(("before", "between"), SequenceParallel())
        plan |= {"attention": PrepareModuleInput(input_layouts=tokens,
                                                 desired_input_layouts=Replicate())}
    for block in stage.blocks:
        parallelize_module(block, mesh, plan)


def loss(output, target):
    return F.cross_entropy(output.flatten(0, 1), target.flatten())


# ---- recording --------------------------------------------------------------

def stepping(models, run, lists=True):
    """A step of training; `lists` do not mix shared tensors with others."""
    optimizer = torch.optim.AdamW([p for m in models for p in m.parameters()], foreach=lists)

    def step():
        optimizer.zero_grad(set_to_none=True)
        run()
        optimizer.step()
    return step


def record(folder, rank, step):
    os.makedirs(folder, exist_ok=True)
    step()
    observer = ExecutionTraceObserver()
    observer.register_callback(f"{folder}/rank-{rank}.et.json")
    observer.start()
    with record_function("ProfilerStep#1"):
        step()
    observer.stop()
    observer.unregister_callback()


def tokens(batch):
    return torch.randint(0, VOCAB, (batch, TOKENS))


def alone(job):
    """The models of the single process, and a pass through them."""
    model, x, y = Stage(job, 0, job.layers), tokens(BATCH), tokens(BATCH)
    return [model], lambda: loss(model(x), y).backward()


def pipeline(job, rank, group, models):
    stages = [pipelining.PipelineStage(m, rank + i * job.pp, job.pp * job.vp,
                                       torch.device("cpu"), group=group)
              for i, m in enumerate(models)]
    schedule = getattr(pipelining, SCHEDULES[job.schedule])(
        stages[0] if job.schedule in ("1f1b", "gpipe") else stages, job.parts, loss_fn=loss)
    x, y = tokens(job.parts * BATCH), tokens(job.parts * BATCH)
    inputs = [x] if rank == 0 else []
    target = y if rank == job.pp - 1 else None
    return lambda: schedule.step(*inputs, target=target, return_outputs=False)


def spread(job, rank):
    """The models of a rank, and all micro batches through them."""
    mesh = init_device_mesh("cpu", (job.pp, job.tp), mesh_dim_names=("pp", "tp"))
    stage = mesh.get_local_rank("pp")
    models = [Stage(job, *job.blocks(stage + i * job.pp)) for i in range(job.vp)]
    if job.tp > 1:
        for model in models:
            share(model, mesh["tp"], job.rows)
    if job.pp > 1:
        return models, pipeline(job, stage, mesh.get_group("pp"), models)
    x, y = tokens(BATCH), tokens(BATCH)
    return models, lambda: loss(models[0](x), y).backward()


def meet(rank, world, folder):
    dist.init_process_group("gloo", rank=rank, world_size=world,
                            init_method=f"file://{folder}/meeting-{world}-{os.getppid()}")


def ranks(rank, world, names, folder):
    torch.set_num_threads(1)
    meet(rank, world, folder)
    for name in names:
        job = JOBS[name]
        with loss_parallel():
            record(f"{folder}/{name}", rank,
                   stepping(*spread(job, rank), lists=job.tp == 1))
        dist.barrier()
    dist.destroy_process_group()


# ---- comparing --------------------------------------------------------------

def storages(value):
    """Of all tensors in the arguments of a node."""
    if isinstance(value, list):
        if len(value) == 6 and isinstance(value[5], str) and isinstance(value[0], int):
            yield value[1]
        else:
            for part in value:
                yield from storages(part)


def innermost(nodes):
    """Without operators that a subclass of tensors makes others of."""
    by_id = {node["id"]: node for node in nodes}
    around = {by_id[node["ctrl_deps"]]["id"] for node in nodes
              if node["name"] == "PythonSubclass"}
    return [node for node in nodes if node["id"] not in around]


def message_of(node, asked):
    """(kind, elements), or None. Gloo reduces all where it is to scatter: `asked`
    has what it was asked for and has not begun."""
    told = {a["name"]: a.get("value") for a in node["attrs"]}
    kind = told.get("collective_name") or ""
    if node["name"].startswith("gloo:"):
        kind, elems = node["name"][5:], 1
        if kind == "all_reduce" and asked:
            kind = asked.pop(0)
        for size in node["inputs"]["shapes"][0]:
            elems *= size
        return kind.replace("_", ""), elems
    if kind in ("", "wait"):
        return None
    return kind.replace("_", "").replace("base", ""), told["in_msg_nelems"]


def read(path):
    """Messages in order, the same with what is received where it is first read,
    and how often operators run."""
    nodes = sorted(json.load(open(path))["nodes"], key=lambda n: n["id"])
    posted, used, waits = [], [], {}
    counts = collections.Counter(node["name"] for node in innermost(nodes))
    asked = []
    for node in nodes:
        if node["name"].startswith(("c10d::reduce_scatter", "c10d::allreduce")):
            asked.append("reduce_scatter" if "scatter" in node["name"] else "all_reduce")
        message = message_of(node, asked)
        for storage in storages(node["inputs"]["values"]):
            if message is None and node["name"].startswith("aten::"):
                used += waits.pop(storage, [])
        if message is None:
            continue
        posted.append(message)
        if message[0] == "recv":
            waits[next(storages(node["inputs"]["values"]))] = [message]
        else:
            used.append(message)
    return posted, used, {name: counts[name] for name in COUNTED}


def figures(binary, *arguments):
    done = subprocess.run([binary, *arguments, "--json", "--platform", "a100"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compare(binary, folder, name, row):
    for rank in range(JOBS[name].ranks):
        file = f"{name}/rank-{rank}.et.json"
        path = f"{folder}/changed/{file}"
        if not os.path.exists(path):  # as the first of its tensor parallel ranks
            first = rank - rank % JOBS[name].tp
            path = f"{folder}/changed/{name}/rank-{first}.et.json"
        own, changed = read(f"{folder}/{file}"), read(path)
        order = ("in order" if changed[0] == own[0] else
                 "in order as read" if changed[1] == own[1] else
                 "alike" if sorted(changed[0]) == sorted(own[0]) else "others")
        operators = "alike" if changed[2] == own[2] else "others"
        print(f"{name} rank {rank}: {len(changed[0])} messages, recorded {len(own[0])}: "
              f"{order}; operators {operators}")
    is_ = figures(binary, f"{folder}/{name}")
    for what, a, b in (
            ("kernels", row["kernel_us"]["predicted"], is_["kernel_us"]["predicted"]),
            ("step", row["period_us"]["predicted"], is_["period_us"]["predicted"]),
            ("peak", row["memory_bytes"]["peak"], is_["memory_bytes"]["peak"])):
        print(f"{name} {what}: {100 * (a / b - 1):+.1f} %")


def prepare(folder, bases):
    for base, of in bases.items():
        job = JOBS[of[0]]
        record(f"{folder}/{base}", 0, stepping(*alone(job), lists=job.tp == 1))
    for world in (2, 4):
        names = [name for of in bases.values() for name in of if JOBS[name].ranks == world]
        if names:
            mp.spawn(ranks, args=(world, names, folder), nprocs=world)


def main():
    binary, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    names = sys.argv[3:] or list(JOBS)
    bases = collections.defaultdict(list)
    for name in names:
        bases[JOBS[name].base].append(name)
    if not os.environ.get("RECORDED"):
        prepare(folder, bases)
    for base, of in bases.items():
        with open(f"{folder}/{base}.json", "w", encoding="utf-8") as file:
            json.dump({"scenarios": [{"name": name, "changes": [{"parallel": JOBS[name].change()}]}
                                     for name in of]}, file)
        rows = figures(binary, "whatif", f"{folder}/{base}.json", f"{folder}/{base}",
                       "--write", f"{folder}/changed")["scenarios"]
        for row in rows:
            if row["name"] in JOBS:
                compare(binary, folder, row["name"], row)


if __name__ == "__main__":
    main()
