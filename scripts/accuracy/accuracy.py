#!/usr/bin/env python3
"""Predicted against measured, over folders of real traces.

    scripts/accuracy/accuracy.py --traces FOLDER [--binary build/mystique-sim]
                        [--out tests/accuracy/traces.csv]
                        [--table | --check | --spread]

FOLDER holds traces/ (see docs/accuracy/README.md). Every case is run under
measured and, where its GPU is a platform, under model costs; the measured
figures are the trace's own. Traces of the same program on two GPUs are scaled
from each to the other and compared with the kernels measured there, and so are
runs of one machine with other batch sizes. Those are also predicted by model
costs at the clock that another one shows, and at nothing else of it. The models
are fitted on tables of operator times; docs/accuracy/README.md names the two
constants that are fitted on these traces' GPU times. Host times are the trace's
own. The CSV has one line a case and figure; families.csv beside it one a case
and family of operators, their kernels summed.

--table prints the summary that docs/accuracy shows, --check fails where a mean is
above what the project promises, --spread prints how far the kernels of one
machine are from the models: the factor that platforms carry as trace_factor.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys

import accuracy_families

QWEN = "same-model-mi300x-b300-graphs/semantic_purity_qwen3_30b_a3b"
TIMESFORMER = ("same-model-h100-mi300x/"
               "facebook_timesformer-base-finetuned-k400__1016002")
# name, inputs, platform for model costs (None: no such platform)
CASES = [
    ("vgg13-h100", ["vgg13-h100"], "h100"),
    ("dlrm-8xv100", ["dlrm-8xv100/et", "dlrm-8xv100/kineto"], "v100"),
    ("resnet50-ddp-2xa100", ["resnet50-ddp-2xa100/kineto"], "a100-40gb"),
    ("resnet50-ddp-2xa100 with its ET",
     ["resnet50-ddp-2xa100/kineto",
      "resnet50-ddp-2xa100/et/schema-1.1.1.json.gz"], "a100-40gb"),
    ("ranking-a100", ["ranking-a100"], "a100-40gb"),
    ("resnet50-v100/workers-0",
     ["resnet50-v100/kineto/workers-0.json.gz"], "v100"),
    ("resnet50-v100/workers-4",
     ["resnet50-v100/kineto/workers-4.json.gz"], "v100"),
    ("resnet50-v100/list-format-2020",
     ["resnet50-v100/kineto/list-format-2020.json.gz"], "v100"),
    ("torchrec-4xv100", ["torchrec-4xv100"], "v100"),
    ("torchrec-4xv100-quantised", ["torchrec-4xv100-quantised-comms"], "v100"),
    ("linear-2080ti", ["linear-2080ti"], "rtx-2080ti"),
    ("linear-2080ti without its ET", ["linear-2080ti/kineto"], "rtx-2080ti"),
    ("resnet-2080ti", ["resnet-2080ti"], "rtx-2080ti"),
    ("resnet-2080ti without its ET", ["resnet-2080ti/kineto"], "rtx-2080ti"),
] + [
    (f"particle-transformer-a100/batch-{b}",
     [f"particle-transformer-a100/kineto/batch-{b}.json.gz"],
     "a100-pcie-40gb") for b in (2, 8, 32, 128, 512)
] + [
    (f"{model.split('_')[0]}/{gpu}",
     [f"same-model-h100-mi300x/{model}/{gpu}.json.gz"], platform)
    for model in ("Falconsai_nsfw_image_detection__1016002",
                  "gaunernst_bert-small-uncased__1016001")
    for gpu, platform in (("h100", "h100"), ("mi300", "mi300x"))
] + [
    (f"qwen3-graphs/{gpu}",
     [f"{QWEN}/{gpu}.json.gz"], platform)
    for gpu, platform in (("MI300", "mi300x"), ("B300", "b300"))
] + [
    (f"sync-edges-a100/{name}", [f"sync-edges-a100/{name}.json.gz"], "a100")
    for name in ("alexnet", "cuda_event_sync", "cuda_event_sync_multi_stream")
] + [
    (f"concurrent-copies-a100/{name}",
     [f"concurrent-copies-a100/{name}.json.gz"], None)
    for name in ("trace", "trace2", "trace3")
] + [
    (f"timesformer/{gpu}", [f"{TIMESFORMER}/{gpu}.json.gz"], platform)
    for gpu, platform in (("h100", "h100"), ("mi300", "mi300x"))
] + [
    # what runs on this GPU is predicted for the nearest one with a data sheet
    ("deepseek-v3-h800", ["opened/deepseek-v3-h800.json.gz"], "h100"),
    ("ranking-a100-rank0of16", ["opened/ranking-a100-rank0of16.json.gz"],
     "a100"),
    ("resnet-v100-ns", ["opened/resnet-v100-ns.json.gz"], "v100"),
]

# name, traced, platform, measured there: the same program on two GPUs.
SCALED = [
    (f"{model.split('_')[0]}/{names[a]} to {names[b]}",
     f"same-model-h100-mi300x/{model}/{a}.json.gz", names[b],
     f"same-model-h100-mi300x/{model}/{b}.json.gz")
    for model in ("Falconsai_nsfw_image_detection__1016002",
                  "gaunernst_bert-small-uncased__1016001")
    for names in ({"h100": "h100", "mi300": "mi300x"},)
    for a, b in (("h100", "mi300"), ("mi300", "h100"))
] + [
    (f"qwen3-graphs/{names[a]} to {names[b]}", f"{QWEN}/{a}.json.gz", names[b],
     f"{QWEN}/{b}.json.gz")
    for names in ({"MI300": "mi300x", "B300": "b300"},)
    for a, b in (("MI300", "B300"), ("B300", "MI300"))
]
# name, trace whose times are known, trace of other shapes on the same machine
BATCHES = [
    (f"particle-transformer-a100/batch-{a} to batch-{b}",
     f"particle-transformer-a100/kineto/batch-{a}.json.gz",
     f"particle-transformer-a100/kineto/batch-{b}.json.gz")
    for a in (2, 8, 32, 128, 512) for b in (2, 8, 32, 128, 512) if a != b
]
# Without times to judge by, or parts of the cases above: of these only the
# share of device time counts that laws cover.
COVERED = [(path, path, platform) for path, platform in (
    ("megatron-8b-tp8-a100", "a100"), ("dlrm-8xv100/et", "v100"),
    ("dlrm-8xv100/kineto", "v100"), ("vgg13-h100/kineto", "h100"),
    ("vgg13-h100/et", "h100"), ("linear-2080ti/et", "rtx-2080ti"),
    ("resnet-2080ti/et", "rtx-2080ti"),
    ("resnet50-ddp-2xa100/et/schema-1.0.3.json.gz", "a100-40gb"),
    ("resnet50-ddp-2xa100/et/schema-1.1.0.json.gz", "a100-40gb"),
    ("et-only/hf-gpt2-1.1.0.json.gz", "a100"),
    ("et-only/torch-compile-triton-1.1.1.json.gz", "a100"),
    ("chakra/feeder.et.gz", "a100"), ("chakra/two-ranks.0.et.gz", "a100"),
    ("parser-stress/no-kernel-category-456k-events.json.gz", "a100"),
    ("parser-stress/rank-not-found.json.gz", "a100"))]
LEARNED = "kernel_us, clock learned"
GRAPHS = ("qwen3-graphs",)
PARTICLES = ("particle-transformer-a100",)
SAME_MODEL = ("Falconsai", "gaunernst")

# Judged on kernel_us: every set whose operators have shapes.
KERNEL_SETS = ("vgg13-h100", "particle-transformer-a100", "ranking-a100",
               "resnet50-v100", "Falconsai", "gaunernst", "dlrm-8xv100",
               "=resnet50-ddp-2xa100 with its ET", "=linear-2080ti",
               "=resnet-2080ti")
UNTHROTTLED = tuple(k for k in KERNEL_SETS
                    if k != "particle-transformer-a100")
# Those without: kernels go by their names and launches alone.
SHAPELESS = ("=resnet50-ddp-2xa100", "torchrec", "qwen3-graphs", "sync-edges",
             "=linear-2080ti without its ET", "=resnet-2080ti without its ET",
             "deepseek-v3-h800", "resnet-v100-ns")
# The machines behind them: cases of one go together in the spread.
MACHINES = ("vgg13-h100", "particle-transformer-a100", "ranking-a100",
            "resnet50-v100", ("Falconsai/h100", "gaunernst/h100"),
            "dlrm-8xv100")
# Two-sided 90 % of Student's t, by degrees of freedom.
STUDENT = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943}
# What is promised: costs, figure, cases, greatest mean error, least inside.
PROMISES = (("measured", "iteration_us", (), 3, 0),
            ("model", "kernel_us", KERNEL_SETS, 30, 0),
            ("model", "kernel_us", UNTHROTTLED, 9, 80),
            ("model", "kernel_us", SHAPELESS, 40, 80),
            ("model", "iteration_us", (), 40, 80),
            ("model", LEARNED, PARTICLES, 15, 80),
            ("scaled", "kernel_us", SAME_MODEL, 12, 80),
            ("scaled", "kernel_us", GRAPHS, 30, 80),
            ("scaled", "kernel_us", PARTICLES, 15, 80))
# Least share of device time behind which a law stands, in every trace.
COVERAGE = 0.99
FIELDS = ["case", "costs", "figure", "measured_us", "predicted_us", "low_us",
          "high_us", "error_percent", "inside", "coverage"]


def run(binary, costs, platform, paths, source=None, traced=None, clock=None):
    command = [str(binary), "--costs", costs, "--json"]
    if platform:
        command += ["--platform", platform]
    if source:
        command += ["--source-trace", str(source)]
    if traced:
        command += ["--source-platform", traced]
    if clock:
        command += ["--clock", str(clock)]
    done = subprocess.run(command + [str(p) for p in paths],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"accuracy.py: {' '.join(command)} {paths}: "
                 f"exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def by_laws(report):
    """The share of device time that a law of its kernels gives, at sizes that are
    recorded (what coverage counts) or guessed from launches."""
    total = sum(o["predicted_us"] for o in report["ops"])
    guessed = sum(o["predicted_us"] for o in report["not_covered"]
                  if o["source"] == "launch")
    return report["coverage"]["device_time"] + (guessed / total if total else 0)


def row(case, costs, figure, predicted, measured, coverage):
    p, low, high = (predicted[k] for k in ("predicted", "low", "high"))
    error = 100 * abs(p / measured - 1)
    return {"case": case, "costs": costs, "figure": figure,
            "measured_us": f"{measured:.3f}", "predicted_us": f"{p:.3f}",
            "low_us": f"{low:.3f}", "high_us": f"{high:.3f}",
            "error_percent": f"{error:.3f}",
            "inside": "y" if low <= measured <= high else "n",
            "coverage": f"{coverage:.4f}"}


def rows_of(binary, traces, name, inputs, platform):
    paths = [traces / i for i in inputs]
    own = run(binary, "measured", None, paths)
    steps = list(zip(own["iterations"], own["iterations"]))
    error = statistics.mean(abs(p["predicted_us"] / m["measured_us"] - 1)
                            for p, m in steps)
    result = [row(name, "measured", "iteration_us", own["iteration_us"],
                  own["iteration_us"]["measured"], 1)]
    result[0]["error_percent"] = f"{100 * error:.3f}"
    if not platform:
        return result
    model = run(binary, "model", platform, paths)
    for figure in ("kernel_us", "iteration_us"):
        measured = own[figure]["measured"]
        if measured:
            result.append(row(name, "model", figure, model[figure], measured,
                              by_laws(model)))
    return result


def family_rows(binary, traces, name, inputs, platform):
    """Nothing where the GPU is no platform."""
    paths = [traces / i for i in inputs]
    if not platform:
        return []
    itself = run(binary, "scaled", platform, paths, traced=platform)
    own = run(binary, "measured", None, paths)["kernel_us"]["predicted"]
    if abs(itself["kernel_us"]["predicted"] / own - 1) > 0.001:
        sys.exit(f"accuracy.py: {name}: scaled to the GPU that was traced, "
                 f"kernels take {itself['kernel_us']['predicted']} us, want "
                 f"the measured {own} us")
    return accuracy_families.rows_of(
        name, run(binary, "model", platform, paths), itself)


def scaled_row(binary, traces, name, traced, platform, there):
    """What was measured on one GPU, scaled to the other (`platform`), or in one
    run, to the shapes of another on the same machine (None)."""
    scaled = run(binary, "scaled", platform, [traces / traced]) if platform \
        else run(binary, "scaled", None, [traces / there], traces / traced)
    measured = run(binary, "measured", None, [traces / there])
    return row(name, "scaled", "kernel_us", scaled["kernel_us"],
               measured["kernel_us"]["measured"],
               by_laws(scaled))


def learned_row(binary, traces, name, traced, there):
    """Model costs at the clock that another run of the machine shows."""
    platform = next(p for _, inputs, p in CASES if inputs == [there])
    clock = run(binary, "scaled", None, [traces / there],
                traces / traced)["clock"]
    model = run(binary, "model", platform, [traces / there],
                clock=clock["ratio"] if clock else None)
    measured = run(binary, "measured", None, [traces / there])
    return row(name, "model", LEARNED, model["kernel_us"],
               measured["kernel_us"]["measured"],
               by_laws(model))


def belongs(case, only):
    """Names begin so; with '=' in front they are so. None: all."""
    return not only or any(case == o[1:] if o.startswith("=")
                           else case.startswith(o) for o in only)


def summary(rows, costs, figure, only=()):
    errors = sorted(float(r["error_percent"]) for r in rows
                    if r["costs"] == costs and r["figure"] == figure
                    and belongs(r["case"], only))
    inside = [r["inside"] == "y" for r in rows
              if r["costs"] == costs and r["figure"] == figure
              and belongs(r["case"], only)]
    p90 = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
    return (len(errors), statistics.mean(errors), statistics.median(errors),
            p90, errors[-1], 100 * sum(inside) / len(inside))


def table(rows):
    """Lines of Markdown."""
    lines = ["| costs | figure | cases | mean error | median | p90 | worst "
             "| inside the interval |", "|---" * 8 + "|"]
    for costs, figure, only, text in (
            ("measured", "iteration_us", (), "iteration, every trace with times"),
            ("model", "kernel_us", KERNEL_SETS, "kernels, traces with shapes"),
            ("model", "kernel_us", SHAPELESS,
             "kernels, traces without shapes"),
            ("model", "kernel_us", (), "kernels, every trace"),
            ("model", "kernel_us", UNTHROTTLED,
             "kernels, traces with shapes, without particle-transformer"),
            ("model", LEARNED, PARTICLES,
             "kernels, particle-transformer at the clock of another batch"),
            ("model", "iteration_us", (), "iteration, every trace"),
            ("scaled", "kernel_us", SAME_MODEL,
             "kernels, H100 to MI300X and back"),
            ("scaled", "kernel_us", GRAPHS,
             "kernels of graphs, MI300X to B300 and back"),
            ("scaled", "kernel_us", PARTICLES,
             "kernels, particle-transformer batch to batch")):
        n, mean, median, p90, worst, inside = summary(rows, costs, figure, only)
        share = "-" if costs == "measured" else f"{inside:.0f} %"
        lines.append(f"| {costs} | {text} | {n} | {mean:.2f} % "
                     f"| {median:.2f} % | {p90:.2f} % | {worst:.2f} % "
                     f"| {share} |")
    return lines


def least_coverage(rows, binary, traces):
    """Whether a trace has too much device time that no law stands behind."""
    shares = [(float(r["coverage"]), r["case"]) for r in rows
              if r["costs"] == "model"]
    shares += [(by_laws(run(binary, "model", platform, [traces / path])), name)
               for name, path, platform in COVERED]
    share, case = min(shares)
    print(f"{'ok  ' if share >= COVERAGE else 'FAIL'} device time by laws, at "
          f"sizes recorded or guessed: {share:.4f} at least of {len(shares)} "
          f"({case}), want {COVERAGE}")
    return share < COVERAGE


def check(rows, binary, traces):
    failed = False
    for costs, figure, only, most, least in PROMISES:
        n, mean, _, _, worst, inside = summary(rows, costs, figure, only)
        ok = mean <= most and inside >= least
        failed |= not ok
        print(f"{'ok  ' if ok else 'FAIL'} {costs} {figure}: mean error "
              f"{mean:.2f} % of {n}, want {most} at most (worst {worst:.2f} "
              f"%); inside {inside:.0f} %, want {least} at least")
    return 1 if failed | least_coverage(rows, binary, traces) else 0


def factor(logs):
    """Robust: one machine of six ran at a third of its clock."""
    typical = 1.4826 * statistics.median(abs(x) for x in logs)
    return math.exp(STUDENT[len(logs) - 1] * typical)


def print_spread(rows):
    logs = []
    for machine in MACHINES:
        ratios = [math.log(float(r["measured_us"]) / float(r["predicted_us"]))
                  for r in rows if r["costs"] == "model"
                  and r["figure"] == "kernel_us"
                  and r["case"].startswith(machine)
                  and (machine != "resnet50-v100" or "workers" in r["case"])]
        logs.append(statistics.mean(ratios))
    for machine, own in zip(MACHINES, logs):
        rest = factor([x for x in logs if x is not own])
        inside = abs(own) <= math.log(rest)
        print(f"{str(machine):40} measured / predicted {math.exp(own):.3f}  "
              f"factor without it {rest:.3f}  "
              f"{'inside' if inside else 'outside'}")
    print(f"factor {factor(logs):.2f}")


def write_csv(path, fields, rows):
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.rename(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", type=pathlib.Path,
                        default=pathlib.Path("build/mystique-sim"))
    parser.add_argument("--out", type=pathlib.Path)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--table", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--spread", action="store_true")
    args = parser.parse_args()
    rows = []
    for name, inputs, platform in CASES:
        rows += rows_of(args.binary, args.traces / "traces", name, inputs,
                        platform)
    for name, traced, platform, there in SCALED + [
            (name, traced, None, there) for name, traced, there in BATCHES]:
        rows.append(scaled_row(args.binary, args.traces / "traces", name,
                               traced, platform, there))
    for name, traced, there in BATCHES:
        rows.append(learned_row(args.binary, args.traces / "traces", name,
                                traced, there))
    if args.out:
        write_csv(args.out, FIELDS, rows)
        families = [row for name, inputs, platform in CASES
                    for row in family_rows(args.binary, args.traces / "traces",
                                           name, inputs, platform)]
        write_csv(args.out.with_name("families.csv"), accuracy_families.FIELDS,
                  families)
    if args.check:
        sys.exit(check(rows, args.binary, args.traces / "traces"))
    if args.table:
        print("\n".join(table(rows)))
    elif args.spread:
        print_spread(rows)
    else:
        for r in rows:
            print(f"{r['case']:40} {r['costs']:9} {r['figure']:13} "
                  f"{float(r['measured_us']):12.1f} "
                  f"{float(r['predicted_us']):12.1f} "
                  f"[{float(r['low_us']):12.1f} {float(r['high_us']):12.1f}] "
                  f"{float(r['error_percent']):8.2f} % {r['inside']} "
                  f"{float(r['coverage']):.3f}")


if __name__ == "__main__":
    main()
