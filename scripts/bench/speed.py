#!/usr/bin/env python3
"""How much work the program does, and how fast: figures that no commit loses.

    scripts/bench/speed.py check     count instructions, compare with the file
    scripts/bench/speed.py update    count, time, write the files and the page
    scripts/bench/speed.py page      fail where docs/speed.md is not the files'

Instructions are what callgrind counts, so that a busy machine does not matter:
parts of tests/bench/bench_counts.c, and whole runs of mystique-sim. They are
rows of tests/bench/counts.csv, with the compiler and the C library that they
hold for. Where those are the same, `check` wants each within WITHIN of its row:
a change that makes a part faster writes the file again, too, or the next one
could lose it unseen. Elsewhere it wants the ratio to the bare hold model, which
is counted in the same run, within a factor of ELSEWHERE.

Seconds are the CPU's, of the programs that tests/bench builds; they are rows of
tests/bench/seconds.csv and are not compared, for they are of one machine.

BUILD_DIR names the build, build/ by default.
"""
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
COUNTS = ROOT / "tests/bench/counts.csv"
SECONDS = ROOT / "tests/bench/seconds.csv"
PAGE = ROOT / "docs/speed.md"
WITHIN = 0.03
ELSEWHERE = 1.6  # clang 14 compiles a part to 0.68 of it
REFERENCE = "hold"
SKIPPED = 77
# The C library clears and copies by instructions that count each byte, or does not,
# by the CPU and by where the heap begins: it never does.
COUNTED_AS = {"LC_ALL": "C", "GLIBC_TUNABLES": ":".join(
    f"glibc.cpu.x86_rep_{name}_threshold={1 << 40}" for name in ("movsb", "stosb"))}

# What is counted: a part of bench_counts, ...
PARTS = {
    "hold": "a bare heap: 100,000 events of 32 that are pending",
    "engine_new": "engines made for a static graph of 20,000 tasks: five",
    "engine_static": "runs of that graph: five",
    "engine_shared": "runs of a graph whose tasks share devices: five",
    "why": "binding edges, slack, waits and path of 20,000 tasks",
    "serving": "5,000 requests through ten stages",
    "yajl": "yajl alone, over the Kineto file of the sample gpt2",
    "load": "a load of that file",
}
# ... or a run of mystique-sim. DIR: a folder for what a run writes or reads.
RUNS = {
    "info": "info data/traces/gpt2",
    "predict": "predict --platform a100 data/traces/gpt2",
    "predict_ranks": "predict --platform a100 data/traces/dlrm-ddp-2ranks",
    "whatif": "whatif DIR/whatif.json --platform a100 --threads 1 "
              "data/traces/dlrm",
    "synth": "synth llama3-8b --strategy DIR/synth.json -o DIR/written",
    "predict_written": "predict --platform h100 DIR/written",
    "op": "op --platform h100 DIR/op.csv",
    "op_rows": "op --platform h100 DIR/op_rows.csv",
    "plan": "plan DIR/plan.json --threads 1 --law-only",
}
RUN_WORDS = {
    "info": "`info` of the sample gpt2",
    "predict": "`predict` of it on an A100",
    "predict_ranks": "`predict` of two ranks, the sample dlrm-ddp-2ranks",
    "whatif": "`whatif`, ten scenarios of the sample dlrm on an A100",
    "synth": "`synth` of llama3-8b, two stages with 8 micro batches",
    "predict_written": "`predict` of what it wrote, on an H100",
    "op": "`op`, one row on an H100",
    "op_rows": "1,023 rows more",
    "plan": "`plan --law-only`, 192 points",
}
# What another count is taken off, which is a part of it.
LESS = {"op_rows": "op"}
# What is timed: the program, and its figures by what they are found behind.
TIMED = {
    "bench_engine": (
        (r"static: +([\d.]+) million", "engine, a static graph of a million "
         "tasks", "million tasks a second"),
        (r"static: .* ([\d.]+) of the hold", "the same", "of the events of a "
         "bare 4-ary heap"),
        (r"shared: +([\d.]+) million", "engine, five of six tasks share their "
         "device", "million tasks a second"),
        (r"shared: .* ([\d.]+) of the hold", "the same", "of the events of a "
         "bare 4-ary heap")),
    "bench_critical": (
        (r"engine ([\d.]+),", "a run of a million tasks", "ms"),
        (r"binding ([\d.]+),", "its binding edges", "ms"),
        (r"slack ([\d.]+),", "its slack", "ms"),
        (r"waits ([\d.]+),", "its waits", "ms"),
        (r"path ([\d.]+)", "its critical path", "ms")),
    "bench_ranks": (
        (r"one by one: .* ([\d.]+) million", "runs of 64 copies of 8 traced "
         "ranks, one by one", "million tasks a second"),
        (r"graph ([\d.]+),", "a task of its graph", "bytes, beyond names"),
        (r"run of it ([\d.]+);", "a run of it", "bytes a task")),
    "bench_serving": (
        (r"([\d.]+) million", "requests of an application", "million events a "
         "second"),),
}


def built():
    """The compiler and the C library, in words."""
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"],
                              capture_output=True, text=True, check=True)
    libc = " ".join(os.confstr("CS_GNU_LIBC_VERSION").split())
    return f"{compiler.stdout.splitlines()[0]}, {libc}"


