#!/usr/bin/env python3
"""The machine that measures, as JSON: device, driver, versions, sources.

    scripts/gpu/about.py --device cuda|cpu|fake --root CHECKOUT --out FILE

Exit code 3 with a sentence where PyTorch is missing or sees no GPU. "sources" is
a sum over the files that decide what is measured and predicted: where a machine
has them without git, it says which commit they are of (commit_of()).
"""

import argparse
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

# What is measured and predicted comes from these.
SOURCES = ("calibrate", "core", "data", "models", "plan", "predict", "profilers",
           "replay", "scripts")
ENDINGS = (".c", ".h", ".cu", ".cuh", ".in", ".py", ".sh", ".bash", ".json", ".txt")


def sources(root):
    """The sum over all source files, whatever else lies beside them."""
    total = hashlib.sha256()
    for path in sorted(p for folder in SOURCES
                       for p in (pathlib.Path(root) / folder).rglob("*")
                       if p.suffix in ENDINGS and p.is_file()):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def said(*command):
    """What a program prints, on one line, or None."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20,
                             check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return " ".join(run.stdout.split()) or None


def commit(root):
    return said("git", "-C", str(root), "describe", "--always", "--dirty",
                "--abbrev=12")


def commit_of(about, root):
    """The commit that was measured, where this checkout or the machine tells."""
    if about.get("commit"):
        return about["commit"]
    return commit(root) if about["sources"] == sources(root) else None


def os_name():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            lines = dict(line.rstrip().split("=", 1) for line in file
                         if "=" in line)
        return lines.get("PRETTY_NAME", "").strip('"') or None
    except OSError:
        return None


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file
                     if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def of_gpu(torch):
    found = torch.cuda.get_device_properties(0)
    return {"device": found.name, "sms": found.multi_processor_count,
            "memory_bytes": found.total_memory,
            "l2_bytes": getattr(found, "L2_cache_size", None),
            "gpus": torch.cuda.device_count(),
            "driver": said("nvidia-smi", "--query-gpu=driver_version",
                           "--format=csv,noheader"),
            "power_limit": said("nvidia-smi", "--query-gpu=power.limit",
                                "--format=csv,noheader"),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "nccl": ".".join(map(str, torch.cuda.nccl.version())),
            "nvcc": said("sh", "-c", "nvcc --version | tail -n 2 | head -n 1")}


def about(kind, root, torch):
    found = of_gpu(torch) if kind == "cuda" else \
        {"device": "cpu" if kind == "cpu" else "FAKE GPU"}
    return {"schema": "mystique-sim/gpu/1", "kind": kind, **found,
            "torch": torch.__version__, "python": platform.python_version(),
            "cmake": said("cmake", "--version"), "os": os_name(),
            "processor": processor(),
            "cpus": os.cpu_count(), "commit": commit(root),
            "sources": sources(root),
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--device", choices=("cuda", "cpu", "fake"),
                        required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"about.py: {sys.executable} has no PyTorch: {error}",
              file=sys.stderr)
        return 3
    if args.device == "cuda" and not torch.cuda.is_available():
        print(f"about.py: PyTorch {torch.__version__} sees no GPU",
              file=sys.stderr)
        return 3
    found = about(args.device, args.root, torch)
    with open(args.out, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=2)
        file.write("\n")
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
