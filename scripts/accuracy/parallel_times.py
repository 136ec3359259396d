#!/usr/bin/env python3
"""Steps on two ranks over gloo, as "parallel" makes them of the single process,
against what they take on this machine.

    PYTHONPATH=TORCH scripts/accuracy/parallel_times.py record DIR
    for job in changed/tp-2 alone-4 alone-4-shared; do
        mystique-sim calibrate --backend "prof_torch.py --device cpu --threads 1" \\
            --for DIR/$job --budget 5 --measure-only --out DIR/cpu.json
    done
    mystique-sim calibrate --backend prof_gloo.py --budget 1 --out DIR/cpu.json
    PYTHONPATH=TORCH scripts/accuracy/parallel_times.py measure mystique-sim DIR
    PYTHONPATH=TORCH scripts/accuracy/parallel_times.py apart mystique-sim DIR

The first command records the single process. The shapes of shares are those of
what "whatif --write DIR/changed" makes of it. The last command times the single
process and each job in turn, in rounds, so that what else the machine does meets
them alike, and prints medians beside predictions on DIR/cpu.json. Of each job
those rounds count in which threads of its ranks waited least for a core. A rank
has one thread, and wants a core of its own: where two ranks share one, a step
takes what both compute. "apart" times one rank of tp 2 whose messages go nowhere,
beside the prediction without them: what computing and Python take.
"""

import glob
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

ROUNDS, STEPS = 20, 10
QUIETEST = 5  # of the rounds
NAMES = ("1f1b-2", "gpipe-2", "interleaved-2", "tp-2")


def waited():
    """Seconds that threads of this process were ready, and had no core; 0 where
    the kernel does not count them."""
    seconds = 0
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path, encoding="utf-8") as file:
                seconds += int(file.read().split()[1]) * 1e-9
        except OSError:  # it ended
            pass
    return seconds


def timed(step):
    """Seconds of STEPS in a row, and the share of them that threads of a rank
    waited for a core. All ranks call it together; some have no step."""
    begin, before = time.perf_counter(), waited()
    times = []
    for _ in range(STEPS if step else 0):
        at = time.perf_counter()
        step()
        times.append(time.perf_counter() - at)
    share = (waited() - before) / (time.perf_counter() - begin)
    most = torch.tensor([share if step else 0.0])
    dist.all_reduce(most, dist.ReduceOp.MAX)
    return times, most.item()


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
    for turn in range(ROUNDS + 1):
        for name, step in steps.items():
            dist.barrier()
            with captures.loss_parallel():
                took, share = timed(step if name not in bases or rank == 0 else None)
            if turn:
                times[name].append((share, took))
    if rank == 0:
        with open(f"{folder}/times.json", "w", encoding="utf-8") as file:
            json.dump(times, file)
    dist.barrier()
    dist.destroy_process_group()


def asked(binary, folder, name, changes, *options):
    """Microseconds of the single process, and of a job that is changed from it."""
    job = captures.JOBS[name]
    path = f"{folder}/{name}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"scenarios": [{"name": name,
                                  "changes": [{"parallel": job.change()}, *changes]}]}, file)
    done = subprocess.run(
        [binary, "whatif", path, f"{folder}/{job.base}", "--json",
         "--platform", f"{folder}/cpu.json", "--host", f"{folder}/cpu.host.json", *options],
        capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    return [x["period_us"]["predicted"] for x in (said["base"], said["scenarios"][0])]


def apart(binary, folder):
    from torch.testing._internal.distributed.fake_pg import FakeStore
    torch.set_num_threads(1)
    dist.init_process_group("fake", rank=0, world_size=2, store=FakeStore())
    step = captures.stepping(*captures.spread(captures.JOBS["tp-2"], 0), lists=False)
    times = []
    with captures.loss_parallel():
        for _ in range(ROUNDS * STEPS):
            at = time.perf_counter()
            step()
            times.append(1e3 * (time.perf_counter() - at))
    took = statistics.median(times)
    _, us = asked(binary, folder, "tp-2", [{"remove": {"select": "communication"}}])
    print(f"a rank of tp-2 without messages: {took:.1f} ms, predicted {us / 1e3:.1f}: "
          f"{100 * (us / 1e3 / took - 1):+.1f} %")


def predicted(binary, folder):
    """{job: period over that of the single process}, and milliseconds of that."""
    ratios, alone = {}, {}
    for name in NAMES:
        job = captures.JOBS[name]
        base, row = asked(binary, folder, name, [],
                          "--network", f"{folder}/cpu.network.json")
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
    if what == "apart":
        apart(binary, folder)
        return
    mp.spawn(ranks, args=(folder,), nprocs=2)
    with open(f"{folder}/times.json", encoding="utf-8") as file:
        rounds = json.load(file)
    times = {name: 1e3 * statistics.median(
        seconds for _, took in sorted(r)[:QUIETEST] for seconds in took)
             for name, r in rounds.items()}
    ratios, alone = predicted(binary, folder)
    for base, ms in alone.items():
        print(f"{base}: {times[base]:.1f} ms, predicted {ms:.1f}: "
              f"{100 * (ms / times[base] - 1):+.1f} %")
    for name, ratio in ratios.items():
        base = captures.JOBS[name].base
        ms = ratio * alone[base]
        print(f"{name}: {times[name]:.1f} ms, predicted {ms:.1f}: "
              f"{100 * (ms / times[name] - 1):+.1f} % "
              f"(x {times[name] / times[base]:.3f}, predicted x {ratio:.3f})")


if __name__ == "__main__":
    main()
