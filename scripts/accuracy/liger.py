#!/usr/bin/env python3
"""Layers and losses that others timed one by one, against predictions.

    scripts/accuracy/liger.py --kernels FOLDER [--binary build/mystique-sim]
                              [--out CSV | --check CSV] [--data DIR]
                              [--kernel NAME] [--keep DIR]

FOLDER has liger.csv.gz: what beside each of Liger's kernels plain PyTorch took,
as its tables have it. Each program (liger_programs.py) is recorded on the meta
device, and predicted on the GPU of its row. `forward` is the forward pass, with
what autograd keeps; `backward` the backward pass alone; `full` is both.
Gradients of weights are added to those of the run before, as in the tables'
programs; those of the inputs where the peak memory of the row shows it.

Judged are rows above 30 us a launch: below, the host sets the pace.
--out writes a line a row; --check records the last row of each sweep again,
and fails where a prediction differs from the CSV by more than 2 %, or where
forward, backward or full err by more than the project promises.
No law is fitted on these rows.

Needs PyTorch, as scripts/capture.py does, and no GPU.
"""

import argparse
import csv
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zlib

import timed_rows

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "capture"))
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR") # else a line a trace
try:
    import torch
    import liger_programs
    import meta_capture
    import meta_gpu
except ImportError as error:
    print(f"liger.py: cannot import '{error.name}', want PyTorch")
    sys.exit(77)

GPUS = {"NVIDIA A100-SXM4-80GB": "a100", "NVIDIA H100 80GB HBM3": "h100",
        "NVIDIA B200": "b200", "NVIDIA GeForce RTX 4090": "rtx-4090"}
MODES = ("forward", "backward", "full")
# Tables whose memory has the inputs' gradients of the run before.
ADDED_TO = ("cross_entropy", "tvd")
LEAST_US = 30 # a launch, from which on the GPU sets the pace
# Mean and median error of the judged rows, in percent, of each mode.
PROMISED = {mode: (20, 12) for mode in MODES}
PROMISED_GPUS = ("a100", "h100")
COLUMNS = ["kernel", "gpu", "mode", "swept", "value", "config", "measured_us",
           "predicted_us", "low_us", "high_us", "launches", "judged",
           "error_percent"]


class Job:
    """A program whose steps are one mode of it."""

    def __init__(self, name, value, config, mode):
        self.mode = mode
        with meta_gpu.MetaGpu.current.building():
            self.forward, self.leaves = liger_programs.MAKERS[name](value,
                                                                    config)
        self.cleared = name not in ADDED_TO
        out = self.forward()
        self.out = out if isinstance(out, tuple) else (out,)
        self.grads = [None if t.dim() == 0 else torch.randn_like(t)
                      for t in self.out]
        if mode != "backward":
            self.out = None

    def step(self):
        if self.mode == "forward":
            self.forward()
            return
        if self.cleared:
            for t in self.leaves:
                t.grad = None
        out = self.out
        if self.mode == "full":
            out = self.forward()
            out = out if isinstance(out, tuple) else (out,)
        torch.autograd.backward(out, self.grads, retain_graph=True)


def record(name, value, config, mode, path):
    with meta_gpu.MetaGpu():
        meta_capture.record(Job(name, value, config, mode), 1, path)


def measured(folder):
    with gzip.open(folder / "liger.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric_name"] != "speed" or row["gpu_name"] not in GPUS or \
                    row["kernel_provider"] not in liger_programs.PROVIDERS:
                continue
            config = json.loads(row["extra_benchmark_config_str"])
            if row["kernel_name"] == "fused_moe":
                config[row["x_name"]] = None
            mode = row["kernel_operation_mode"]
            if row["kernel_name"] == "megatron_swiglu" and mode == "backward":
                continue # the same figures as of full
            yield {"kernel": row["kernel_name"], "gpu": GPUS[row["gpu_name"]],
                   "mode": mode, "swept": row["x_name"],
                   "value": int(float(row["x_value"])),
                   "config": json.dumps(config),
                   "measured_us": 1e3 * float(row["y_value_50"])}


