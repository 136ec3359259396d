#!/usr/bin/env python3
"""Models of timm that others timed, inference and training, against predictions.

    scripts/accuracy/timm_models.py --kernels FOLDER --keep DIR
                              [--binary build/mystique-sim] [--record]
                              [--tables REGEX] [--models REGEX] [--share N/M]
                              [--out CSV | --list CSV]

FOLDER has timm.csv.gz: milliseconds of a step by model, batch and image. Each
model is recorded on the meta device, in DIR, once for all tables that take the
same step, and predicted on the GPU of the table; a row with another batch than
its trace counts by its time an image.

The steps are those of timm's benchmark.py: inference under autocast to fp16 in
evaluation mode, weights cast anew each step; training in training mode with the
loss and the backward pass under autocast, no scaled loss, SGD with Nesterov's
momentum, one tensor at a time, gradients set to zero and added to, as PyTorch
1.12 did by default. PyTorch before 2.0 had no fused attention. Before 2.5
attention that is not fused did not widen its operands to fp32, and did not look
for rows that are masked out. The tables of PyTorch 2.9 have models of parallel
branches with their branches merged.

Families, in alphabetical order, are fitted and judged by turns: --list writes
lines for msim-fit-factors, of inference of the families whose turn it is, on RTX
3090 and 4090 (scripts/accuracy/programs.py --list has those of the given traces).
The other families, and all training steps, are in no fit; of the given traces' 18
models, which are, the families count as fitted.

Judged are steps above 200 us and above 30 us a launch.
--share N/M takes the N-th of M parts of the models, for several processes.

Needs PyTorch, as scripts/capture.py does, and timm; no GPU.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

import timed_rows

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "capture"))
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR") # else a line a trace
try:
    import torch
    import given_models
    import meta_capture
    import meta_gpu
    import no_torchvision
    no_torchvision.stand_in()
    import timm
    import timm.layers
    import timm.utils
except ImportError as error:
    print(f"timm_models.py: cannot import '{error.name}', want PyTorch and "
          "timm")
    sys.exit(77)

# The last word of the tables.
DEVICES = {"rtx4090": "rtx-4090", "4090": "rtx-4090", "rtx3090": "rtx-3090",
           "5090": "rtx-5090", "pro6000maxq": "rtx-pro-6000-mq"}
LEAST_US, LEAST_EACH_US = 200, 30
# Versions of PyTorch, as tables write them.
FUSED_SINCE, WIDE_SINCE, MERGED_SINCE = 200, 250, 290
MERGED = ("fastvit", "ghostnetv3", "mobileone", "repvit")
# Attention of other than four dimensions is not fused.
NOT_FUSED = ("hiera", "mobilenetv4_hybrid", "mobilenetv5", "nest")
# Of the others' factors none rests on what is recorded here.
FITTED = ("rtx-3090", "rtx-4090")
FIT_COLUMNS = ["trace", "platform", "us", "group", "source"]
COLUMNS = ["table", "gpu", "model", "family", "fitted", "batch", "image",
           "measured_us", "predicted_us", "low_us", "high_us", "launches", "judged",
           "error_percent"]


def family(model):
    """What a name begins with, without what says its source."""
    name = re.sub(r"^(gluon|tf|legacy|ens_adv|jx|dm|ig|ssl|swsl)_", "", model)
    return re.match(r"[a-z]+", name).group(0)


def rows_of(path):
    with gzip.open(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def fitted_families(folder):
    """Families that factors are fitted on: every other one, and those of the
    given traces."""
    names = sorted({family(r["model"]) for r in rows_of(folder / "timm.csv.gz")})
    return set(names[::2]) | {family(r["model"])
                              for r in rows_of(folder / "timm_et.csv.gz")}


def step_of(model, mode, layout, version):
    """What tells the step of one version from that of another."""
    merged = mode == "infer" and version >= MERGED_SINCE and \
        model.startswith(MERGED)
    attention = "_math" if version < FUSED_SINCE else "_narrow" \
        if version < WIDE_SINCE and model.startswith(NOT_FUSED) else ""
    return f"{mode}-{layout}{attention}" + ("_merged" if merged else "")


def measured(args):
    fitted = fitted_families(args.kernels)
    for row in rows_of(args.kernels / "timm.csv.gz"):
        mode, precision, layout, version, *_, device = row["table"].split("-")
        if precision != "amp" or device not in DEVICES or \
                "dynamo" in row["table"] or \
                not re.search(args.tables, row["table"]) or \
                not re.search(args.models, row["model"]):
            continue
        step = step_of(row["model"], mode, layout, int(version[2:]))
        yield {"table": row["table"], "gpu": DEVICES[device],
               "model": row["model"], "family": family(row["model"]),
               "fitted": "y" if mode == "infer" and
                         family(row["model"]) in fitted and
                         DEVICES[device] in FITTED else "n",
               "batch": int(float(row["batch"])),
               "image": int(float(row["image"])),
               "mode": mode, "layout": layout, "step": step,
               "trace": f"{row['model']}-{row['image']}-{step}.json.gz",
               "measured_us": 1e3 * float(row["step_ms"])}


# ---- recording -------------------------------------------------------------

def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, nesterov=True,
                           foreach=False)


class Training(given_models.Job):
    """A step as timm's benchmark takes it."""

    def step(self):
        self.optimizer.zero_grad(set_to_none=False)
        given = self.given
        with torch.autocast("cuda", torch.float16):
            out = given.module(*given.inputs)
            out = out[0] if isinstance(out, tuple) else out
            target = torch.empty(out.shape[:1], dtype=torch.long,
                                 device=out.device).random_(out.shape[1])
            torch.nn.functional.cross_entropy(out, target).backward()
        self.optimizer.step()