def is_release():
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return "CMAKE_BUILD_TYPE:STRING=Release\n" in cache


def instructions(command, toggle=()):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         *toggle, *command], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, **COUNTED_AS}, check=False)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not collected:
        sys.exit(f"speed.py: {shlex.join(map(str, command))} failed: "
                 f"{run.stderr[-2000:]}")
    return int(collected.group(1))


def write_inputs(folder):
    head = "m,n,k,dtype\n"
    rows = [f"{m},{n},4096,bfloat16\n" for m in range(128, 4224, 128)
            for n in range(128, 4224, 128)]
    plan = {"model": "llama3-8b", "sequence": 8192, "global_batch": 1024,
            "platforms": ["h100"], "gpus": 64, "tp": [1, 2, 4, 8],
            "pp": [1, 2, 4], "zero": [1, 3]}
    synth = {"gpus": 8, "tp": 2, "pp": 2, "dp": 2, "micro_batch": 1,
             "global_batch": 16, "sequence": 4096, "precision": "bf16"}
    changes = [{"scale": {"select": "kernels", "factor": 0.5 + i / 10}}
               for i in range(10)]
    whatif = {"scenarios": [{"name": f"{i}", "changes": [change]}
                            for i, change in enumerate(changes)]}
    for name, text in (("op.csv", head + rows[0]),
                       ("op_rows.csv", head + "".join(rows)),
                       ("plan.json", json.dumps(plan)),
                       ("synth.json", json.dumps(synth)),
                       ("whatif.json", json.dumps(whatif))):
        (folder / name).write_text(text, encoding="utf-8")


def counted():
    """What is counted, and its instructions."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(pathlib.Path(folder))
        for part in PARTS:
            counts[part] = instructions([BUILD / "tests/bench_counts", part],
                                        ["--toggle-collect=counted"])
        for run, arguments in RUNS.items():
            counts[run] = instructions([
                BUILD / "mystique-sim",
                *shlex.split(arguments.replace("DIR", folder))])
    for what, part in LESS.items():
        counts[what] -= counts[part]
    return counts


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def complaint(what, have, want, references):
    """What is wrong with a count, or None. `references`: counts of the hold
    model, now and in the file; None where the counts compare as they are."""
    ratio, most, unit = have / want, 1 + WITHIN, "instructions"
    if references:
        ratio /= references[0] / references[1]
        most, unit = ELSEWHERE, f"instructions beside {references[0]:,} of hold"
    if 1 / most <= ratio <= most:
        return None
    return (f"{what}: {have:,} {unit}, {ratio:.2f} times those of "
            f"tests/bench/counts.csv, want {1 / most:.2f} to {most:.2f}: find "
            "out why; where it is meant, scripts/bench/speed.py update")


def check():
    if not shutil.which("valgrind") or not is_release():
        print("no valgrind, or not a Release build: skipped")
        return SKIPPED
    file = {row["what"]: row for row in rows_of(COUNTS)}
    same = {row["built"] for row in file.values()} == {built()}
    references, wrong = None, []
    for what, have in counted().items():
        if what == REFERENCE and not same:
            references = have, int(file[what]["instructions"])
        if what not in file:
            wrong.append(f"{what}: not in tests/bench/counts.csv")
            continue
        wrong.append(complaint(what, have, int(file[what]["instructions"]),
                               references))
        print(f"{what}: {have:,}")
    wrong = [w for w in wrong if w]
    for complaint_of_one in wrong:
        print(complaint_of_one, file=sys.stderr)
    return 1 if wrong else 0


def timed():
    for program, figures in TIMED.items():
        run = subprocess.run([BUILD / "tests" / program], capture_output=True,
                             text=True, check=False)
        if run.returncode == SKIPPED:
            sys.exit(f"speed.py: {program} wants real traces: configure with "
                     "-DMSIM_TRACES=FOLDER")
        for pattern, what, unit in figures:
            yield {"what": what, "value": re.search(pattern, run.stdout).group(1),
                   "unit": unit}


def tables():
    counts = {row["what"]: int(row["instructions"]) for row in rows_of(COUNTS)}
    said = {**PARTS, **RUN_WORDS}
    yield "seconds", ["| what | speed |", "|---|---|", *(
        f"| {row['what']} | {row['value']} {row['unit']} |"
        for row in rows_of(SECONDS))]
    yield "counts", ["| what | million instructions |", "|---|---|", *(
        f"| {said[what]} | {n / 1e6:.1f} |" for what, n in counts.items())]


def page():
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in tables():
        text, n = re.subn(rf"(<!-- speed: {name} -->\n).*?(<!-- speed: end -->)",
                          lambda m, t=lines: m.group(1) + "\n".join(t) + "\n"
                          + m.group(2), text, flags=re.DOTALL)
        if n != 1:
            sys.exit(f"speed.py: docs/speed.md has no marks of '{name}'")
    return text


def update():
    where = built()
    write_rows(COUNTS, [{"what": what, "instructions": n, "built": where}
                        for what, n in counted().items()])
    write_rows(SECONDS, list(timed()))
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def check_page():
    if page() == PAGE.read_text(encoding="utf-8"):
        return 0
    print("docs/speed.md is not what tests/bench has: scripts/bench/speed.py "
          "update", file=sys.stderr)
    return 1


def main():
    verbs = {"check": check, "update": update, "page": check_page}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    return verbs[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
