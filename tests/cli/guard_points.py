"""Ask for random points of op, plan, validate, whatif and synth, and hold each answer
against what every answer must keep (docs/guards.md), computed here again.

    guard_points.py POINTS FOLDER [SEED]

About POINTS predictions in all; FOLDER is for files. What trips a rule and is
not marked is printed with its question, and makes the exit code 1.
"""

import csv
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

SIM = os.environ["MYSTIQUE_SIM"]
DATA = Path(os.environ["MSIM_DATA"])
ROUNDING = 1e-4  # figures have six digits at least
LEAST = {"larger": 0.95, "recompute": 0.99, "scaling": 0.95}
PLATFORMS = ["a100", "h100", "h200", "t4", "v100", "l40s", "rtx-4090", "b200"]
MODELS = ["llama3-8b", "llama3-70b", "mpt-1b", "bert-large", "deepseek-v3",
          "qwen3-30b-a3b"]

rng = random.Random(31)
answers, marked, faults = Counter(), Counter(), []


def fail(what, text, *about):
    faults.append(f"{what}: {text}: {' '.join(str(a) for a in about)}")


def run(*arguments):
    """Standard output; a question that is refused has none. A plan that recommends
    nothing exits with 1, and has its points."""
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    fine = (0, 1) if arguments[0] == "plan" else (0,)
    if done.returncode not in (*fine, 2, 3):
        fail(arguments[0], f"exit code {done.returncode}", done.stderr[:200])
    return done.stdout if done.returncode in fine else ""


def check(what, words, low, time, high, mfu, *about):
    """One answer by itself; `words` are its marks."""
    answers[what] += 1
    marked[what] += bool(words)
    if "order" not in words and not (
            0 <= low <= time * (1 + ROUNDING)
            and 0 < time <= high * (1 + ROUNDING) < float("inf")):
        fail(what, f"not low <= time <= high: {low} {time} {high}", *about)
    if mfu is not None and mfu > 1 + ROUNDING and "peak" not in words:
        fail(what, f"MFU {mfu}", *about)


def check_rising(what, word, points):
    """`points`: (size, time, words, about) of one question by size: what is
    larger takes no less."""
    before = here = 0
    last = None
    for size, time, words, about in sorted(points, key=lambda p: p[0]):
        if size != last:
            before, here, last = max(before, here), 0, size
        if word in words:
            continue
        if time < LEAST[word] * before * (1 - ROUNDING):
            fail(what, f"not {word}: {time} after {before}", about)
        here = max(here, time)


# ---- op ----------------------------------------------------------------------

SHEETS = {path.stem: json.loads(path.read_text())["data_sheet"]
          for path in sorted((DATA / "platforms").glob("*.json"))}
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
TENSORS = {"add": 3, "relu": 2, "gelu": 2, "softmax": 2, "layernorm": 2}


def size(most):
    """Spread over orders of magnitude."""
    return max(1, int(2 ** rng.uniform(0, most)))


def least_us(platform, row):
    """What the data sheet allows: FLOPs of a product at the rate of its type, and
    bytes, of what is much larger than the cache, from device memory."""
    def figure(name):
        return SHEETS[platform].get(name, {}).get("value", 0)

    width = BYTES.get(row.get("dtype"), 0)
    numbers = flops = 0
    if "k" in row and "m" in row:
        m, n, k, batch = (row[c] for c in ("m", "n", "k", "batch"))
        numbers, flops = batch * (m * k + k * n + m * n), 2 * batch * m * n * k
    elif "rows" in row:
        numbers = TENSORS[row["op"]] * row["rows"] * row["cols"]
    rate = figure("fp32_flops" if width == 4 else "fp16_flops") or math.inf
    moved = numbers * width
    if moved <= 4 * figure("l2_bytes"):
        moved = max(0, moved - figure("l2_bytes"))
    return max(flops / rate, moved / figure("memory_bandwidth")) * 1e6


