"""tests/cli/one_answer.py - one described job, asked of every verb.

    one_answer.py PROGRAM FOLDER JOBS [SEED]

Jobs are drawn at random; the time of a step and the peak of the GPU that holds
most, with their intervals, must be the same by `validate --rows`, `plan`,
`whatif` of the model, and `synth` with a prediction of its traces.
"""
import csv
import json
import pathlib
import random
import subprocess
import sys

GIB = 2**30
DENSE = ["llama3-8b", "llama3.2-3b", "mpt-1b", "mpt-7b", "nanotron-1b", "bert-large", "vit-l-16"]
EXPERTS = ["qwen3-30b-a3b", "gpt-oss-120b"]
GPUS = {"a100": ["bf16", "fp16"], "h100": ["bf16", "fp8"], "b200": ["bf16", "fp8"],
        "mi300x": ["bf16"], "l40s": ["bf16"]}
COLUMNS = ["gpus", "tp", "pp", "vp", "ep", "zero", "micro_batch", "global_batch", "sequence",
           "precision", "recompute", "schedule"]


def draw():
    model = random.choice(DENSE * 2 + EXPERTS)
    short = model in ("bert-large", "vit-l-16")
    gpu = random.choice(list(GPUS))
    gpus = 2 ** random.randint(0, 12)
    tp = min(random.choice([1, 1, 2, 4, 8]), gpus, 4 if short else 8)
    pp = min(random.choice([1, 1, 2, 4]), gpus // tp)
    dp = gpus // tp // pp
    job = {"gpus": gpus, "tp": tp, "pp": pp, "vp": 1, "ep": 1,
           "zero": random.choice([0, 1] if pp > 1 else [0, 1, 2, 3]),
           "micro_batch": random.choice([1, 2, 4]), "sequence": 2048,
           "precision": random.choice(GPUS[gpu]),
           "recompute": random.choice(["none", "full", "selective"])}
    if model in EXPERTS:
        job["ep"] = max(e for e in (1, 2, 4) if dp % e == 0)
    if short:
        job["sequence"] = {"bert-large": 512, "vit-l-16": 197}[model]
    batches = random.choice([1, 2, 4]) * (pp if pp > 1 else 1)
    job["global_batch"] = batches * job["micro_batch"] * dp
    job["schedule"] = "zero-bubble" if pp > 1 and random.random() < 0.3 else "1f1b"
    return model, gpu, job


def ask(*command, accept=(0,)):
    done = subprocess.run([program, *map(str, command)], text=True, capture_output=True)
    if done.returncode not in accept:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr}")
    return done.stdout


def by_rows(jobs):
    table = folder / "jobs.csv"
    with open(table, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(["model", "platform", *COLUMNS])
        writer.writerows([model, gpu, *(job[c] for c in COLUMNS)] for model, gpu, job in jobs)
    rows = list(csv.DictReader(ask("validate", "--rows", table, "--csv").splitlines()))
    for row, (model, gpu, job) in zip(rows, jobs):
        if row["reason"]:
            sys.exit(f"{model} on {gpu}, {job}: {row['reason']}")
        yield {"ms": float(row["predicted_ms"]), "low": float(row["low_ms"]),
               "high": float(row["high_ms"]), "GiB": float(row["predicted_memory_gib"]),
               "fits": row["fits"]}


def by_plan(model, gpu, job):
    """Nothing where the peak is above what there is: plans leave that out."""
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"model": model, "platforms": [gpu], **job}), encoding="utf-8")
    ask("plan", spec, "-o", folder / "plan", accept=(0, 1))
    points = folder / "plan/points.csv"
    rows = list(csv.DictReader(points.open(encoding="utf-8"))) if points.exists() else []
    return rows and {"ms": float(rows[0]["predicted_ms"]), "low": float(rows[0]["low_ms"]),
                     "high": float(rows[0]["high_ms"]), "fits": rows[0]["fits"],
                     "GiB": float(rows[0]["predicted_memory_gib"])}


def by_whatif(model, gpu, job):
    scenarios, strategy = folder / "scenarios.json", folder / "strategy.json"
    scenarios.write_text('{"scenarios": [{"name": "less", "changes": '
                         '[{"speedup": {"select": "kernels", "factor": 2}}]}]}', encoding="utf-8")
    strategy.write_text(json.dumps(job), encoding="utf-8")
    base = json.loads(ask("whatif", "--json", "--platform", gpu, "--strategy", strategy,
                          scenarios, model))["base"]
    us = base["period_us"]
    return {"ms": us["predicted"] / 1e3, "low": us["low"] / 1e3, "high": us["high"] / 1e3,
            "GiB": base["memory_bytes"]["peak"] / GIB}


def by_traces(model, gpu, job):
    ask("synth", model, "--strategy", folder / "strategy.json", "-o", folder / "traces")
    done = json.loads(ask("--json", "--platform", gpu, folder / "traces"))
    us, memory = done["iteration_us"], done["memory_bytes"]
    for file in (folder / "traces").iterdir():
        file.unlink()
    return {"ms": us["predicted"] / 1e3, "low": us["low"] / 1e3, "high": us["high"] / 1e3,
            "GiB": memory["peak"] / GIB, "fits": memory["fits"]}


program, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
jobs = [draw() for _ in range(count)]
wrong = 0
for (model, gpu, job), rows in zip(jobs, by_rows(jobs)):
    for verb, answer in (("plan", by_plan(model, gpu, job)),
                         ("whatif", by_whatif(model, gpu, job)),
                         ("traces", by_traces(model, gpu, job))):
        if not answer and rows["fits"] != "yes":
            continue
        for what, value in (answer or {"points": 0}).items():
            want = rows.get(what, 1)
            if value == want if what == "fits" else abs(value / want - 1) < 1e-3:
                continue
            wrong += 1
            print(f"{model} on {gpu}, {job}: {what} by {verb}: {value}, by rows {want}")
print(f"{count} jobs, {wrong} answers differ")
sys.exit(wrong > 0)
