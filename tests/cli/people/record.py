"""Record what people.sh reads: python record.py, in this folder. On a CPU, with
PyTorch 2.13.0; ids and times differ from run to run, operators do not."""
import gzip
import os
import shutil

import torch
from torch import nn
from torch.profiler import ExecutionTraceObserver, profile, schedule

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8))
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), 0.1)


def step(forward):
    loss = nn.functional.cross_entropy(forward(torch.randn(16, 32)),
                                       torch.randint(0, 8, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def pack(name):
    with open(name, "rb") as plain, gzip.GzipFile(name + ".gz", "wb", mtime=0) as f:
        shutil.copyfileobj(plain, f)
    os.remove(name)


def record(folder, forward, repeat):
    """Cycles of two steps; Kineto exports each cycle, and the last one stays."""
    os.makedirs(folder, exist_ok=True)
    observer = ExecutionTraceObserver().register_callback(f"{folder}/et.json")
    with profile(record_shapes=True, execution_trace_observer=observer,
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=repeat),
                 on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/kineto.json")
                 ) as prof:
        for _ in range(4 * repeat):
            step(forward)
            prof.step()
    pack(f"{folder}/et.json")
    pack(f"{folder}/kineto.json")


for _ in range(3):
    step(model)
    step(compiled)
record("cycles", model, 2)
record("compiled", compiled, 1)
with torch.inference_mode(), profile() as prof:
    for _ in range(3):
        model(torch.randn(16, 32))
prof.export_chrome_trace("no-shapes.json")
pack("no-shapes.json")
with torch.inference_mode(), profile(record_shapes=True, with_modules=True) as prof:
    for _ in range(3):
        model(torch.randn(16, 32))
prof.export_chrome_trace("inference.json")
pack("inference.json")