TABLES = {
    "gemm": lambda: {"m": size(20), "n": size(18), "k": size(18),
                     "batch": rng.choice([1, 1, 8, 64]),
                     "dtype": rng.choice(["fp32", "bf16", "fp16"])},
    "vector": lambda: {"op": rng.choice(["add", "relu", "softmax",
                                         "layernorm", "gelu"]),
                       "rows": size(24), "cols": size(13),
                       "dtype": rng.choice(["fp32", "bf16"])},
    "attention": lambda: {"phase": "prefill", "batch": size(6),
                          "heads": rng.choice([8, 16, 32]), "q_len": size(14),
                          "head_dim": rng.choice([64, 128]), "dtype": "bf16"},
    "conv": lambda: {"op": "conv2d_fwd", "dtype": rng.choice(["fp32", "fp16"]),
                     "n": size(9), "c": size(9), "h": size(8), "w": size(8),
                     "k": size(9), "r": 3, "s": 3, "pad": 1},
    "collective": lambda: {"collective": rng.choice(["all_reduce",
                                                     "all_gather"]),
                           "ranks": rng.choice([2, 8, 64]), "bytes": size(33)},
}
AXES = {"gemm": ["m", "n", "k"], "vector": ["rows", "cols"],
        "attention": ["q_len", "batch"], "conv": ["n", "c", "h", "k"],
        "collective": ["bytes"]}


def columns(table, row):
    """A row as the table has it."""
    row = dict(row)
    if table == "vector":
        row["shape"] = f"{row.pop('rows')}x{row.pop('cols')}"
    if table == "attention":
        row["kv_len"] = row["q_len"]
    return row


def marks_of(model):
    """What stands in brackets behind the model, as words."""
    return model.partition(" (")[2].replace("(", "").replace(")", "").split()


