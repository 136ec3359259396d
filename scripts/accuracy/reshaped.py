#!/usr/bin/env python3
"""A model changed to another's depth or width, against that other's own capture.

    scripts/accuracy/reshaped.py [--binary build/mystique-sim] [--captures DIR]
                [--out tests/accuracy/reshaped.csv | --check]

Records one training step of each model of reshaped_models.py at two depths and two
widths on the CPU (scripts/capture.py; into DIR, where what is there stays), changes
one to the other by `whatif` ("layers", "hidden"), and compares with the other's own
capture:

    operators    those of the execution trace that `whatif --write` writes, by name:
                 how many are too many or too few
    shapes       the same by name, sizes and types of what they are given
    kernels_us   kernel time on a platform by model costs
    peak_bytes   peak of memory

Model "gpt amp" is autocast to bf16, "ckpt" computes each block again in backward,
"ddp" is a rank of one, "fsdp" the first of two. Where --write writes attention as a
GPU runs it (T5), the other's own capture is written so, too, before they are compared.
A change that `whatif` refuses is a row with its reason.

What a CPU calls below a list operator (_foreach_...) is not compared: no GPU does.

--check fails where a row that is not refused in tests/accuracy/reshaped.csv is now,
where kernels differ by more than 1 %, the peak by more than 3 %, or any operator or
shape, unless the file lists it, and then by no more than a tenth above that.
"""
import argparse
import collections
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODELS = HERE / "reshaped_models.py"
COMMITTED = ROOT / "tests/accuracy/reshaped.csv"
FIELDS = ["model", "change", "figure", "changed", "own", "difference", "note"]
PLATFORM = "a100"
KERNELS, PEAK = 1.0, 3.0  # percent

# What a CPU computes attention in where its bias is learned.
MATH = "aten::_scaled_dot_product_attention_math"

# How a capture calls a tensor that is none.
NO_TENSOR = "Tensor(nullptr (uninitialized))"

LAYERS, WIDTH = (4, 6), (64, 128)
NAMES = ("gpt", "llama", "encoder", "vit", "moe", "t5", "dlrm", "unet")
# model, function of reshaped_models.py, settings of capture.py
WAYS = [("gpt amp", "gpt", ",precision=bf16"), ("encoder ckpt", "encoder_ckpt", ""),
        ("vit ddp", "vit_ddp", ""), ("gpt fsdp", "gpt_fsdp", "")]


def layers(found, more):
    """So many more of each repetition, which whatif counts without blocks at
    its ends that differ; above three layers none may be left out there."""
    return [{"layers": {"block": name, "to": n + more}} for name, n in found.items()]


