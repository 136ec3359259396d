#!/usr/bin/env python3
"""One batch predicted from another: runs really made at both.

    scripts/accuracy/batch.py --traces FOLDER [--binary build/mystique-sim]
                              [--capture DIR]

Kernel time: a model was recorded at batches 2 to 512. The trace of batch 8 is
predicted at each of the others with `whatif`, and compared with its recording.
Its sequence is as long as the longest sample of a batch, so that is changed,
too, with what follows from it (a class token, pairs of tokens).

Peak memory, with --capture (an execution trace of one step of ResNet-50 with
Adam, batch 8, recorded on a CPU: scripts/capture.py --model resnet50 --optimizer
adam --batch 8 --steps 1): every row of FOLDER's training_memory.csv, from that
trace alone, by `batch`, `world`, `shard`, `recompute`, `accumulate` and
`offload`. The file's gigabytes are taken as 2^30 bytes. Nothing is fitted to
these rows.

Fails where the mean error of kernel time is above 10 % (the floor is 12), that of
memory alone and with DDP above 2 % (3), or that of all rows above 2.5 % (6).
"""
import argparse
import csv
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

FOLDER = "traces/particle-transformer-a100/kineto"
FROM, TOKENS = 8, 43
TO = {2: 53, 32: 71, 128: 128, 512: 128}  # batch: tokens
KERNELS_FAIL, PLAIN_FAIL, MEMORY_FAIL = 10, 2, 2.5
STRATEGIES = {"ddp": "ddp", "fsdp_full": "fsdp", "fsdp_no_shard": "no_shard",
              "fsdp_shard_grad_op": "shard_grad_op"}
GIB = 1 << 30


def pairs(tokens):
    return tokens * (tokens + 1) // 2


def change(batch, tokens):
    sizes = [(TOKENS, tokens), (TOKENS + 1, tokens + 1),
             (pairs(TOKENS), pairs(tokens))]
    return [{"batch": {"from": FROM, "to": batch}}] + [
        {"reshape": {"from": a, "to": b}} for a, b in sizes]


def whatif(args, scenarios, trace, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"scenarios": scenarios}, f)
        f.flush()
        done = subprocess.run(
            [args.binary, "whatif", "--json", *options, f.name, str(trace)],
            capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["scenarios"]


def measured_kernels(path):
    with gzip.open(path) as f:
        return sum(e["dur"] for e in json.load(f)["traceEvents"]
                   if e.get("cat") == "kernel")


def kernel_time(args):
    folder = args.traces / FOLDER
    rows = whatif(args, [{"name": str(b), "changes": change(b, n)}
                         for b, n in TO.items()],
                  folder / f"batch-{FROM}.json.gz")
    errors = []
    print("| batch | kernels, measured ms | predicted ms | error |")
    for row in rows:
        real = measured_kernels(folder / f"batch-{row['name']}.json.gz")
        found = row["kernel_us"]["predicted"]
        errors.append(100 * (found / real - 1))
        print(f"| {row['name']} | {real / 1e3:.2f} | {found / 1e3:.2f} | "
              f"{errors[-1]:+.1f} % |")
    return statistics.mean(map(abs, errors))


def training(row):
    """The changes that make the row of the traced step."""
    changes = [{"batch": int(row["batch_per_gpu"])}]
    if row["strategy"] in STRATEGIES:
        shard = {"strategy": STRATEGIES[row["strategy"]]}
        if row["amp"] == "1":
            shard["mixed_precision"] = "fp16"
        changes += [{"world": int(row["gpus"])}, {"shard": shard}]
    if row["activation_checkpointing"] == "1":
        changes.append({"recompute": "full"})
    if row["cpu_offload"] == "1":
        changes.append({"offload": "optimizer"})
    return changes + [{"accumulate": int(row["grad_accum"])}]


def memory(args):
    with open(args.traces / "opdata/training_memory.csv", newline="") as f:
        real = list(csv.DictReader(f))
    rows = whatif(args, [{"name": str(i), "changes": training(r)}
                         for i, r in enumerate(real)],
                  args.capture, "--platform", "l40s")
    errors = {True: [], False: []}
    print("| strategy | GPUs | batch | fp16, recompute, accumulate, offload | "
          "peak, measured GiB | predicted GiB | error |")
    for r, row in zip(real, rows):
        found = row["memory_bytes"]["peak"] / GIB
        error = 100 * (found / float(r["peak_memory_gb"]) - 1)
        errors[r["strategy"] in ("single", "ddp")].append(abs(error))
        print(f"| {r['strategy']} | {r['gpus']} | {r['batch_per_gpu']} | "
              f"{r['amp']}, {r['activation_checkpointing']}, {r['grad_accum']}, "
              f"{r['cpu_offload']} | {r['peak_memory_gb']} | {found:.3f} | "
              f"{error:+.1f} % |")
    return (statistics.mean(errors[True]),
            statistics.mean(errors[True] + errors[False]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", default="build/mystique-sim")
    parser.add_argument("--capture", type=pathlib.Path)
    args = parser.parse_args()
    error = kernel_time(args)
    bad = error > KERNELS_FAIL
    print(f"kernel time: mean error {error:.1f} %, want 12, "
          f"fails above {KERNELS_FAIL}")
    if args.capture:
        plain, error = memory(args)
        bad |= plain > PLAIN_FAIL or error > MEMORY_FAIL
        print(f"peak memory: mean error alone and with DDP {plain:.1f} %, fails "
              f"above {PLAIN_FAIL}; of all rows {error:.1f} %, fails above "
              f"{MEMORY_FAIL}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
