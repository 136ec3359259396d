#!/usr/bin/env python3
"""torchtune's memory techniques, predicted and measured.

    scripts/accuracy/ladder.py SHARED [--binary build/mystique-sim]
                [--out tests/accuracy/ladder.csv | --check]

SHARED/jobs/torchtune_ladder.csv has peaks of memory and tokens a second as
torchtune's README states them: techniques added one by one to Llama 3.2 3B on
one A100, and other models. No constant is fitted to it. --out writes the table
that is committed; --check fails where a change of the ladder has the wrong sign
or is more than 10 points off, and where the table differs from the committed
one by more than half a point (a fit of the step law moves all of them a little;
the commit that does so writes the table again).

What the table leaves unsaid is taken from torchtune's recipes and their
configurations, and named here:
  * all weights, gradients and Adam's states in bf16, one fused update
  * packed sequences of documents of 128 tokens (Alpaca; a guess: attention is
    computed in blocks of 128), as attention is masked between documents
  * the loss in 8 chunks; activation checkpointing of every layer
  * adapters of rank 64 on all layers (Llama 3.2 3B's configuration); of rank 8
    on attention alone, or on all layers with 4-bit weights (Llama 3.1 8B), of
    rank 16 on attention (70B and 405B); no optimizer in backward with adapters
  * Llama 3.1 8B trained in full: 8-bit states, paged to the host where they do
    not fit (RTX 4090); optimizer in backward
  * 8 GPUs: FSDP, tokens a second of all of them; "offload": weights, gradients
    and states on the host
The row without packing is left out: how long its sequences are is not stated.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGN_POINTS, DRIFT = 10.0, 0.5  # percentage points
MODELS = {"llama3.1-8b": "llama3-8b", "llama3.1-70b": "llama3-70b"}
GPUS = {"A100": "a100", "A6000": "rtx-a6000", "RTX4090": "rtx-4090"}
COMMON = {"precision": "bf16", "master_weights": "no", "document": "128",
          "compile": "yes", "loss_chunks": "8", "recompute": "full"}
LORA = {"llama3.2-3b": ("64", "all"), "llama3.1-8b": ("8", "attention")}
# What each step of the ladder adds to the one before.
LADDER = [
    ("packed", {"compile": "no", "loss_chunks": "", "recompute": "none"}),
    ("+compile", {"compile": "yes"}),
    ("+chunked-ce", {"loss_chunks": "8"}),
    ("+activation-checkpointing", {"recompute": "full"}),
    ("+optimizer-in-backward", {"optimizer_in_backward": "yes"}),
    ("+activation-offloading", {"offload": "activations"}),
    ("+8bit-adamw", {"optimizer_bits": "8"}),
    ("lora", {"optimizer_bits": "", "optimizer_in_backward": ""}),
    ("qlora", {}),
]
FIELDS = ["model", "method", "gpu", "technique",
          "measured_gib", "predicted_gib", "memory_error",
          "measured_tokens_s", "predicted_tokens_s", "tokens_error",
          "measured_memory_change", "predicted_memory_change",
          "measured_tokens_change", "predicted_tokens_change"]


def strategy_of(row):
    """The columns of a table of jobs; None: the row is left out."""
    s = dict(COMMON)
    technique = row["technique"].removeprefix("cumulative:")
    if row["technique"].startswith("cumulative:"):
        names = [name for name, _ in LADDER]
        if technique not in names:
            return None
        for _, change in LADDER[:names.index(technique) + 1]:
            s.update(change)
    elif row["method"] == "full":
        s.update(optimizer_bits="8", optimizer_in_backward="yes")
        if row["gpu"] == "RTX4090":
            s["offload"] = "optimizer"
    if "lora" in row["method"]:
        s["lora_rank"], s["lora_targets"] = LORA.get(row["model"], ("16", "attention"))
    if row["method"] == "qlora":
        s.update(base_bits="4", lora_targets="all")
    if int(row["gpus"]) > 1:
        s["zero"] = "3"
    if row["method"] == "full+offload":
        s["offload"] = "weights"
    s.update(model=MODELS.get(row["model"], row["model"]),
             platform=GPUS[row["gpu"]], gpus=row["gpus"],
             micro_batch=row["batch"], sequence=row["sequence"],
             global_batch=str(int(row["batch"]) * int(row["gpus"])))
    return s


def predictions(binary, strategies):
    columns = sorted({key for s in strategies for key in s})
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as table:
        writer = csv.DictWriter(table, columns, restval="")
        writer.writeheader()
        writer.writerows(strategies)
        table.flush()
        done = subprocess.run([binary, "validate", "--rows", table.name, "--csv"],
                              check=True, stdout=subprocess.PIPE, text=True)
    for row in csv.DictReader(done.stdout.splitlines()):
        if row["reason"]:
            sys.exit(f"ladder.py: {row['model']}: {row['reason']}")
        tokens = int(row["global_batch"]) * int(row["sequence"])
        yield (float(row["predicted_memory_gib"]),
               tokens / float(row["predicted_ms"]) * 1e3)


def percent(new, old):
    return f"{100 * (new / old - 1):.1f}"


def table_of(shared, binary):
    with open(shared / "jobs/torchtune_ladder.csv", newline="") as f:
        measured = [r for r in csv.DictReader(f) if strategy_of(r)]
    table, before = [], None
    for row, (gib, tokens) in zip(
            measured, predictions(binary, [strategy_of(r) for r in measured])):
        true = float(row["peak_memory_gib"]), float(row["tokens_s"])
        line = {"model": row["model"], "method": row["method"], "gpu": row["gpu"],
                "technique": row["technique"],
                "measured_gib": row["peak_memory_gib"], "predicted_gib": f"{gib:.1f}",
                "memory_error": percent(gib, true[0]),
                "measured_tokens_s": row["tokens_s"],
                "predicted_tokens_s": f"{tokens:.0f}",
                "tokens_error": percent(tokens, true[1])}
        if before and row["technique"].startswith("cumulative:"):
            line.update(measured_memory_change=percent(true[0], before[0]),
                        predicted_memory_change=percent(gib, before[2]),
                        measured_tokens_change=percent(true[1], before[1]),
                        predicted_tokens_change=percent(tokens, before[3]))
        if row["technique"].startswith("cumulative:"):
            before = (*true, gib, tokens)
        table.append(line)
    return table


def complaints(table, committed):
    """What is wrong with the ladder, and what is not as committed."""
    for line in table:
        for what in ("memory", "tokens"):
            text = line.get(f"measured_{what}_change")
            if not text:
                continue
            true, ours = float(text), float(line[f"predicted_{what}_change"])
            # Rounded to a tenth of a point, no change has no sign.
            if true * ours < 0 or abs(true - ours) > SIGN_POINTS:
                yield (f"{line['technique']}: {what} changes by {true} %, "
                       f"predicted {ours} %")
    if len(table) != len(committed):
        yield "not as many rows as in tests/accuracy/ladder.csv"
    for new, old in zip(table, committed):
        for field in FIELDS[4:]:
            a, b = new.get(field) or "0", old[field] or "0"
            share = 1 if "error" in field or "change" in field else float(b) / 100
            if abs(float(a) - float(b)) > DRIFT * max(share, 0.1):
                yield (f"{new['model']} {new['technique']}: {field} is {a}, "
                       f"committed {b}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    table = table_of(args.shared, args.binary)
    out = args.out.open("w", newline="") if args.out else sys.stdout
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    if args.out:
        out.close()
    if not args.check:
        return 0
    with open(ROOT / "tests/accuracy/ladder.csv", newline="") as f:
        wrong = list(complaints(table, list(csv.DictReader(f))))
    for text in wrong:
        print("ladder.py:", text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