def hidden(model, a, b):
    part = 4 if model == "unet" else 1
    return [{"hidden": {"from": a // part, "to": b // part}}]


def questions():
    """(model, change, from, to) of all."""
    for name in NAMES:
        yield name, "layers", "base", "deep"
        yield name, "fewer layers", "deep", "base"
        yield name, "hidden", "base", "wide"
        yield name, "smaller hidden", "wide", "base"
    for name, _, _ in WAYS:
        yield name, "layers", "base", "deep"
        yield name, "fewer layers", "deep", "base"
    yield "vit ddp", "hidden", "base", "wide"
    yield "vit ddp", "smaller hidden", "wide", "base"


def changes(model, change, found):
    (few, many), (thin, wide) = LAYERS, WIDTH
    if "layers" in change:
        return layers(found, many - few if change == "layers" else few - many)
    return hidden(model, *((thin, wide) if change == "hidden" else (wide, thin)))


# ---- captures ---------------------------------------------------------------

def folder_of(model, size):
    return f"{model.replace(' ', '-')}-{size}"


def capture(captures):
    """Those that are not there, in one process."""
    functions = {name: (name, "") for name in NAMES}
    functions.update({name: (f, s) for name, f, s in WAYS})
    wanted = sorted({(q[0], size) for q in questions() for size in q[2:4]})
    lines = [f"{folder_of(m, size)} --model "
             f"{MODELS}:{functions[m][0]}_{size}{functions[m][1]}"
             for m, size in wanted
             if not (captures / folder_of(m, size) / "meta.json").exists()]
    if not lines:
        return
    captures.mkdir(parents=True, exist_ok=True)
    jobs = captures / "jobs.txt"
    jobs.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/capture.py", "--jobs", jobs, "--out",
         captures, "--warmup", "1", "--timed", "1", "--steps", "1"],
        capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"reshaped.py: captures failed:\n{done.stderr[-3000:]}")


# ---- what is compared --------------------------------------------------------

def operators(folder):
    """(Counter of names, Counter of names with sizes and types)."""
    names, shapes = collections.Counter(), collections.Counter()
    for path in sorted(folder.glob("rank-*.json*")):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt") as f:
            nodes = json.load(f)["nodes"]
        by_id = {node["id"]: node for node in nodes}
        for node in nodes:
            attrs = {a["name"]: a["value"] for a in node["attrs"]}
            if attrs["scope"] == 7 or node["name"].startswith("## ") or \
                    in_list(node, by_id):
                continue
            names[node["name"]] += 1
            types = [t.replace(NO_TENSOR, "None") for t in node["inputs"]["types"]]
            sizes = node["inputs"]["shapes"]
            if node["name"].startswith("c10d::"):  # --write spells more numbers out
                sizes = [s for s, t in zip(sizes, types) if "Tensor" in t]
            shapes[node["name"], json.dumps(sizes),
                   json.dumps([t for t in types if "Tensor" in t])] += 1
    return names, shapes


def in_list(node, by_id):
    """A CPU goes through the list of a list operator, a GPU does not."""
    while node["ctrl_deps"] in by_id and node["ctrl_deps"] != node["id"]:
        node = by_id[node["ctrl_deps"]]
        if node["name"].startswith("aten::_foreach_"):
            return True
    return False


def apart(a, b):
    return sum(((a - b) + (b - a)).values())


def predicted(binary, folder):
    done = subprocess.run([binary, "predict", "--json", "--costs", "model",
                           "--platform", PLATFORM, folder],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    return report["kernel_us"]["predicted"], report["memory_bytes"]["peak"]


def safe(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "-", name)


def whatif(binary, capture, scenarios, scratch, *options):
    """Rows by name."""
    path = scratch / "scenarios.json"
    path.write_text(json.dumps({"scenarios": [
        {"name": name, "changes": changes} for name, changes in scenarios]}))
    done = subprocess.run([binary, "whatif", "--json", "--platform", PLATFORM, path,
                           capture / "et", *options], capture_output=True, text=True)
    if not done.stdout:  # 1: no scenario has an answer, and says why
        sys.exit(f"reshaped.py: {capture.name}: {done.stderr.strip()}")
    return {r["name"]: r for r in json.loads(done.stdout)["scenarios"]}


def repetitions(binary, capture, scratch):
    """How many blocks it finds, by name: what it says of a block that is none.
    Where it finds none, as many as there are, which it then refuses."""
    row = whatif(binary, capture, [("?", [{"layers": {"block": "?", "to": 9}}])],
                 scratch)["?"]
    return {name: int(n) for name, n in
            re.findall(r'"([\w-]+)" \((\d+)\)', row["reason"])} or \
        {"blocks": LAYERS[capture.name.endswith("deep")]}


def asked(binary, captures, scratch):
    """Every question's scenario, predicted and written: source by source."""
    found = {}
    by_source = collections.defaultdict(list)
    for q in questions():
        by_source[q[0], q[2]].append(q)
    for (model, size), several in by_source.items():
        capture = captures / folder_of(model, size)
        blocks = repetitions(binary, capture, scratch)
        out = scratch / capture.name
        rows = whatif(binary, capture,
                      [(q[1], changes(model, q[1], blocks)) for q in several],
                      scratch, "--write", out)
        for q in several:
            found[q[0], q[1]] = rows[q[1]], out / safe(q[1]), blocks
    return found


def as_gpu(binary, own, width, scratch):
    """The capture `own` as --write writes it: of a width that it has already."""
    out = scratch / f"{own.parent.name}-own"
    whatif(binary, own.parent, [("own", hidden("", width, width))], scratch,
           "--write", out)
    return out / "own"


def difference(changed, own):
    return f"{100 * (changed / own - 1):.2f} %"


def rows_of(binary, captures, scratch):
    rows = []
    found = asked(binary, captures, scratch)
    for model, change, from_, to in questions():
        row, written, blocks = found[model, change]
        if row.get("reason"):
            rows.append([model, change, "refused", "", "", "", row["reason"]])
            continue
        there_are = LAYERS[from_ == "deep"]
        counted = "; ".join(f"{n} of {there_are} {name} are counted"
                            for name, n in blocks.items() if n != there_are) \
            if "layers" in change else ""
        own = captures / folder_of(model, to) / "et"
        kernels, peak = predicted(binary, own)
        there, here = operators(written), operators(own)
        if MATH in here[0] and MATH not in there[0]:
            here = operators(as_gpu(binary, own, WIDTH[to == "wide"], scratch))
        for i, figure in enumerate(("operators", "shapes")):
            rows.append([model, change, figure, sum(there[i].values()),
                         sum(here[i].values()), apart(there[i], here[i]),
                         listed(there[i], here[i])])
        figures = row["kernel_us"]["predicted"], row["memory_bytes"]["peak"]
        rows.append([model, change, "kernels_us", f"{figures[0]:.3f}",
                     f"{kernels:.3f}", difference(figures[0], kernels), counted])
        rows.append([model, change, "peak_bytes", f"{figures[1]:.0f}",
                     f"{peak:.0f}", difference(figures[1], peak), ""])
    return [dict(zip(FIELDS, map(str, r))) for r in rows]


def listed(there, here):
    """What differs, by name: "+2 aten::copy_"."""
    by_name = collections.Counter()
    for key, n in (there - here).items():
        by_name["+", key if isinstance(key, str) else key[0]] += n
    for key, n in (here - there).items():
        by_name["-", key if isinstance(key, str) else key[0]] += n
    return "; ".join(f"{sign}{n} {name}" for (sign, name), n in
                     sorted(by_name.items(), key=lambda x: (-x[1], x[0])))


# ---- the table of the documentation ---------------------------------------------

def table(rows):
    lines = ["| model | change | operators apart | of | shapes apart | kernel time | "
             "peak of memory |", "|---|---|---|---|---|---|---|"]
    found = collections.defaultdict(dict)
    for r in rows:
        found[r["model"], r["change"]][r["figure"]] = r
    for (model, change), r in found.items():
        if "refused" in r:
            lines.append(f"| {model} | {change} | refused | | | | |")
            continue
        none = {"difference": "-", "own": "-"}
        names, shapes = r.get("operators", none), r.get("shapes", none)
        lines.append(f"| {model} | {change} | {names['difference']} | "
                     f"{names['own']} | {shapes['difference']} | "
                     f"{r['kernels_us']['difference']} | "
                     f"{r['peak_bytes']['difference']} |")
    return lines


# ---- the floors ---------------------------------------------------------------

def key(row):
    return row["model"], row["change"], row["figure"]


def judge(rows):
    with open(COMMITTED, newline="") as f:
        before = {key(r): r for r in csv.DictReader(f)}
    bad = []
    for r in rows:
        what = " ".join(key(r))
        was = before.get(key(r))
        if r["figure"] == "refused":
            if not was:
                bad.append(f"{what}: {r['note']}")
            continue
        most = {"kernels_us": KERNELS, "peak_bytes": PEAK}.get(r["figure"], 0)
        if was:  # what is listed is no worse
            most = max(most, 1.1 * abs(float(was["difference"].rstrip(" %"))))
        if abs(float(r["difference"].rstrip(" %"))) > most:
            bad.append(f"{what}: {r['changed']}, its own has {r['own']}, apart "
                       f"{r['difference']}, want {most:g} at most: {r['note']}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    parser.add_argument("--captures", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        captures = args.captures or scratch / "captures"
        capture(captures)
        rows = rows_of(args.binary, captures, scratch)
    out = args.out.open("w", newline="") if args.out else sys.stdout
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    if args.out:
        out.close()
    bad = judge(rows) if args.check else []
    for complaint in bad:
        print(complaint, file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
