#!/usr/bin/env python3
"""Published figures that were in no table: a blind test, now open.

    scripts/accuracy/opened.py --published FOLDER [--binary build/mystique-sim]
                               [--keep DIR] [--out CSV]

FOLDER has opened.csv; each row is asked as its `ask` says. Operators follow from
the row's question; training jobs are in opened_jobs.csv beside this file, with
what a paper leaves unsaid in its `note`; networks (`--model`) are those of
opened_nets.py, recorded once in DIR, which needs PyTorch and timm. Without
--keep these are left out. A figure is turned into milliseconds, or GiB, first.

Printed are errors by kind; --out keeps every row. Not asked: pipelines of
diffusion (a network of its own with tens of variants), the small DLRM's training
(its tables are not stated), data sheets and rules of thumb.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
GIB = 2**30
OUT = ("id", "kind", "platform", "question", "setting", "measured", "unit",
       "predicted", "low", "high", "error_percent", "inside", "note")


class Program:
    def __init__(self, binary, published):
        self.binary = str(pathlib.Path(binary).resolve())
        self.models = pathlib.Path(published) / "models"

    def run(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments)], text=True,
                              capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def table(self, verb, columns, rows, *more):
        """Answers of a table of rows; {} for each where there is none."""
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as f:
            out = csv.DictWriter(f, columns, extrasaction="ignore", restval="")
            out.writeheader()
            out.writerows(rows)
        text = self.run(*verb, f.name, *more)
        os.unlink(f.name)
        found = list(csv.DictReader(text.splitlines()))
        return found if len(found) == len(rows) else [{}] * len(rows)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


# ---- operators: microseconds -------------------------------------------------

def product_of(row):
    dtype, size = row["question"].split()[1:3]
    m, n, k = map(int, size.split("x"))
    asked = {"m": m, "n": n, "k": k, "dtype": dtype}
    return asked, 2 * m * n * k / float(row["published"]) / 1e6


def attention_of(row):
    phase, b, h, q, kv, d, *back = row["question"].split()[1:]
    heads, kv_heads = map(int, h[1:].split("/"))
    asked = {"phase": phase, "batch": int(b[1:]), "heads": heads,
             "kv_heads": kv_heads, "q_len": int(q[1:]), "kv_len": int(kv[2:]),
             "head_dim": int(d[1:]), "dtype": "fp16",
             "pass": "backward" if back else "forward"}
    if row["unit"] == "us":
        return asked, float(row["published"])
    flops = 4 * asked["batch"] * heads * asked["q_len"] * asked["kv_len"] * asked["head_dim"]
    if phase == "prefill":
        flops /= 2
    return asked, flops * (2.5 if back else 1) / float(row["published"]) / 1e6


def collective_of(row):
    name, ranks, _, nodes, _, size = row["question"].split()[1:]
    amount, unit = re.match(r"(\d+)(\w+)", size).groups()
    asked = {"collective": name, "ranks": int(ranks), "nodes": int(nodes),
             "bytes": int(amount) * UNITS[unit], "dtype": "fp32"}
    bus = 2 * (asked["ranks"] - 1) / asked["ranks"]
    return asked, bus * asked["bytes"] / float(row["published"]) / 1e3


OPERATORS = {"gemm": product_of, "attention": attention_of,
             "collectives": collective_of}


def network_between(row):
    """The nodes' network, where the row states it: Amazon's EFA of 50 GB/s a GPU."""
    return ("--network", "aws-efa-3200") if "EFA v4, 50 GB/s" in row["note"] else ()


def ask_operators(program, rows):
    asked = collections.OrderedDict()
    for row in rows:
        if row["kind"] in OPERATORS:
            question, measured = OPERATORS[row["kind"]](row)
            asked.setdefault((row["kind"], row["platform"], network_between(row)),
                             []).append((row, question, measured))
    for (_, platform, network), group in asked.items():
        answers = program.table(("op", "--platform", platform, *network),
                                list(group[0][1]), [q for _, q, _ in group])
        for (row, _, measured), a in zip(group, answers):
            yield row, measured, [number(a.get(c)) for c in
                                  ("predicted_us", "low_us", "high_us")]


# ---- jobs: milliseconds, GiB -------------------------------------------------

def asked_model(text, folder):
    """Columns of a model as opened_jobs.csv has it: a name, or sizes. A GPT of a
    paper older than fused attention (May 2022) is asked by its numbers, which
    docs/jobs.md keeps for those."""
    kind, _, sizes = text.partition(":")
    if not sizes:
        return {"model": text}
    sizes = list(map(int, sizes.split("x")))
    if kind == "megatron":
        return {"model": "", **dict(zip(("layers", "hidden", "heads"), sizes))}
    if kind == "gpt":
        layers, hidden, heads, vocab = sizes
        model = {"layers": layers, "hidden": hidden, "heads": heads,
                 "kv_heads": heads, "ffn": 4 * hidden, "vocab": vocab,
                 "gated": False, "norm": "layernorm", "positions": "learned",
                 "bias": True, "tied_embeddings": True}
    else:
        layers, hidden, heads, kv_heads, ffn, vocab = sizes
        model = {"layers": layers, "hidden": hidden, "heads": heads,
                 "kv_heads": kv_heads, "ffn": ffn, "vocab": vocab}
    path = pathlib.Path(folder) / (text.replace(":", "-") + ".json")
    path.write_text(json.dumps(model))
    return {"model": str(path)}


def flops_of(job, figure):
    """FLOPs of a step, by the convention of the source."""
    kind, _, sizes = job["model"].partition(":")
    sizes = list(map(int, sizes.split("x")))
    layers, hidden, vocab = sizes[0], sizes[1], sizes[-1]
    s, tokens = int(job["sequence"]), int(job["global_batch"]) * int(job["sequence"])
    if kind != "llama":
        weights = 12 * layers * hidden**2 + vocab * hidden
    else:
        heads, kv, ffn = sizes[2:5]
        weights = layers * (2 * hidden**2 + 2 * hidden**2 * kv // heads
                            + 3 * hidden * ffn) + 2 * vocab * hidden
    attention = 12 * layers * hidden * s * (0.5 if figure == "tflops_causal" else 1)
    return tokens * (6 * weights + attention) * (4 / 3 if figure == "tflops_hardware" else 1)


def measured_job(row, job):
    """Milliseconds of a step, or GiB."""
    value, gpus = float(row["published"]), int(job["gpus"])
    tokens = int(job["global_batch"]) * int(job["sequence"])
    figure = job["figure"]
    if figure in ("peak", "activations"):
        return value * 1e9 / GIB
    if figure == "tokens_rate":
        return tokens / gpus / value * 1e3
    if figure == "samples_rate":
        return int(job["global_batch"]) / value * 1e3
    if figure == "gpu_hours":
        return value * 3.6e6 / gpus * tokens / float(job["tokens"])
    if figure == "days":
        return value * 86.4e6 * tokens / float(job["tokens"])
    if figure.startswith("tflops"):
        return flops_of(job, figure) / gpus / value / 1e9
    return value


JOB = ("model layers hidden heads platform gpus nodes tp pp vp cp ep dispatch_bits dispatch_overlap "
       "zero micro_batch global_batch sequence precision recompute framework lora_rank lora_targets base_bits "
       "loss_chunks compile").split()


def ask_jobs(program, rows):
    by_id = {r["id"]: r for r in rows}
    with open(HERE / "opened_jobs.csv", newline="", encoding="utf-8") as f:
        jobs = [j for j in csv.DictReader(f) if j["id"] in by_id]
    with tempfile.TemporaryDirectory() as folder:
        asked = [{**j, **asked_model(j["model"], folder)} for j in jobs]
        # of activations: what half the micro batch takes less
        halves = [dict(a, micro_batch=int(a["micro_batch"]) // 2,
                       global_batch=int(a["global_batch"]) // 2)
                  for a in asked if a["figure"] == "activations"]
        answers = program.table(("validate", "--rows"), JOB, asked, "--csv")
        less = iter(program.table(("validate", "--rows"), JOB, halves, "--csv"))
        for job, a in zip(jobs, answers):
            values = [number(a.get(c)) for c in ("predicted_ms", "low_ms", "high_ms")]
            if job["figure"] in ("peak", "activations"):
                peak = number(a.get("predicted_memory_gib"))
                if job["figure"] == "activations":
                    peak = 2 * (peak - number(next(less)["predicted_memory_gib"]))
                values = [peak, None, None]
            row = by_id[job["id"]]
            if not a.get("predicted_ms"):
                row["note"] += " | " + (a.get("reason") or "no answer")
            yield row, measured_job(row, job), values


# ---- networks: milliseconds, GiB ---------------------------------------------

SQUAD_STEPS = 100 # max_steps of the source's configurations
NETWORKS = {"resnet50": "resnet50", "vgg16": "vgg16", "resnet18": "resnet18",
            "resnet152": "resnet152", "densenet161": "densenet161"}


def network_of(row):
    """(what is recorded, settings, samples of a step) of a row."""
    text, ask = row["question"], row["ask"]
    if "bench, b12" in text:
        return "nanogpt_train_12_1024", "precision=bf16", 12
    dlrm = re.match(r"DLRM inference b(\d+) (\w+)", text)
    if dlrm:
        batch, dtype = dlrm.groups()
        # the source's fp32 on an A100 is TF32
        tf32 = row["platform"] == "a100" and dtype == "fp32"
        return (f"dlrm_infer_{batch}",
                "precision=tf32" if tf32 else f"dtype={dtype}", 1)
    llama = re.match(r"(llama[\w-]+) (?:F16|bf16) (decode b1|prefill (\d+))", text)
    if llama:
        name, _, tokens = llama.groups()
        tail = f"_{tokens}" if tokens else ""
        dtype = "bf16" if "bf16" in text else "fp16"
        name += "-compiled" if "(compiled)" in text else ""
        return (f"{name.replace('-', '__')}_infer_1{tail}", f"dtype={dtype}",
                int(tokens or 1))
    bert = re.match(r"(bert-\w+) squad train b(\d+) s(\d+) (\w+)", text)
    if not bert:
        bert = re.match(r"(BERT-large) HF\D*b(\d+) s(\d+) (\w+)", text)
    if bert:
        name, batch, length, kind = bert.groups()
        # run_squad.py of DeepLearningExamples has no autocast: its 16 bits are
        # those of the whole network (level O2 of Apex)
        half = "dtype=fp16" if "squad" in text else "precision=fp16"
        name += "-squad" if "squad" in text else ""
        return (f"{name.lower().replace('-', '__')}_train_{batch}_{length}",
                "" if kind == "fp32" else half, int(batch))
    cnn = re.match(r"(\w+) (train|fwdbwd|infer) b(\d+) (\w+)", text)
    if cnn is None and text.startswith("ResNet-50 DDP"):
        cnn = re.match(r"ResNet-50 DDP 8 GPUs b(\d+) (\w+)", text)
        batch, kind = cnn.groups()
        name, mode = "resnet50", "train"
    elif cnn and cnn.group(1) in NETWORKS:
        name, mode, batch, kind = cnn.groups()
    else:
        return None
    settings = []
    if kind in ("fp16", "amp"):
        settings.append("precision=fp16")
    elif kind == "half":
        settings.append("dtype=fp16")
    elif kind == "TF32" or "TF32" in row["note"]:
        settings.append("precision=tf32")
    if "nhwc" in text or "channels_last" in ask:
        settings.append("channels_last")
    mode = {"fwdbwd": "fb"}.get(mode, mode)
    return f"{name}_{mode}_{batch}", ",".join(settings), int(batch)


def record(what, settings, keep):
    name = what + ("," + settings if settings else "")
    folder = pathlib.Path(keep) / name
    trace = folder / "et" / "rank-0.json.gz"
    if not trace.exists():
        done = subprocess.run([sys.executable, HERE.parent / "capture.py", "--device", "meta",
                        "--model", f"{HERE / 'opened_nets.py'}:{name}", "--out", folder],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"opened.py: '{name}' cannot be recorded")
    return trace


def measured_network(row, samples):
    value, unit = float(row["published"]), row["unit"]
    if unit == "MiB":
        return value / 1024
    if unit == "ms":
        return value
    if "squad" in row["question"]:
        # run_squad.py takes a step more than it divides by, and the source's
        # compile_results_pytorch_throughput.py cuts rates down to whole numbers
        return 1e3 * samples / (value + 0.5) * SQUAD_STEPS / (SQUAD_STEPS + 1)
    ranks = 8 if "DDP 8" in row["question"] else 1
    return 1e3 * samples * ranks / value


def ask_network(program, row, trace):
    if "DDP 8" in row["question"]:
        cells = {"model": "resnet50", "platform": row["platform"], "gpus": 8,
                 "nodes": 1, "strategy": "ddp"}
        a = program.table(("validate", "--rows"), list(cells), [cells], "--trace",
                          trace, "--csv")[0]
        return [number(a.get(c)) for c in ("predicted_ms", "low_ms", "high_ms")]
    host = ("--scale", "host=0") if "--scale host=0" in row["ask"] else ()
    text = program.run("--platform", row["platform"], "--json", *host, trace)
    if not text:
        return [None] * 3
    report = json.loads(text)
    if row["unit"] == "MiB":
        memory = report["memory_bytes"]
        used = memory.get("reserved") or memory["peak"]
        return [(used + (memory.get("context") or 0)) / GIB, None, None]
    took = report["iteration_us"]
    return [took[k] / 1e3 if took[k] else None for k in ("predicted", "low", "high")]


def ask_networks(program, rows, keep):
    for row in rows:
        asked = network_of(row) if row["id"][0] in "mxw" else None
        if not asked or not keep:
            continue
        what, settings, samples = asked
        trace = record(what, settings, keep)
        yield row, measured_network(row, samples), ask_network(program, row, trace)


# ---- what comes of it ----------------------------------------------------------

def line(row, measured, values):
    predicted, low, high = values
    error = 100 * (predicted / measured - 1) if predicted else None
    inside = "" if not (low and high) else "y" if low <= measured <= high else "n"
    unit = "us" if row["kind"] in OPERATORS else "GiB" if row["kind"] == "memory" else "ms"
    return dict(row, measured=f"{measured:.4g}", unit=unit, inside=inside,
                predicted=f"{predicted:.4g}" if predicted else "",
                low=f"{low:.4g}" if low else "", high=f"{high:.4g}" if high else "",
                error_percent=f"{error:.1f}" if predicted else "")


def figures(lines):
    errors = [abs(float(l["error_percent"])) if l["error_percent"] else 100 for l in lines]
    judged = [l["inside"] == "y" for l in lines if l["kind"] != "memory"]
    inside = f"{100 * statistics.mean(judged):.0f} %" if judged else "-"
    return (f"{len(lines)} | {statistics.mean(errors):.1f} % | "
            f"{statistics.median(errors):.1f} % | {inside}")


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--published", required=True)
    a.add_argument("--binary", default="build/mystique-sim")
    a.add_argument("--keep")
    a.add_argument("--out")
    args = a.parse_args()
    program = Program(args.binary, args.published)
    with open(pathlib.Path(args.published) / "opened.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    lines = [line(*found) for ask in
             (ask_operators(program, rows), ask_jobs(program, rows),
              ask_networks(program, rows, args.keep)) for found in ask]
    print("| kind | rows | mean error | median | inside |\n|---|---|---|---|---|")
    kinds = collections.OrderedDict()
    for l in lines:
        kinds.setdefault(l["kind"], []).append(l)
    for kind, group in kinds.items():
        print(f"| {kind} | {figures(group)} |")
    times = [l for l in lines if l["kind"] != "memory"]
    stated = [l for l in times if l["setting"] == "as stated"]
    print(f"| times | {figures(times)} |\n| times, settings as stated | {figures(stated)} |")
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, OUT, lineterminator="\n", extrasaction="ignore")
            out.writeheader()
            out.writerows(lines)


if __name__ == "__main__":
    main()