def narrow_attention(gpu, narrow):
    """What is not fused as PyTorch before 2.5 computed it."""
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(narrow)
    if narrow:
        aten = torch.ops.aten
        gpu.overrides = {**gpu.overrides, aten._safe_softmax.default:
                         lambda x, dim, dtype=None: aten._softmax(x, dim, False)}


def record(row, path):
    timm.layers.set_fused_attn("_math" not in row["step"])
    settings = {"batch": row["batch"], "image": row["image"],
                "training": row["mode"] == "train",
                "channels_last": row["layout"] == "nhwc"}
    with meta_gpu.MetaGpu():
        narrow_attention(meta_gpu.MetaGpu.current, "_narrow" in row["step"])
        with meta_gpu.MetaGpu.current.building():
            given = given_models.make(f"timm:{row['model']}", settings)
            if "_merged" in row["step"]:
                given.module = timm.utils.reparameterize_model(given.module)
        if row["mode"] == "train":
            given.optimizer = sgd
            job = Training(given, "cuda", "fp32")
        else:
            job = given_models.Job(given, "cuda", "fp16")
        meta_capture.record(job, 1, path)


def recorded(args, rows):
    """Trace name -> its batch, of those that could be recorded."""
    part, parts = (int(n) for n in args.share.split("/"))
    mine = set(sorted({r["model"] for r in rows})[part - 1::parts])
    found = {}
    for row in rows:
        path = args.keep / row["trace"]
        note = args.keep / row["trace"].replace(".json.gz", ".batch")
        if row["trace"] in found or row["model"] not in mine:
            continue
        if not note.exists() and args.record:
            try:
                record(row, path)
                note.write_text(str(row["batch"]))
            except Exception as error: # whatever a model's code raises
                note.write_text("0")
                print(f"timm_models.py: {row['trace']}: "
                      f"{given_models.where_failed(error)}", file=sys.stderr)
        batch = int(note.read_text()) if note.exists() else 0
        if batch:
            found[row["trace"]] = batch
    return found


# ---- judging ---------------------------------------------------------------

def predict(args, path, gpu):
    done = subprocess.run([args.binary, "--platform", gpu, "--json", str(path)],
                          capture_output=True, text=True)
    if done.returncode:
        print(f"timm_models.py: {done.stderr.strip()}", file=sys.stderr)
        return None
    return timed_rows.answer_of(json.loads(done.stdout))


def answered(args, rows, batches):
    wanted = sorted({(r["trace"], r["gpu"]) for r in rows
                     if r["trace"] in batches})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        known = dict(zip(wanted, pool.map(
            lambda w: predict(args, args.keep / w[0], w[1]), wanted)))
    for row in rows:
        key = row["trace"], row["gpu"]
        if known.get(key) is None:
            continue
        found = dict(row, **known[key])
        found["scale"] = scale = row["batch"] / batches[row["trace"]]
        for name in ("predicted_us", "low_us", "high_us"):
            found[name] *= scale
        found["error_percent"] = 100 * (found["predicted_us"] /
                                        row["measured_us"] - 1)
        each = row["measured_us"] / max(found["launches"], 1)
        found["judged"] = "y" if row["measured_us"] > LEAST_US and \
            each > LEAST_EACH_US else "n"
        yield found


def to_fit(found):
    """Lines of what factors are fitted on."""
    for r in sorted(found, key=lambda r: (r["trace"], r["gpu"], r["table"])):
        if r["fitted"] == "y" and r["judged"] == "y":
            yield {"trace": f"timm/{r['trace']}", "platform": r["gpu"],
                   "us": f"{r['measured_us'] / r['scale']:.6g}",
                   "group": r["model"], "source": f"timm {r['table']}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=pathlib.Path, required=True)
    parser.add_argument("--keep", type=pathlib.Path, required=True,
                        help="a folder of traces, kept for the next time")
    parser.add_argument("--binary", default="build/mystique-sim")
    parser.add_argument("--tables", default="", help="rows of such tables")
    parser.add_argument("--models", default="", help="rows of such models")
    parser.add_argument("--share", default="1/1", help="part N/M of the models")
    parser.add_argument("--record", action="store_true",
                        help="record what DIR lacks")
    parser.add_argument("--out", help="write a line a row")
    parser.add_argument("--list", help="write what factors are fitted on")
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    rows = list(measured(args))
    found = list(answered(args, rows, recorded(args, rows)))
    if args.list:
        timed_rows.write(args.list, FIT_COLUMNS, to_fit(found))
        return
    if args.out:
        timed_rows.write(args.out, COLUMNS, map(timed_rows.shown, found))
    timed_rows.print_errors(found, "table", "fitted")
    timed_rows.print_errors([r for r in found if r["fitted"] == "n"],
                            "mode", "family")


if __name__ == "__main__":
    main()
