#!/usr/bin/env python3
"""One batch predicted from another: runs really made at both.

    scripts/accuracy/batch.py --traces FOLDER [--binary build/mystique-sim]
                              [--capture DIR]

Kernel time: a model was recorded at batches 2 to 512. The trace of batch 8 is
predicted at each of the others with `whatif`, and compared with its recording.
Its sequence is as long as the longest sample of a batch, so that is changed,
too, with what follows from it (a class token, pairs of tokens).

Peak memory, with --capture (a folder of scripts/capture.py --model resnet50
--optimizer adam, on a CPU): the peak at each batch of FOLDER's
training_memory.csv, where one GPU trained ResNet-50 in fp32 with Adam. The
file's gigabytes are taken as 2^30 bytes.

Fails where the mean error of kernel time is above 10 % (the floor is 12) or that of
memory above 3 %.
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
KERNELS_FAIL, MEMORY_FAIL = 10, 3
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


def memory(args):
    with open(args.traces / "opdata/training_memory.csv", newline="") as f:
        real = {r["batch_per_gpu"]: float(r["peak_memory_gb"])
                for r in csv.DictReader(f) if r["strategy"] == "single"}
    rows = whatif(args, [{"name": b, "changes": [{"batch": int(b)}]}
                         for b in real], args.capture, "--platform", "l40s")
    errors = []
    print("| batch | peak, measured GiB | predicted GiB | error |")
    for row in rows:
        found = row["memory_bytes"]["peak"] / GIB
        errors.append(100 * (found / real[row["name"]] - 1))
        print(f"| {row['name']} | {real[row['name']]:.3f} | {found:.3f} | "
              f"{errors[-1]:+.1f} % |")
    return statistics.mean(map(abs, errors))


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
        error = memory(args)
        bad |= error > MEMORY_FAIL
        print(f"peak memory: mean error {error:.1f} %, "
              f"fails above {MEMORY_FAIL}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
