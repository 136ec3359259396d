#!/usr/bin/env python3
"""Served models against measured ones: rows of closed loops by `serve --rows`,
each request of a measured run of vLLM by `serve`, runs below the knee.

    scripts/accuracy/serving_rows.py --traces FOLDER --binary build/mystique-sim

Prints the errors by source, engine and model, and of capacity: output tokens a
second of the most clients that were tried of each configuration, where they wait
for each other most, and of the overloaded run of vLLM. Constants of the law were fitted
on the rows of closed loops (data/laws/serving.json; what a fit did not see is
judged by msim-fit-serving), on none of the rest. With --check it fails where a
median is above its bar.
"""
import argparse
import collections
import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Per cent, of medians: what a change must not fall behind.
BARS = {
    ("closed loops", "tpot_ms"): 8,
    ("closed loops", "ttft_ms"): 21,
    ("vLLM run", "e2e_ms"): 8,
    ("vLLM run", "tpot_ms"): 8,
    ("below the knee", "e2e_ms"): 8,
    ("below the knee", "tpot_ms"): 8,
    ("below the knee", "ttft_ms"): 20,
    ("below the knee", "requests/s"): 2,
    ("capacity", "tokens/s"): 18,
}
LEAST_ANSWERED = 0.99


def run(binary, arguments, folder):
    done = subprocess.run([binary, "serve"] + arguments, capture_output=True,
                          text=True, cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(f"serve {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def tokens_per_s(row, before=""):
    """Of a closed loop: each client has an answer of osl tokens in so long."""
    osl = float(row["osl"])
    ms = (float(row[before + "ttft_ms"]) +
          (osl - 1) * float(row[before + "tpot_ms"]))
    return float(row["batch_size"]) * osl / ms * 1e3


def capacity(answered):
    """Rows with the most clients of their configuration, where there are three
    or more: predicted and measured."""
    sets = collections.defaultdict(list)
    given = ("ttft", "tpot", "measured", "uses", "defaults", "reason", "id",
             "batch_size", "concurrency")
    for r in answered:
        key = tuple(v for k, v in r.items() if not k.startswith(given))
        sets[key].append(r)
    pairs = collections.defaultdict(list)
    for rows in sets.values():
        if len({r["batch_size"] for r in rows}) < 3:
            continue
        r = max(rows, key=lambda r: float(r["batch_size"]))
        pair = (tokens_per_s(r), tokens_per_s(r, "measured_"))
        pairs["capacity", "tokens/s"].append(pair)
        pairs[f"  of {r['backend']}, capacity", "tokens/s"].append(pair)
    return pairs


def closed_loops(binary, serving, folder):
    table = os.path.join(folder, "points.csv")
    with gzip.open(os.path.join(serving, "silicon.csv.gz"), "rt") as rows:
        with open(table, "w", encoding="utf-8") as out:
            out.write(rows.read())
    models = os.path.join(serving, "models")
    out = run(binary, ["--rows", table, "--models", models, "--csv"], folder)
    rows = list(csv.DictReader(out.splitlines()))
    answered = [r for r in rows if r["tpot_ms"]]
    pairs = collections.defaultdict(list)
    for r in answered:
        for figure in ("tpot_ms", "ttft_ms"):
            pair = (float(r[figure]), float(r["measured_" + figure]))
            pairs["closed loops", figure].append(pair)
            name = f"  {r['backend']} {r['model'].split('/')[-1]}"
            pairs[f"{name} {r['platform']}", figure].append(pair)
    pairs.update(capacity(answered))
    return pairs, len(answered) / len(rows)


def application(serving, folder, model, platform, settings, traffic, log):
    """Write an application of one LLM stage; its path."""
    path = os.path.join(folder, "app.json")
    stage = {"kind": "llm", "engine": "vllm", "precision": "bf16",
             "model": os.path.join(serving, "models", model + ".json"),
             "platform": platform, "batching": settings}
    arrivals = ({"process": "log", "file": log} if log else
                {"process": "constant", "rate": traffic["rate"]})
    app = {"schema": "mystique-sim/app/1", "name": model, "currency": "USD",
           "classes": [traffic["class"]], "arrivals": arrivals,
           "stages": {"llm": stage}, "flow": {"start": "llm", "edges": []}}
    with open(path, "w", encoding="utf-8") as out:
        json.dump(app, out)
    return path


def vllm_run(binary, serving, folder):
    log = os.path.join(serving, "vllm", "rtx-pro-6000-llama-3.1-8b",
                       "requests.csv")
    traffic = {"class": {"name": "all", "share": 1, "input_tokens": 1000,
                         "output_tokens": 500}}
    settings = {"max_num_seqs": 128, "max_num_batched_tokens": 2048}
    app = application(serving, folder, "llama-3.1-8b", "rtx-pro-6000",
                      settings, traffic, log)
    predicted = csv.DictReader(run(binary, [app, "--csv"], folder).splitlines())
    pairs = collections.defaultdict(list)
    ends = [0, 0]
    tokens = 0
    with open(log, encoding="utf-8") as measured:
        for p, m in zip(predicted, csv.DictReader(measured)):
            tokens += int(m["output_tokens"])
            ends = [max(end, 1e3 * float(m["t_s"]) + float(of["e2e_ms"]))
                    for end, of in zip(ends, (p, m))]
            for figure in ("e2e_ms", "tpot_ms", "ttft_ms"):
                if p[figure] and m[figure]:
                    pairs["vLLM run", figure].append(
                        (float(p[figure]), float(m[figure])))
    pairs["vLLM run", "tokens/s"] = [tuple(1e3 * tokens / end for end in ends)]
    return pairs


def below_the_knee(binary, serving, folder):
    """Medians of runs, and their requests a second; prompts repeat, so their
    prefixes are cached. Stages of load are judged up to 0.8 of max_num_seqs at
    once, as the table of the measured runs says."""
    pairs = collections.defaultdict(list)
    path = os.path.join(serving, "inference-perf", "runs.csv")
    with open(path, encoding="utf-8") as runs:
        rows = [r for r in csv.DictReader(runs)
                if float(r["rate_rps"]) * float(r["e2e_mean_ms"]) / 1e3 <
                0.8 * float(r["max_num_seqs"])]
    for r in rows:
        prompt = {"shared_tokens": int(r["system_prompt_len"]),
                  "groups": int(r["num_groups"]), "distinct_prompts": 100}
        traffic = {"rate": float(r["rate_rps"]),
                   "class": {"name": "all", "share": 1, "prefix": prompt,
                             "input_tokens": float(r["input_tokens_mean"]),
                             "output_tokens": float(r["output_len"])}}
        settings = {k: int(r[k]) for k in (
            "max_num_seqs", "max_num_batched_tokens", "max_model_len")}
        app = application(serving, folder, "llama-2-7b", r["gpu"], settings,
                          traffic, None)
        out = run(binary, [app, "--num-requests", r["requests"], "--json"],
                  folder)
        figures = json.loads(out)["classes"]["all"]
        pairs["below the knee", "requests/s"].append(
            (figures["throughput_rps"], float(r["requests_per_s"])))
        for figure in ("e2e", "ttft", "tpot"):
            pairs["below the knee", figure + "_ms"].append(
                (figures[figure + "_ms"]["p50"],
                 float(r[figure + "_median_ms"])))
    return pairs


def report(pairs):
    """Print errors; how many medians are above their bars."""
    missed = 0
    print(f"{'':46} {'figure':8} {'n':>4} {'mean':>7} {'median':>7}  of it")
    for (name, figure), of in pairs.items():
        errors = [abs(p / m - 1) * 100 for p, m in of]
        median = statistics.median(errors)
        ratio = statistics.median(p / m for p, m in of)
        bar = BARS.get((name, figure))
        late = bar is not None and median > bar
        missed += late
        print(f"{name:46} {figure:8} {len(of):4} {statistics.mean(errors):6.1f}%"
              f" {median:6.1f}%  {ratio:.2f}"
              f"{f'  above its bar, {bar}' if late else ''}")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    serving = os.path.join(os.path.abspath(options.traces), "serving")
    if not os.path.isdir(serving):
        print("no measured servers: skipped")
        sys.exit(77)
    binary = os.path.abspath(options.binary)
    with tempfile.TemporaryDirectory() as folder:
        pairs, answered = closed_loops(binary, serving, folder)
        pairs.update(vllm_run(binary, serving, folder))
        pairs.update(below_the_knee(binary, serving, folder))
    missed = report(pairs)
    print(f"{answered:.1%} of the rows of closed loops are answered")
    if options.check and (missed or answered < LEAST_ANSWERED):
        sys.exit(1)


if __name__ == "__main__":
    main()
