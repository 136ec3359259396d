#!/usr/bin/env python3
"""The change "parallel" against PyTorch's own pipelining and tensor parallelism.

    PYTHONPATH=TORCH scripts/accuracy/parallel_captures.py mystique-sim DIR

records a step of a small GPT alone, on two stages (torch.distributed.pipelining,
1F1B and GPipe, four micro batches) and on two tensor parallel ranks
(parallelize_module), over gloo on this CPU. It changes the first into the
others and prints, rank by rank, messages, operators, kernel time and peak.
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
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                               parallelize_module)
from torch.profiler import ExecutionTraceObserver, record_function

WIDTH, HEADS, LAYERS, VOCAB, TOKENS, BATCH, PARTS = 128, 4, 4, 512, 32, 4, 4
SCHEDULES = {"1f1b": Schedule1F1B, "gpipe": ScheduleGPipe}
PORTS = {"1f1b": 29511, "gpipe": 29512, "shares": 29513}
COUNTED = ("aten::mm", "aten::addmm", "aten::native_layer_norm", "aten::gelu",
           "aten::native_layer_norm_backward", "aten::gelu_backward",
           "aten::embedding", "aten::embedding_dense_backward")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.before(x)
        q, k, v = (f(y).unflatten(2, (-1, WIDTH // HEADS)).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Stage(nn.Module):
    """Blocks, with what is before the first and behind the last."""

    def __init__(self, begin, end):
        super().__init__()
        self.first, self.last = begin == 0, end == LAYERS
        if self.first:
            self.words, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(begin, end))
        if self.last:
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, x):
        if self.first:
            x = self.words(x) + self.places(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)) if self.last else x


def loss(output, target):
    return F.cross_entropy(output.flatten(0, 1), target.flatten())


def record(folder, rank, model, run):
    # lists do not mix shared tensors with others
    optimizer = torch.optim.AdamW(model.parameters(), foreach=not folder.endswith("shares"))

    def step():
        optimizer.zero_grad(set_to_none=True)
        run()
        optimizer.step()

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


def alone(folder):
    model, x, y = Stage(0, LAYERS), tokens(BATCH), tokens(BATCH)
    record(folder, 0, model, lambda: loss(model(x), y).backward())


def ranks(rank, kind, folder):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(PORTS[kind]))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    if kind == "shares":
        model, x, y = Stage(0, LAYERS), tokens(BATCH), tokens(BATCH)
        plan = dict.fromkeys("q k v up".split(), ColwiseParallel())
        plan.update(dict.fromkeys("out down".split(), RowwiseParallel()))
        for block in model.blocks:
            parallelize_module(block, init_device_mesh("cpu", (2,)), plan)
        run = lambda: loss(model(x), y).backward()  # noqa: E731
    else:
        half = LAYERS // 2
        model = Stage(0, half) if rank == 0 else Stage(half, LAYERS)
        stage = PipelineStage(model, rank, 2, torch.device("cpu"))
        schedule = SCHEDULES[kind](stage, PARTS, loss_fn=loss)
        x, y = tokens(PARTS * BATCH), tokens(PARTS * BATCH)
        run = (lambda: schedule.step(x)) if rank == 0 else (lambda: schedule.step(target=y))
    record(folder, rank, model, run)
    dist.barrier()
    dist.destroy_process_group()


def read(path):
    """Messages in order, and how often operators run."""
    messages, counts = [], collections.Counter()
    for node in sorted(json.load(open(path))["nodes"], key=lambda n: n["id"]):
        told = {a["name"]: a.get("value") for a in node["attrs"]}
        counts[node["name"]] += node["name"] in COUNTED
        kind = told.get("collective_name") or ""
        if node["name"].startswith("gloo:"):
            kind, elems = node["name"][5:], 1
            for size in node["inputs"]["shapes"][0]:
                elems *= size
        elif kind not in ("", "wait"):
            elems = told["in_msg_nelems"]
        else:
            continue
        messages.append((kind.replace("_", ""), elems))
    return messages, {name: counts[name] for name in COUNTED}


def figures(binary, *arguments):
    done = subprocess.run([binary, *arguments, "--json", "--platform", "a100"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    binary, folder = sys.argv[1:3]
    alone(f"{folder}/alone")
    changes = {kind: {"pp": 2, "micro_batches": PARTS, "schedule": kind} for kind in SCHEDULES}
    changes["shares"] = {"tp": 2, "sequence_parallel": False}
    for kind in changes:
        mp.spawn(ranks, args=(kind, f"{folder}/{kind}"), nprocs=2)
    with open(f"{folder}/changes.json", "w", encoding="utf-8") as file:
        json.dump({"scenarios": [{"name": kind, "changes": [{"parallel": how}]}
                                 for kind, how in changes.items()]}, file)
    rows = figures(binary, "whatif", f"{folder}/changes.json", f"{folder}/alone",
                   "--write", f"{folder}/changed")["scenarios"]
    for row in rows:
        kind = row["name"]
        for rank in range(2 if kind in SCHEDULES else 1):
            name = f"{kind}/rank-{rank}.et.json"
            own, changed = read(f"{folder}/{name}"), read(f"{folder}/changed/{name}")
            print(f"{kind} rank {rank}: {len(changed[0])} messages, recorded {len(own[0])}, "
                  f"in order {changed[0] == own[0]}, alike {sorted(changed[0]) == sorted(own[0])}; "
                  f"operators alike {changed[1] == own[1]}")
        if kind in SCHEDULES:
            is_ = figures(binary, f"{folder}/{kind}")
            for what, a, b in (
                    ("kernels", row["kernel_us"]["predicted"], is_["kernel_us"]["predicted"]),
                    ("step", row["period_us"]["predicted"], is_["period_us"]["predicted"]),
                    ("peak", row["memory_bytes"]["peak"], is_["memory_bytes"]["peak"])):
                print(f"{kind} {what}: {100 * (a / b - 1):+.1f} %")


if __name__ == "__main__":
    main()