def predict(args, path, gpu):
    data = {"MSIM_DATA": args.data} if args.data else {}
    done = subprocess.run([args.binary, "--platform", gpu, "--json", path],
                          capture_output=True, text=True,
                          env={**os.environ, **data})
    if done.returncode:
        sys.exit(f"liger.py: {done.stderr.strip()}")
    return timed_rows.answer_of(json.loads(done.stdout))


def answered(args, rows):
    """Rows with predictions; a program is recorded once for all GPUs."""
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows:
            words = [row["kernel"], row["mode"], str(row["value"]),
                     f"{zlib.crc32(row['config'].encode()):x}"]
            path = os.path.join(args.keep or scratch,
                                "-".join(words) + ".json.gz")
            if not os.path.exists(path):
                record(row["kernel"], row["value"], json.loads(row["config"]),
                       row["mode"], path)
            found = dict(row, **predict(args, path, row["gpu"]))
            error = 100 * (found["predicted_us"] / row["measured_us"] - 1)
            each = row["measured_us"] / max(found["launches"], 1)
            yield dict(found, judged="y" if each > LEAST_US else "n",
                       error_percent=error)


def print_tables(rows):
    for by in (("kernel", "mode", "gpu"), ("mode", "gpu"), ("mode",), ("gpu",)):
        timed_rows.print_errors(rows, *by)


def last_of_sweeps(rows):
    last = {}
    for row in rows:
        last[row["kernel"], row["gpu"], row["mode"], row["swept"],
             row["config"]] = row
    return list(last.values())


def faults(known, found):
    """What is wrong, a line each."""
    names = COLUMNS[:6]
    committed = {tuple(str(r[c]) for c in names): r for r in known}
    for row in found:
        was = committed.get(tuple(str(row[c]) for c in names))
        if was is None:
            yield f"no row of {row['kernel']} {row['mode']} {row['value']}"
        elif abs(row["predicted_us"] / float(was["predicted_us"]) - 1) > 0.02:
            yield (f"{row['kernel']} {row['mode']} {row['value']} on "
                   f"{row['gpu']}: {row['predicted_us']:.0f} us, the table has "
                   f"{was['predicted_us']}")
    promised = [r for r in known if r["gpu"] in PROMISED_GPUS]
    for (mode,), cell in timed_rows.cells(promised, "mode"):
        sizes = [abs(float(r["error_percent"])) for r in cell]
        got = statistics.mean(sizes), statistics.median(sizes)
        if any(g > p for g, p in zip(got, PROMISED[mode])):
            yield f"{mode}: mean {got[0]:.1f} %, median {got[1]:.1f} %, " \
                  f"promised are {PROMISED[mode]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--binary", default="build/mystique-sim")
    parser.add_argument("--data", help="a folder of platforms and laws instead "
                        "of the program's own")
    parser.add_argument("--kernel", help="rows of one kernel")
    parser.add_argument("--keep", help="a folder to keep the traces in, and to "
                        "take them from")
    parser.add_argument("--out", help="write a line a row")
    parser.add_argument("--check", help="compare with such a file")
    args = parser.parse_args()
    rows = [r for r in measured(args.kernels)
            if args.kernel in (None, r["kernel"])]
    if args.check:
        with open(args.check, newline="", encoding="utf-8") as file:
            known = list(csv.DictReader(file))
        wrong = list(faults(known, answered(args, last_of_sweeps(rows))))
        print_tables(known)
        sys.exit("\n".join(wrong) if wrong else 0)
    found = list(answered(args, rows))
    if args.out:
        timed_rows.write(args.out, COLUMNS, map(timed_rows.shown, found))
    print_tables(found)


if __name__ == "__main__":
    main()
