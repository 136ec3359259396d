#!/usr/bin/env python3
"""Compare generated benchmarks with the models whose traces they were made of.

    generated.py [--program FILE] [--pairs N] [--rounds N] [--models NAME,...]
                 [--out FILE.csv]

Each model is captured on the CPU, a benchmark is generated from the execution
trace, and both run in processes of their own, one step each in turn, the order
reversed every round, on one thread, with malloc pinned. Two processes of one
program differ by a tenth for all their life (where its memory lies), so that
several pairs of processes run one after the other. Reported are the ratios of
benchmark to original: CPU time and wall time of a step (the median of the
pairs, each the ratio of the medians of its rounds), the allocator's peak from
nothing to the second step; and whether all leaf operators and the topmost ones
are equal, how long the program is, and how many tensors come from outside.
"""

import argparse
import csv
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CAPTURE = os.path.join(ROOT, "scripts", "capture.py")
MODELS = {
    "gpt2": "--model gpt2 --layers 12 --width 128 --seq 32 --batch 4 "
            "--vocab 8192",
    "bert": "--model bert --layers 4 --width 256 --seq 64 --batch 2",
    "vit": "--model vit --layers 4 --width 192 --image 64 --batch 2",
    "llama": "--model llama --layers 2 --width 256 --seq 64 --batch 1 "
             "--vocab 2000",
    "dlrm": "--model dlrm --rows 10000 --batch 128",
    "resnet50": "--model resnet50 --image 64 --batch 2",
}
COLUMNS = ("model", "leaf_operators", "certified", "topmost_equal", "coverage",
           "lines", "loops", "outside", "cpu_ratio", "wall_ratio", "peak_ratio",
           "original_cpu_ms", "benchmark_cpu_ms", "rounds", "pairs")


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def serve(kind, what):
    """A worker: a step for every line that comes, its times back."""
    import torch
    torch.set_num_threads(1)
    if kind == "original":
        capture = load(CAPTURE, "capture")
        args = capture.parse_args(what.split() + ["--out", "unused"])
        capture.pin_malloc()
        job = capture.Job(args, 0)
        step = job.timed_step
    else:
        bench = load(os.path.join(what, "bench.py"), "bench")
        bench.pin_malloc()
        bench.make_tensors()
        step = bench.step
    for _ in range(5):
        step()
    print("ready", flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        print((time.perf_counter() - wall) * 1e3,
              (time.process_time() - cpu) * 1e3, flush=True)


class Worker:
    def __init__(self, kind, what):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--serve", kind, what],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"})
        while self.process.stdout.readline().strip() != "ready":
            if self.process.poll() is not None:
                sys.exit(f"generated.py: the worker of {what} ended")
        self.times = []

    def step(self):
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        self.times.append([float(x) for x in
                           self.process.stdout.readline().split()])

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        wall, cpu = zip(*self.times)
        return statistics.median(wall), statistics.median(cpu)


def race(options, folder, rounds):
    workers = [Worker("original", options), Worker("benchmark", folder)]
    for i in range(rounds):
        for worker in workers if i % 2 else reversed(workers):
            worker.step()
    return [worker.end() for worker in workers]


def races(options, folder, rounds, pairs):
    """Medians over the pairs: wall ratio, CPU ratio, CPU ms of both."""
    rows = []
    for _ in range(pairs):
        (wall, cpu), (bench_wall, bench_cpu) = race(options, folder, rounds)
        rows.append((bench_wall / wall, bench_cpu / cpu, cpu, bench_cpu))
    return [statistics.median(column) for column in zip(*rows)]


def quiet(*command):
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode > 1:
        sys.exit(f"generated.py: {' '.join(command)}: {done.stderr}")
    return done


def compare(program, name, rounds, pairs):
    with tempfile.TemporaryDirectory() as folder:
        run, bench = os.path.join(folder, "run"), os.path.join(folder, "bench")
        et = os.path.join(run, "et", "rank-0.json.gz")
        quiet(sys.executable, CAPTURE, *MODELS[name].split(), "--out", run,
              "--steps", "1", "--timed", "2", "--pin-malloc")
        said = quiet(program, "generate", et, "-o", bench).stderr
        done = quiet(sys.executable, os.path.join(bench, "bench.py"), "--json",
                     "--iters", "3", "--certify", et)
        result = json.loads(done.stdout)
        with open(os.path.join(run, "meta.json")) as file:
            peak = json.load(file)["ranks"][0]["peak_memory"]["bytes"]
        with open(os.path.join(bench, "data.json")) as file:
            outside = len(json.load(file)["tensors"])
        wall, cpu, original_ms, bench_ms = races(MODELS[name], bench, rounds,
                                                 pairs)
        with open(os.path.join(bench, "bench.py")) as file:
            text = file.read()
    return {"model": name, "leaf_operators": result["leaf_operators"],
            "certified": int(result["certified"]),
            "topmost_equal": int(result["topmost_equal"]),
            "coverage": result["coverage"], "lines": text.count("\n"),
            "loops": int(re.search(r"(\d+) loops", said).group(1)),
            "outside": outside, "cpu_ratio": round(cpu, 3),
            "wall_ratio": round(wall, 3),
            "peak_ratio": round(result["peak_bytes"] / peak, 4),
            "original_cpu_ms": round(original_ms, 2),
            "benchmark_cpu_ms": round(bench_ms, 2), "rounds": rounds,
            "pairs": pairs}


def main(argv):
    if argv[:1] == ["--serve"]:
        return serve(*argv[1:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", default=os.path.join(ROOT, "build",
                                                          "mystique-sim"))
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--out", metavar="FILE.csv")
    args = parser.parse_args(argv)
    rows = []
    for name in args.models.split(","):
        if name not in MODELS:
            parser.error(f"no model '{name}', want some of {','.join(MODELS)}")
        rows.append(compare(args.program, name, args.rounds, args.pairs))
        print(rows[-1], file=sys.stderr)
    with open(args.out, "w", newline="") if args.out else sys.stdout as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