def ask_op(n, folder):
    table, platform = rng.choice(list(TABLES)), rng.choice(list(SHEETS))
    questions, rows = [], []
    while len(rows) < n:
        base, axis = TABLES[table](), rng.choice(AXES[table])
        for factor in sorted([1] + [2 ** rng.uniform(0, 6) for _ in range(3)]):
            row = {**base, axis: max(1, int(base[axis] * factor))}
            questions.append((len(rows) // 4, axis))
            rows.append(row)
    path = folder / "rows.csv"
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, list(columns(table, rows[0])))
        out.writeheader()
        out.writerows(columns(table, r) for r in rows)
    sweeps = defaultdict(list)
    read = list(csv.DictReader(run("op", "--platform", platform,
                                   path).splitlines()))
    for question, row, got in zip(questions, rows, read):
        if not got["predicted_us"]:
            continue
        time, words = float(got["predicted_us"]), marks_of(got["model"])
        about = (platform, row, words)
        check("op", words, float(got["low_us"]), time, float(got["high_us"]),
              None, *about)
        if time < least_us(platform, row) * (1 - ROUNDING):
            fail("op", f"{time} us, below {least_us(platform, row)}", *about)
        sweeps[question].append((row[question[1]], time, words, about))
    for points in sweeps.values():
        check_rising("op", "larger", points)


# ---- plan --------------------------------------------------------------------

def some(*values):
    return sorted(rng.sample(values, rng.randint(1, len(values))))


def described_spec():
    return {"model": rng.choice(MODELS), "sequence": 2 ** rng.randint(9, 13),
            "global_batch": 2 ** rng.randint(5, 11), "tokens": 1e11,
            "platforms": [{"name": p, "price_per_gpu_hour": rng.uniform(1, 9)}
                          for p in rng.sample(["h100", "h200", "a100",
                                               "b200"], 2)],
            "gpus": some(8, 16, 32, 64, 128, 256, 512), "tp": some(1, 2, 4, 8),
            "pp": some(1, 2, 4), "zero": some(0, 1, 2, 3),
            "micro_batch": some(1, 2, 4, 8), "precision": ["bf16"],
            "recompute": ["none", "selective", "full"]}


def traced_spec(trace):
    return {"trace": str(trace), "samples": 1e9, "gpus": [1],
            "platforms": [{"name": p, "price_per_gpu_hour": rng.uniform(1, 9)}
                          for p in rng.sample(PLATFORMS, 2)],
            "micro_batch": sorted(size(18) for _ in range(4))}


LEVEL = {"none": 0, "selective": 1, "selective-op": 1, "full": 2}


def check_sweeps(points):
    """`points`: rows of points.csv."""
    alike = defaultdict(list)
    for p in points:
        words, time = p["guards"].split(), float(p["predicted_ms"])
        follows = {"gpus", "dp", "nodes", "grad_accum"}
        fixed = [(c, p[c]) for c in ("platform", "gpus", "nodes", "tp", "pp",
                                     "vp", "cp", "ep", "dp", "zero",
                                     "micro_batch", "grad_accum", "sequence",
                                     "global_batch", "precision", "recompute")
                 if c in p]
        fixed.append(("model", p.get("model")))
        if p.get("recompute") in LEVEL and "tp" in p:
            alike["recompute", *[f for f in fixed if f[0] != "recompute"]
                  ].append((LEVEL[p["recompute"]], time, words, p))
            alike["scaling", *[f for f in fixed if f[0] not in follows]
                  ].append((int(p["gpus"]), time * int(p["gpus"]), words, p))
        else:
            alike["larger", *[f for f in fixed if f[0] != "micro_batch"]
                  ].append((int(p["micro_batch"]), time, words, p))
    for (word, *_), group in alike.items():
        check_rising("plan", word, group)


def ask_plan(spec, folder):
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    for old in (folder / "plan").glob("*"):
        old.unlink()
    if not run("plan", path, "-o", folder / "plan"):
        return
    points = list(csv.DictReader((folder / "plan/points.csv").open()))
    plan = json.loads((folder / "plan/plan.json").read_text())
    for p in points:
        check("plan", p["guards"], float(p["low_ms"]),
              float(p["predicted_ms"]), float(p["high_ms"]),
              float(p["mfu"]) if p["mfu"] else None, spec, p)
    check_sweeps(points)
    n = sum(bool(p["guards"]) for p in points)
    if plan["guards"]["marked"] != n or bool(plan["guards"]["text"]) != (n > 0):
        fail("plan", f"{n} points are marked", plan["guards"], spec)
    for p in [plan["recommended"], plan["runner_up"], plan["safe"],
              *plan["frontier"]]:
        if p and p["guards"]:
            fail("plan", "a marked point is recommended", p, spec)


# ---- validate --rows ---------------------------------------------------------

def ask_rows(n, folder):
    rows = []
    for _ in range(n // 9):
        base = {"model": rng.choice(MODELS), "platform": rng.choice(PLATFORMS),
                "tp": rng.choice([1, 2, 4, 8]), "pp": rng.choice([1, 2]),
                "zero": rng.randint(0, 3), "micro_batch": rng.choice([1, 2]),
                "sequence": 2 ** rng.randint(10, 13), "precision": "bf16",
                "global_batch": 1024}
        rows += [{**base, "gpus": gpus, "recompute": r}
                 for gpus in (16, 64, 256) for r in LEVEL if r[-2:] != "op"]
    path = folder / "jobs.csv"
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    read = list(csv.DictReader(run("validate", "--rows", path, "--csv"
                                   ).splitlines()))
    if len(read) != len(rows):
        fail("rows", f"{len(read)} rows of {len(rows)}")
    nine = [read[i:i + 9] for i in range(0, len(read), 9)]
    for group in nine:
        group = [p for p in group if not p["reason"]]
        for p in group:
            check("rows", p["guards"].split(), float(p["low_ms"]),
                  float(p["predicted_ms"]), float(p["high_ms"]), None, p)
        check_sweeps(group)


# ---- whatif ------------------------------------------------------------------

def check_scenarios(text, about):
    if not text:
        return
    got = json.loads(text)
    n = 0
    for row in [got["base"], *got["scenarios"]]:
        if row["reason"]:
            continue
        n += bool(row["guards"])
        figure, ratio = row["period_us"], row["ratio"]
        check("whatif", row["guards"], figure["low"], figure["predicted"],
              figure["high"], None, about, row["name"])
        if not (0 < ratio["low"] <= ratio["predicted"] * (1 + ROUNDING)
                and ratio["predicted"] <= ratio["high"] * (1 + ROUNDING)):
            fail("whatif", f"ratio {ratio}", about, row["name"])
    if got["guards"]["marked"] != n:
        fail("whatif", f"{n} are marked", got["guards"], about)
    groups = defaultdict(list)
    for row in got["scenarios"]:
        if not row["reason"]:
            word, kind, amount = row["name"].split("/")
            groups[word, kind].append((float(amount),
                                       row["period_us"]["predicted"],
                                       row["guards"], (about, row["name"])))
    for (word, _), group in groups.items():
        check_rising("whatif", word, group)


def ask_described(n, folder):
    model, gpus = rng.choice(MODELS), 2 ** rng.randint(3, 9)
    strategy = {"gpus": gpus, "tp": rng.choice([1, 2, 4]),
                "pp": rng.choice([1, 2]), "zero": rng.randint(0, 3),
                "micro_batch": rng.choice([1, 2]), "sequence": 4096,
                "precision": "bf16", "global_batch": gpus * 4}
    scenarios = []
    for i in range(n // 3):
        other = [{"gpu": rng.choice(PLATFORMS)},
                 {"scale": {"select": "kernels",
                            "factor": round(rng.uniform(0.3, 2), 4)}}]
        scenarios += [{"name": f"recompute/{i}/{LEVEL[r]}",
                       "changes": [*other, {"recompute": r}]}
                      for r in ("none", "selective", "full")]
    (folder / "strategy.json").write_text(json.dumps(strategy))
    (folder / "scenarios.json").write_text(json.dumps({"scenarios": scenarios}))
    platform = rng.choice(["h100", "a100", "h200"])
    check_scenarios(run("whatif", folder / "scenarios.json", model,
                        "--strategy", folder / "strategy.json", "--platform",
                        platform, "--json"), (model, strategy, platform))


def ask_traced(n, trace, folder):
    batches = sorted({size(16) for _ in range(n // 2)})
    other = [{"gpu": rng.choice(PLATFORMS)}]
    scenarios = [{"name": f"larger/{k}/{b}", "changes": [*o, {"batch": b}]}
                 for k, o in enumerate(([], other)) for b in batches]
    (folder / "scenarios.json").write_text(json.dumps({"scenarios": scenarios}))
    platform = rng.choice(PLATFORMS)
    check_scenarios(run("whatif", folder / "scenarios.json", trace,
                        "--platform", platform, "--json"), (trace, platform))


# ---- synth -------------------------------------------------------------------

def ask_synth(folder):
    model = json.loads((DATA / f"models/{rng.choice(MODELS[:4])}.json"
                        ).read_text())
    model["layers"] = rng.randint(1, 3)
    strategy = {"gpus": 1, "micro_batch": size(9), "global_batch": 0,
                "sequence": 2 ** rng.randint(6, 12),
                "precision": rng.choice(["bf16", "fp32"]),
                "recompute": rng.choice(["none", "full"])}
    strategy["global_batch"] = strategy["micro_batch"]
    (folder / "model.json").write_text(json.dumps(model))
    (folder / "strategy.json").write_text(json.dumps(strategy))
    for old in (folder / "traces").glob("*"):
        old.unlink()
    run("synth", folder / "model.json", "--strategy", folder / "strategy.json",
        "-o", folder / "traces")
    platform = rng.choice(PLATFORMS)
    text = run("--platform", platform, folder / "traces", "--json")
    if not text:
        return
    got = json.loads(text)
    figure = got["period_us"]
    check("synth", got["guards"], figure["low"], figure["predicted"],
          figure["high"], got["mfu"], model["name"], strategy, platform)


def main():
    points, folder = int(sys.argv[1]), Path(sys.argv[2])
    rng.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 31)
    sample = DATA / "traces/gpt2"
    while answers["op"] < 0.6 * points:
        ask_op(min(points // 4, 2000), folder)
    while answers["plan"] < 0.3 * points:
        ask_plan(described_spec(), folder)
    while answers["whatif"] < 0.09 * points:
        ask_described(min(points // 10, 600), folder)
    while answers["rows"] < 0.05 * points:
        ask_rows(min(points // 10, 600), folder)
    for _ in range(1 + points // 5000):
        ask_plan(traced_spec(sample / "kineto"), folder)
        ask_plan(traced_spec(sample), folder)
        ask_traced(12, sample, folder)
        ask_synth(folder)
    for what, n in answers.items():
        print(f"{what:8} {n:7} points, {marked[what]:6} marked")
    for fault in faults[:20]:
        print(fault)
    print(f"{sum(answers.values())} points, {len(faults)} trip a rule "
          "and are not marked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
