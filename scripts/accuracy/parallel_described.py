#!/usr/bin/env python3
"""`parallel` of the trace of one GPU beside the trace that `synth` writes of that job.

    scripts/accuracy/parallel_described.py mystique-sim [--only TEXT] [--out FILE | --check]

For each model and strategy below, `synth` writes the step of one GPU and the step of
the strategy. The first, changed by `parallel`, is held against the second: period and
largest peak of a rank, as traces alone (no factor of measured jobs). --out writes by
how much they differ, in per cent, for the table of docs/whatif.md
(scripts/accuracy/accuracy_readme.py). Exits with 1 where a row is off by more than
its limit; with --check also where it is not that of the committed file.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

TIME, MEMORY = 1.0, 3.0  # per cent
SAME = 0.1
COMMITTED = pathlib.Path(__file__).resolve().parents[2] / "tests/accuracy/parallel.csv"

DENSE = {"type": "decoder", "tied_embeddings": False, "gated": True, "norm": "rmsnorm",
         "positions": "rope", "bias": False}
MODELS = {
    "8 x 4096": dict(DENSE, layers=8, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocab=32000),
    "12 x 2048": dict(DENSE, layers=12, hidden=2048, heads=16, kv_heads=16, ffn=5632,
                      vocab=50304),
    "gpt": {"type": "decoder", "tied_embeddings": True, "gated": False, "norm": "layernorm",
            "positions": "learned", "bias": True, "layers": 12, "hidden": 1536, "heads": 16,
            "kv_heads": 16, "ffn": 6144, "vocab": 50304},
    "experts": dict(DENSE, layers=8, hidden=2048, heads=16, kv_heads=8, ffn=5632, vocab=32000,
                    moe={"experts": 8, "topk": 2, "ffn": 2816}),
    "shared": dict(DENSE, layers=8, hidden=2048, heads=16, kv_heads=8, ffn=5632, vocab=32000,
                   moe={"experts": 8, "topk": 2, "ffn": 1408, "shared_experts": 2,
                        "dense_layers": 2}),
}
SEQUENCE, PASSES = 2048, 8

# tp, pp, vp, dp, schedule; cp, where ranks share sequences; ep, where they have different
# experts; zero; etp, where each is not shared as tp says. What the trace of one GPU is trained with, too, stands last
FULL, SELECTIVE = {"recompute": "full"}, {"recompute": "selective"}
NARROW = {"precision": "fp8"}
STRATEGIES = {
    "8 x 4096": [
        (1, 2, 1, 1, "1f1b"), (1, 4, 1, 1, "1f1b"), (1, 8, 1, 1, "1f1b"),
        (1, 2, 2, 1, "interleaved"), (1, 2, 1, 1, "zero-bubble"), (1, 4, 1, 1, "zero-bubble"),
        (1, 2, 1, 2, "1f1b"), (1, 4, 1, 4, "1f1b"),
        (2, 1, 1, 1, "1f1b"), (4, 1, 1, 1, "1f1b"), (8, 1, 1, 1, "1f1b"),
        (2, 2, 1, 1, "1f1b"), (4, 2, 1, 1, "1f1b"), (8, 2, 1, 1, "1f1b"),
        (2, 4, 2, 1, "interleaved"), (2, 2, 1, 1, "zero-bubble"),
        (2, 1, 1, 2, "1f1b"), (2, 1, 1, 4, "1f1b"), (2, 2, 1, 2, "1f1b"),
        (8, 1, 1, 8, "1f1b"),
        (1, 1, 1, 1, "1f1b", 2), (1, 1, 1, 1, "1f1b", 4), (1, 1, 1, 4, "1f1b", 2),
        (2, 1, 1, 1, "1f1b", 2), (1, 2, 1, 1, "1f1b", 2), (2, 2, 1, 2, "1f1b", 2),
        (1, 2, 2, 1, "interleaved", 2), (1, 2, 1, 1, "zero-bubble", 2),
        (1, 2, 1, 1, "1f1b", FULL), (2, 1, 1, 1, "1f1b", FULL), (2, 2, 1, 2, "1f1b", FULL),
        (1, 2, 1, 1, "1f1b", SELECTIVE), (2, 1, 1, 1, "1f1b", 2, SELECTIVE)],
    "12 x 2048": [
        (1, 3, 1, 1, "1f1b"), (1, 12, 1, 1, "1f1b"), (1, 2, 3, 1, "interleaved"),
        (1, 3, 1, 1, "zero-bubble"), (1, 1, 1, 8, "1f1b"), (2, 3, 1, 1, "1f1b"),
        (4, 1, 1, 2, "1f1b"), (2, 6, 1, 1, "zero-bubble"), (8, 4, 1, 2, "1f1b"),
        (1, 1, 1, 1, "1f1b", 2), (1, 1, 1, 1, "1f1b", 4), (2, 3, 1, 1, "1f1b", 2),
        (1, 3, 1, 1, "1f1b", 4),
        (1, 3, 1, 1, "1f1b", NARROW), (1, 2, 3, 1, "interleaved", NARROW),
        (1, 1, 1, 4, "1f1b", NARROW), (1, 2, 1, 1, "1f1b", 2, NARROW)],
    "gpt": [
        (1, 2, 1, 1, "1f1b"), (1, 4, 1, 2, "1f1b"), (2, 1, 1, 1, "1f1b"), (4, 1, 1, 1, "1f1b"),
        (2, 2, 1, 1, "1f1b"), (1, 4, 3, 1, "interleaved"),
        (1, 1, 1, 1, "1f1b", 2), (1, 2, 1, 1, "1f1b", 2), (2, 1, 1, 1, "1f1b", 2)],
    "experts": [
        (1, 2, 1, 1, "1f1b"), (1, 4, 1, 1, "1f1b"), (1, 2, 2, 1, "interleaved"),
        (1, 2, 1, 1, "zero-bubble"), (1, 1, 1, 4, "1f1b"), (1, 4, 1, 2, "1f1b"),
        (2, 1, 1, 1, "1f1b"), (2, 2, 1, 2, "1f1b"),
        (1, 1, 1, 2, "1f1b", 1, 2), (1, 1, 1, 4, "1f1b", 1, 4), (1, 1, 1, 8, "1f1b", 1, 8),
        (1, 1, 1, 4, "1f1b", 1, 2), (1, 2, 1, 2, "1f1b", 1, 2), (1, 4, 1, 4, "1f1b", 1, 4),
        (1, 2, 2, 2, "interleaved", 1, 2), (1, 2, 1, 2, "zero-bubble", 1, 2),
        (2, 1, 1, 2, "1f1b", 1, 2), (4, 1, 1, 8, "1f1b", 1, 8), (2, 2, 1, 2, "zero-bubble", 1, 2),
        (1, 1, 1, 2, "1f1b", 1, 2, 1), (1, 1, 1, 4, "1f1b", 1, 2, 1),
        (2, 2, 1, 4, "1f1b", 1, 2, 1),
        (1, 1, 1, 1, "1f1b", 2), (1, 1, 1, 1, "1f1b", 2, 2), (1, 1, 1, 1, "1f1b", 4, 4),
        (1, 1, 1, 2, "1f1b", 2, 2, 1), (1, 2, 1, 1, "zero-bubble", 2, 2),
        (1, 2, 1, 1, "1f1b", FULL), (1, 2, 1, 1, "zero-bubble", FULL),
        (2, 1, 1, 1, "1f1b", FULL), (2, 2, 1, 2, "1f1b", FULL),
        (2, 1, 1, 2, "1f1b", 1, 2, FULL), (1, 4, 1, 1, "1f1b", SELECTIVE),
        (1, 4, 1, 1, "1f1b", NARROW),
        (2, 1, 1, 1, "1f1b", 1, 1, 0, 1), (2, 1, 1, 2, "1f1b", 1, 2, 0, 1),
        (4, 1, 1, 2, "1f1b", 1, 4, 1, 1)],
    "shared": [
        (2, 1, 1, 1, "1f1b"), (4, 1, 1, 1, "1f1b"), (1, 2, 1, 1, "1f1b"),
        (2, 2, 1, 2, "1f1b", 1, 2), (1, 1, 1, 1, "1f1b", 2, 2), (2, 1, 1, 1, "1f1b", FULL),
        (2, 1, 1, 2, "1f1b", 1, 2), (4, 1, 1, 2, "1f1b", 1, 4, 1, 1)],
}


PARTS = ("tp", "pp", "vp", "dp", "schedule", "cp", "ep", "zero", "etp")
USUAL = (1, 1, 1, 1, "1f1b", 1, 1, 0, None)


def told_of(split):
    """What both traces are trained with."""
    return split[-1] if isinstance(split[-1], dict) else {}


def parts_of(split):
    split = [x for x in split if not isinstance(x, dict)]
    parts = dict(zip(PARTS, (*split, *USUAL[len(split):])))
    return {k: v for k, v in parts.items() if v is not None}


def changes_of(split):
    parts = parts_of(split)
    zero = parts.pop("zero")
    return [{"parallel": parts}, *([{"shard": f"zero{zero}"}] if zero else [])]


def name_of(split):
    of = parts_of(split)
    more = "".join(f"-{k}{of[k]}" for k in ("cp", "ep", "zero", "etp")
                   if k in of and of[k] != USUAL[PARTS.index(k)])
    more += "".join(f"-{word}" for word in told_of(split).values())
    return f"tp{of['tp']}-pp{of['pp']}-vp{of['vp']}-dp{of['dp']}-{of['schedule']}{more}"


class Asking:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *args):
        done = subprocess.run([self.program, *map(str, args)], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            sys.exit(f"{args}: {done.stderr}")
        return done.stdout

    def write(self, model, name, split):
        strategy = parts_of(split)
        strategy |= {"gpus": math.prod(strategy[k] for k in ("tp", "pp", "cp", "dp")),
                     "global_batch": PASSES * strategy["dp"], "micro_batch": 1,
                     "sequence": SEQUENCE, "precision": "bf16", **told_of(split)}
        if strategy["schedule"] != "zero-bubble":
            del strategy["schedule"]
        at = self.folder / name
        shutil.rmtree(at, ignore_errors=True)
        (self.folder / "m.json").write_text(json.dumps(dict(model, name="m")))
        (self.folder / "s.json").write_text(json.dumps(strategy))
        self.run("synth", self.folder / "m.json", "--strategy", self.folder / "s.json", "-o", at)
        (at / "synth.json").unlink()
        return at

    def figures(self, at):
        told = json.loads(self.run("predict", "--platform", "h100", "--json", at))
        return (told["period_us"]["predicted"],
                max(rank["memory_bytes"]["peak"] for rank in told["ranks_detail"]))

    def change(self, at, splits):
        rows = [{"name": name_of(s), "changes": changes_of(s)} for s in splits]
        (self.folder / "w.json").write_text(json.dumps({"scenarios": rows}))
        to = at.with_name(at.name + "-changed")
        self.run("whatif", "--platform", "h100", self.folder / "w.json", at, "--write", to)
        return to


def rows_of(ask, wanted):
    for model, splits in STRATEGIES.items():
        splits = [s for s in splits if wanted in f"{model} {name_of(s)}"]
        for told, group in itertools.groupby(splits, told_of):
            yield from rows_of_one(ask, model, told, list(group))


def rows_of_one(ask, model, told, splits):
    """Strategies of one trace."""
    one = ask.write(MODELS[model], "one", (1, 1, 1, 1, "1f1b", told))
    changed = ask.change(one, splits)
    for split in splits:
        us, peak = ask.figures(ask.write(MODELS[model], "described", split))
        own = ask.figures(changed / name_of(split))
        yield {"model": model, "strategy": name_of(split),
               "time": f"{100 * (own[0] / us - 1):+.2f}",
               "memory": f"{100 * (own[1] / peak - 1):+.2f}"}
    shutil.rmtree(changed)


def off(rows, what):
    return [abs(float(row[what])) for row in rows]


def table(rows):
    """For docs/whatif.md."""
    lines = ["| model | strategies | time off: mean, worst | memory off: mean, worst |",
             "|---|---|---|---|"]
    for model in [*MODELS, "all"]:
        of = [row for row in rows if model in (row["model"], "all")]
        if of:
            cells = [f"{statistics.fmean(d):.2f}, {max(d):.2f} %"
                     for d in (off(of, "time"), off(of, "memory"))]
            lines.append(f"| {model} | {len(of)} | {cells[0]} | {cells[1]} |")
    return lines


def committed():
    with open(COMMITTED, newline="", encoding="utf-8") as f:
        return {(row["model"], row["strategy"]): row for row in csv.DictReader(f)}


def faults(row, was):
    if abs(float(row["time"])) > TIME:
        yield f"time is off by more than {TIME:g} %"
    if abs(float(row["memory"])) > MEMORY:
        yield f"memory is off by more than {MEMORY:g} %"
    if was is not None and any(abs(float(row[k]) - float(was[k])) > SAME
                               for k in ("time", "memory")):
        yield f"{COMMITTED.name} has {was['time']} and {was['memory']}; --out renews it"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="of rows whose name has this text")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--out", help="rows into this file")
    what.add_argument("--check", action="store_true", help="against the committed rows")
    asked = parser.parse_args()
    was = committed() if asked.check else {}
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        ask = Asking(str(pathlib.Path(asked.program).resolve()), pathlib.Path(folder))
        for row in rows_of(ask, asked.only):
            why = list(faults(row, was.pop((row["model"], row["strategy"]), None)))
            print(f"{row['model']:10} {row['strategy']:28} time {row['time']:>6} % "
                  f"memory {row['memory']:>6} %", *why, sep="  ", flush=True)
            rows.append(row)
            failed |= bool(why)
    if was and not asked.only:
        print("not asked any more:", *was)
        failed = True
    print(*table(rows), sep="\n")
    if asked.out:
        with open(asked.out, "w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return failed


if __name__ == "__main__":
    sys.exit(main())
