#!/usr/bin/env python3
"""Steps on two ranks over gloo, as "parallel" makes them of the single process,
against what they take on this machine.

    PYTHONPATH=TORCH scripts/accuracy/parallel_times.py record DIR
    mystique-sim calibrate --backend "prof_torch.py --device cpu --threads 1,prof_gloo.py" \\
        --for DIR/alone-4 --budget 30 --out DIR/cpu.json
    PYTHONPATH=TORCH scripts/accuracy/parallel_times.py measure mystique-sim DIR

The first command records the single process. The last one times it and each job
in turn, in rounds, so that what else the machine does meets them alike, and
prints medians beside predictions on DIR/cpu.json. A rank has one thread, and wants
a core of its own: where two ranks share one, a step takes what both compute.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import parallel_captures as captures
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

ROUNDS, STEPS = 8, 3
NAMES = ("1f1b-2", "gpipe-2", "interleaved-2", "tp-2")


def timed(step):
    times = []
    for _ in range(STEPS):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def ranks(rank, folder):
    torch.set_num_threads(1)
    captures.meet(rank, 2, folder)
    bases = {captures.JOBS[name].base: captures.JOBS[name] for name in NAMES}
    steps = {}
    for base, job in bases.items():
        steps[base] = captures.stepping(*captures.alone(job), lists=job.tp == 1)
    for name in NAMES:
        job = captures.JOBS[name]
        steps[name] = captures.stepping(*captures.spread(job, rank), lists=job.tp == 1)
    times = {name: [] for name in steps}
    for _ in range(ROUNDS + 1):
        for name, step in steps.items():
            dist.barrier()
            if name not in bases or rank == 0:
                with captures.loss_parallel():
                    times[name] += timed(step)
    if rank == 0:
        with open(f"{folder}/times.json", "w", encoding="utf-8") as file:
            json.dump({name: t[STEPS:] for name, t in times.items()}, file)
    dist.barrier()
    dist.destroy_process_group()


def predicted(binary, folder):
    """{job: period over that of the single process}, and milliseconds of that."""
    ratios, alone = {}, {}
    for name in NAMES:
        job = captures.JOBS[name]
        path = f"{folder}/{name}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"scenarios": [{"name": name, "changes": [{"parallel": job.change()}]}]}, file)
        done = subprocess.run(
            [binary, "whatif", path, f"{folder}/{job.base}", "--json",
             "--platform", f"{folder}/cpu.json", "--host", f"{folder}/cpu.host.json",
             "--network", f"{folder}/cpu.network.json"],
            capture_output=True, text=True, check=True)
        said = json.loads(done.stdout)
        base, row = (x["period_us"]["predicted"] for x in (said["base"], said["scenarios"][0]))
        ratios[name] = row / base
        alone[job.base] = base / 1e3
    return ratios, alone


def main():
    what, *rest = sys.argv[1:]
    if what == "record":
        torch.set_num_threads(1)
        for name in NAMES:
            job = captures.JOBS[name]
            captures.record(f"{rest[0]}/{job.base}", 0,
                            captures.stepping(*captures.alone(job), lists=job.tp == 1))
        return
    binary, folder = rest[0], os.path.abspath(rest[1])
    mp.spawn(ranks, args=(folder,), nprocs=2)
    with open(f"{folder}/times.json", encoding="utf-8") as file:
        times = {name: statistics.median(t) * 1e3 for name, t in json.load(file).items()}
    ratios, alone = predicted(binary, folder)
    for base, ms in alone.items():
        print(f"{base}: {times[base]:.1f} ms, predicted {ms:.1f}: "
              f"{100 * (ms / times[base] - 1):+.1f} %")
    for name, ratio in ratios.items():
        base = captures.JOBS[name].base
        is_ = times[name] / times[base]
        print(f"{name}: {times[name]:.1f} ms, x {is_:.3f}, predicted x {ratio:.3f}: "
              f"{100 * (ratio / is_ - 1):+.1f} %")


if __name__ == "__main__":
    main()
