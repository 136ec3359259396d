#!/usr/bin/env python3
"""A step recorded on a CPU against the same step recorded without a device.

    scripts/accuracy/cpu_recordings.py [--binary build/mystique-sim]
                                       [--platform a100] [--most RATIO]

Networks of seven kinds with seven optimizers (cpu_nets.py) are captured on this
machine's CPU, and predicted for a GPU; `--model` predicts the same functions. A
line each has the times and the ratio of both: of a step, of its kernels, and of
its peak of memory. Exit 1 where a step's ratio, or one over it, is above --most.

Needs PyTorch, as scripts/capture.py does; no GPU.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
try:
    import torch # noqa: F401
    import cpu_nets
except ImportError as error:
    print(f"cpu_recordings.py: cannot import '{error.name}', want PyTorch")
    sys.exit(77)


def figures(args, *what):
    done = subprocess.run(
        [args.binary, "--platform", args.platform, "--json", *what],
        capture_output=True, text=True,
        env=dict(os.environ, PYTHON=sys.executable))
    if done.returncode:
        sys.exit(f"cpu_recordings.py: {' '.join(what)}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    return (answer["iteration_us"]["predicted"],
            answer["kernel_us"]["predicted"], answer["memory_bytes"]["peak"])


def pair(args, name, folder):
    net = f"{HERE / 'cpu_nets.py'}:{name},training"
    subprocess.run([sys.executable, str(HERE.parent / "capture.py"), "--model",
                    net, "--out", folder], check=True, capture_output=True)
    return figures(args, folder), figures(args, "--model", net)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="build/mystique-sim")
    parser.add_argument("--platform", default="a100")
    parser.add_argument("--most", type=float, default=1.05)
    args = parser.parse_args()
    worst = 1
    print("| network | on the CPU, us | --model, us | step | kernels | memory |"
          "\n|---|---|---|---|---|---|")
    for net in cpu_nets.NETS:
        with tempfile.TemporaryDirectory() as folder:
            cpu, model = pair(args, net.__name__, folder)
        ratios = [a / b for a, b in zip(cpu, model)]
        worst = max(worst, ratios[0], 1 / ratios[0])
        print(f"| {net.__name__} | {cpu[0]:.0f} | {model[0]:.0f} | "
              + " | ".join(f"{r:.3f}" for r in ratios) + " |")
    print(f"the farthest step by {worst:.3f}, {args.most:g} allowed")
    sys.exit(worst > args.most)


if __name__ == "__main__":
    main()
