#!/usr/bin/env python3
"""Time torch.distributed's collectives and messages over gloo, between processes
of this machine: experiments in, rows out, a JSON line each.

    prof_gloo.py [--ranks N]

A backend as profilers/serve.h describes it. It reads experiments, and leads the
other processes, which do as it tells them. Each has one thread. Sizes are as
nccl-tests counts them: of all_gather the whole buffer.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

import prof_torch
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

KINDS = ("all_reduce", "all_gather", "broadcast", "sendrecv")
LEFT_OUT = "gemm", "conv", "attention", "vector", "copy", "latency"
END = len(KINDS)  # tells the others to end
# One barrier for so many, whose own skew would count else. Costs of messages have a
# long tail, and a step pays the mean. Of large ones, a few.
IN_A_ROW = 8
BYTES_IN_A_ROW = 1 << 22
# So many samples at least, and as long as it takes: a tenth of them is late by a
# slice of the scheduler.
POLICY = {"least": 8, "seconds": 0.4}
WIDTH = 256       # of the product ahead of each, about half a millisecond


def message(whole):
    """There and back between the first two."""
    rank = dist.get_rank()
    for turn in range(2):
        if rank == turn:
            dist.send(whole, 1 - rank)
        elif rank == 1 - turn:
            dist.recv(whole, 1 - rank)


def once(kind, whole):
    """The microseconds of one behind computing, as a step has it: who waits for a
    message sleeps, its core is another's, and ranks are not there at one time.
    What a row takes beyond undisturbed computing counts."""
    n = dist.get_world_size()
    operand = torch.rand(WIDTH, WIDTH)
    parts = whole[:whole.numel() // n].clone()
    run = {"all_reduce": lambda: dist.all_reduce(whole),
           "all_gather": lambda: dist.all_gather(list(whole.chunk(n)), parts),
           "broadcast": lambda: dist.broadcast(whole, 0),
           "sendrecv": lambda: message(whole)}[kind]
    times = max(1, min(IN_A_ROW, BYTES_IN_A_ROW // (4 * whole.numel())))
    computing = []
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(times):
        at = time.perf_counter()
        operand @ operand
        computing.append(time.perf_counter() - at)
        run()
    took = (time.perf_counter() - begin) / times - statistics.median(computing)
    return took * 1e6 / 2 if kind == "sendrecv" else took * 1e6


def tell(kind, numbers):
    order = torch.tensor([kind, numbers])
    dist.broadcast(order, 0)
    return order.tolist()


def answer(experiment):
    kind, ranks = experiment.get("collective"), dist.get_world_size()
    if "beside" in experiment or kind not in KINDS or \
            experiment.get("table") != "collective" or \
            experiment.get("dtype", "fp32") != "fp32":
        raise prof_torch.Unsupported("no such collective of fp32 here")
    if experiment.get("ranks") != ranks or experiment.get("nodes", 1) != 1:
        raise prof_torch.Unsupported(f"{ranks} ranks on one node are here")
    # as many for each rank
    numbers = prof_torch.whole(experiment, "bytes") // 4 // ranks * ranks
    whole = torch.rand(max(numbers, ranks))

    def run():
        tell(KINDS.index(kind), whole.numel())
        return once(kind, whole)

    asked = experiment.get("policy", {})
    policy = {**asked, **{key: max(least, asked.get(key, 0))
                          for key, least in POLICY.items()}}
    return prof_torch.timed(run, prof_torch.POLICY, {**experiment, "policy": policy})


def follow():
    while True:
        kind, numbers = tell(0, 0)
        if kind == END:
            return
        once(KINDS[kind], torch.rand(numbers))


def join(rank, ranks, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks,
                            init_method=f"file://{path}")
    if rank:
        prof_torch.die_with_parent()
        follow()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2)
    ranks = parser.parse_args().ranks
    if ranks < 2:
        sys.exit("prof_gloo.py: --ranks is less than 2, want somebody to send to")
    prof_torch.die_with_parent()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "meeting")
        others = [mp.get_context("spawn").Process(
            target=join, args=(rank, ranks, path)) for rank in range(1, ranks)]
        for other in others:
            other.start()
        join(0, ranks, path)
        prof_torch.say({"schema": prof_torch.SCHEMA, "backend": "gloo",
                        "version": torch.__version__,
                        "device": prof_torch.cpu_device(),
                        "libraries": {"PyTorch": torch.__version__},
                        "ranks": ranks, "interconnect": "gloo",
                        "tables": {"collective": list(KINDS)},
                        "left_out": dict.fromkeys(LEFT_OUT,
                                                  "prof_torch.py times this")})
        prof_torch.serve(answer)
        tell(END, 0)
        for other in others:
            other.join()


if __name__ == "__main__":
    main()
