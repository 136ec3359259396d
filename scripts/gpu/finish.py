#!/usr/bin/env python3
"""What came back from a GPU, made into platforms, tables, a page and rows that
tests hold: all that wants no GPU.

    scripts/gpu/finish.py [--out ROOT] [--binary build/mystique-sim] DIR...

DIR is what `on_gpu.sh look` or `measure` left, or `blind` in a rehearsal. Below
ROOT [default: the checkout, for which a GPU must have been measured] are then

    tests/accuracy/gpu/   about.json (the machine), platform.json and host.json
                          (calibrated), learned.json, tables (*.csv), fits.txt, and
                          what held.py predicts again: rows/, et/
    docs/gpu.md           its figures, and charts in docs/gpu

A part that cannot be made is said, and leaves the others; the exit code is 1 then.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import about
import held
import page
import tables

sys.path.insert(0, str(page.ROOT / "scripts" / "capture"))
import accuracy  # noqa: E402
import compare_captures  # noqa: E402

ROOT = page.ROOT


class Refused(Exception):
    """What came back is not what is wanted."""


# ---- what came back ----------------------------------------------------------

def unpack(folders, into):
    """All bundles side by side; files that grew as they were."""
    found = sorted(p for f in folders for p in f.glob("*.tar"))
    if not found:
        raise Refused(f"found no bundle in {', '.join(map(str, folders))}: want "
                      "what on_gpu.sh look or measure left (*.tar)")
    for path in found:
        kind = path.name.removesuffix(".tar").partition("-")[0]
        (into / kind).mkdir(exist_ok=True)
        done = subprocess.run(["tar", "-C", into / kind, "-xf", path],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Refused(f"{path}: {done.stderr.strip()}")
    for path in (into / "journals").glob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))


def shipped(device):
    """The platform in data/platforms that is this device, or None."""
    name = device.removeprefix("FAKE ")
    for path in sorted((ROOT / "data" / "platforms").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if name in (*found.get("aliases", ()),
                    *(d["name"] for d in found.get("devices", ()))):
            return found["name"]
    return None


class Home:
    """Where everything is, and the parts that are made of it."""

    def __init__(self, args, work):
        self.binary, self.work, self.root = args.binary, work, args.out
        self.out = args.out / "tests" / "accuracy" / "gpu"
        self.about = tables.read(work / "results" / "about.json")
        if not self.about:
            raise Refused("results.tar has no about.json: which machine was this?")
        self.is_real = self.about["kind"] == "cuda" and \
            not self.about["device"].startswith("FAKE")
        # A rehearsal has no platform of its own, and goes through all the same.
        self.shipped = shipped(self.about["device"]) or \
            (None if self.is_real else "h100")
        self.said = []

    def program(self, *arguments):
        """Run mystique-sim; what it prints."""
        return compare_captures.run(self.binary, arguments)

    def write(self, name, fields, rows):
        if rows:
            accuracy.write_csv(self.out / f"{name}.csv", fields, rows)

    # ---- parts, in order: each says by its exception why it cannot be made

    def machine(self):
        self.about["measured_commit"] = about.commit_of(self.about, ROOT)
        (self.out / "about.json").write_text(
            json.dumps(self.about, indent=2) + "\n", encoding="utf-8")

    def calibrate(self):
        lines = tables.journal(self.work)
        if not lines:
            raise Refused("no calibration came back")
        journal = self.work / "here.journal.jsonl"
        journal.write_text("".join(json.dumps(line) + "\n" for line in lines),
                           encoding="utf-8")
        said = self.program("calibrate", "--fit-only", "--out",
                            self.work / "here.json")
        (self.out / "fits.txt").write_text(
            said.replace(str(self.work) + "/", ""), encoding="utf-8")
        for name, to in (("here", "platform"), ("here.host", "host")):
            if (self.work / f"{name}.json").exists():
                shutil.copy(self.work / f"{name}.json", self.out / f"{to}.json")

    def learn(self):
        traces = sorted((self.work / "kernels").glob("*.json.gz"))
        if not traces:
            raise Refused("no kernels came back")
        for name, base in (("learned", self.shipped),
                           ("learned-here", self.work / "here.json")):
            if name == "learned" or base.exists():
                said = self.program(
                    "calibrate", "--from", *traces, "--out",
                    self.work / f"{name}.json",
                    *(["--platform", base] if base else []))
            if name == "learned":
                self.write("learned", tables.LEARNED, tables.learned(said))
        shutil.copy(self.work / "learned.json", self.out)

    def compare(self):
        """The captured jobs by each platform that was made, and the shipped one."""
        platforms = [self.work / f"{n}.json"
                     for n in ("here", "learned", "learned-here")]
        platforms = [p for p in platforms if p.exists()]
        if not platforms:
            raise Refused("no platform was made")
        host = self.work / "here.host.json"
        folders = [self.work / "captures" / name
                   for name in tables.captures(self.work)]
        rows = [row for platform in platforms + [self.shipped]
                if platform for row in compare_captures.captures(
                    self.binary, platform, host if host.exists() else None,
                    folders)]
        self.write("compare", compare_captures.FIELDS, rows)

    def against_blind(self):
        if not self.shipped:
            raise Refused(f"no shipped platform is a '{self.about['device']}'")
        with open(self.out / "blind.csv", newline="", encoding="utf-8") as file:
            rows = tables.against_blind(self.binary, self.work,
                                        list(csv.DictReader(file)), self.shipped)
        if not rows:
            raise Refused("no job that came back was predicted before")
        self.write("jobs", tables.JOBS, rows)

    def evaluate(self):
        rows = tables.evaluation(self.binary, self.work)
        if not rows:
            raise Refused("no benchmark and no replay came back")
        self.write("evaluation", tables.EVALUATION, rows)

    def validate(self):
        here = self.work / "here.json"
        rows = tables.validated(self.binary, self.work,
                                here if here.exists() else self.shipped)
        if not rows:
            raise Refused("no replay came back")
        self.write("validated", tables.VALIDATED, rows)

    def repeat(self):
        rows = tables.repeats(self.binary, self.work)
        if not rows:
            raise Refused("nothing was measured twice")
        self.write("repeats", tables.REPEATS, rows)

    def sustain(self):
        rows = tables.sustained(self.work)
        if not rows:
            raise Refused("no product in a row came back")
        self.write("sustained", tables.SUSTAINED, rows)

    def hold(self):
        """What tests predict again, without a GPU."""
        write_rows(self.work / "here.journal.jsonl", self.out / "rows")
        for job in tables.captures(self.work):
            et = self.work / "captures" / job / "et" / "rank-0.json.gz"
            if not job.endswith("-graph") and et.exists():
                (self.out / "et").mkdir(exist_ok=True)
                shutil.copy(et, self.out / "et" / f"{job}.json.gz")
        accuracy.write_csv(self.out / "held.csv", held.FIELDS,
                           held.rows(self.binary, self.out))

    def draw(self):
        """Where the time of the first job goes, as it was traced."""
        job = next(iter(tables.captures(self.work)), None)
        if not job:
            raise Refused("no capture came back")
        charts = self.root / "docs" / "gpu"
        charts.mkdir(exist_ok=True)
        self.program("--costs", "measured", "--chart", charts / f"{job}.svg",
                     self.work / "captures" / job / "kineto")

    def page(self):
        done = subprocess.run([sys.executable, page.__file__, self.root],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Refused(done.stderr.strip())

    def parts(self):
        yield from (self.machine, self.calibrate)
        if self.about["kind"] != "cpu": # which has no kernels, and no clock
            yield from (self.learn, self.sustain)
        yield from (self.compare, self.against_blind, self.evaluate,
                    self.validate, self.repeat, self.hold, self.draw, self.page)


def write_rows(journal, folder):
    """Experiments of a journal as tables that `op` reads: medians of visits."""
    visits = collections.defaultdict(list)
    for entry in tables.lines(journal):
        e, answer = entry.get("experiment", {}), entry.get("answer", {})
        if e.get("table") in compare_captures.COLUMNS and "time_us" in answer \
                and "beside" not in e and e.get("cache") != "warm":
            visits[entry["backend"], json.dumps(e, sort_keys=True)].append(
                answer["time_us"])
    found = collections.defaultdict(list)
    for (backend, text), us in visits.items():
        e = json.loads(text)
        found[e["table"]].append({**e, "backend": backend, "measured_us":
                                  f"{sorted(us)[len(us) // 2]:.4f}"})
    folder.mkdir(exist_ok=True)
    for table, rows in found.items():
        fields = [*compare_captures.COLUMNS[table], "backend", "measured_us"]
        path = folder / f"{table}.csv.gz"
        with open(f"{path}.part", "wb") as raw, \
                gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.write(table_text(fields, rows).encode())
        os.replace(f"{path}.part", path)


def table_text(fields, rows):
    lines = [",".join(fields)]
    for row in rows:
        lines.append(",".join(str(row.get(f, "")) for f in fields))
    return "\n".join(lines) + "\n"


# ---- the program -------------------------------------------------------------

def prepare(args, home):
    """The folders, and below another root what is otherwise in the checkout."""
    if args.out == ROOT and not home.is_real:
        raise Refused(f"'{home.about['device']}' is no GPU that was measured: want "
                      "--out with a folder for a rehearsal")
    home.out.mkdir(parents=True, exist_ok=True)
    (args.out / "docs").mkdir(exist_ok=True)
    if args.out != ROOT:
        shutil.copy(ROOT / "docs" / "gpu.md", args.out / "docs")
    for folder in (*args.folders, ROOT / "tests" / "accuracy" / "gpu"):
        source = folder / "blind.csv"
        if source.exists():
            if source.resolve() != home.out / "blind.csv":
                shutil.copy(source, home.out / "blind.csv")
            break


def make(home):
    """All parts; how many could not be made."""
    failed = 0
    for part in home.parts():
        try:
            part()
            print(f"{part.__name__}: made", flush=True)
        except (Refused, OSError, RuntimeError, KeyError, ValueError,
                TypeError) as error:
            print(f"finish.py: {part.__name__}: {error or type(error).__name__}",
                  file=sys.stderr)
            failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT, metavar="ROOT")
    parser.add_argument("--binary", default=ROOT / "build/mystique-sim")
    args = parser.parse_args()
    args.out = args.out.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        try:
            unpack(args.folders, work)
            home = Home(args, work)
            prepare(args, home)
        except (Refused, OSError) as error:
            print(f"finish.py: {error}", file=sys.stderr)
            return 3
        return 1 if make(home) else 0


if __name__ == "__main__":
    sys.exit(main())
