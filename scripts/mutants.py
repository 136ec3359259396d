#!/usr/bin/env python3
"""Break one line of the program after the other, and see a test fail.

    scripts/mutants.py                            the kept list
    scripts/mutants.py gemm-depth gemm-wave       some of it
    scripts/mutants.py --sample 40 --budget 900   lines drawn at random

tests/mutants/mutants.txt is the list: the name of a mutant, a file, a text that the
file has once, what replaces it, and the tests that must fail then. --sample draws a
file, a line of it, and an operator, a constant or a call of that. The unit tests of
the file's folder are tried first, then what rooms.txt names beside the list. What
does not build is drawn again, as is what equivalent.txt names, since no test can
tell it from the program. Files have "|" between fields, and "\\|" for one in a text.

The checkout may have no changes: each file is restored, also on an interruption. The
exit code is 1 where a mutant of the list survives; 2 where one does not build, or
where its tests are absent or fail without it, since that would kill any.
"""
import argparse
import collections
import datetime
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests/mutants"
# Sources to draw from; what needs a GPU or PyTorch has tests of another kind.
DRAWN = [f"{room}/*.c" for room in ("core", "models", "predict", "plan", "replay",
                                    "calibrate", "profilers", "cli")]
NOT_DRAWN = [":!profilers/cuda", ":!profilers/torch"]
MOST_BYTES = 8 << 30  # of memory, and of a file: a mutant may never end

SWAPS = dict([pair for a, b in ("+-", "*/", ("+=", "-="), ("*=", "/="), ("<", "<="),
                                (">", ">="), ("==", "!="), ("&&", "||"),
                                ("fmax", "fmin"), ("true", "false"))
              for pair in ((a, b), (b, a))], **{"!": ""})
SWAPPED = re.compile(r"(?<= )(?:[-+*/]=?|[<>]=?|[=!]=|&&|\|\|)(?=\s|$)|"
                     r"\b(?:fmax|fmin|true|false)\b|!(?=[\w(*])")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
CALL = re.compile(r"\s+(?:\(void\))?\w+\(.*\);")
HIDDEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                    re.DOTALL)
# A name with its type and no value, and the size of an array that has one.
DECLARED = re.compile(r"\s*(?!return\b|goto\b)(?:\w+[\s*]+)+\w+(?:\[[^]]*\])*"
                      r"(?:,\s*\**\w+(?:\[[^]]*\])*)*;")
SIZE = re.compile(r"(?<=\w)((?:\[[^]]*\])+)(?= = [{_])")
# Seen by sanitizers only: what is held, how large it is, what we take for granted.
HELD = re.compile(r"\w*(?:free|release|alloc|assert)\(|\bclosedir\(|sizeof|<<")

Mutant = collections.namedtuple("Mutant", "name file text by tests")


def fail(text):
    print(f"mutants.py: {text}", file=sys.stderr)
    sys.exit(2)


def rows(name, fields):
    for line in (LISTS / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        row = [field.replace("\\|", "|") for field in re.split(r"(?<!\\)\|", line)]
        if len(row) != fields:
            fail(f"{name}: '{line}' has {len(row)} fields, want {fields}")
        yield row


def output(*command):
    return subprocess.run(command, cwd=ROOT, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def succeeds(*command, limit=None):
    """Whether a command does, in `limit` seconds; nothing of it outlives them."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as run:
        try:
            return run.wait(limit) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)


def programs(test):
    """What a test runs, as targets of the build."""
    kind, name = test.split(".", 1)
    if kind == "cli":
        script = (ROOT / f"tests/cli/{name}.sh").read_text(encoding="utf-8")
        return {"mystique-sim"} | {program for program in (
            "msim-calibrate", "msim-fit-steps", "mystique-prof-cpu")
            if program in script}
    return {{"unit": f"test_{name}", "fake_gpu": "fake_gpu_programs"}.get(kind, "all")}


class Tests:
    """The tests of a build folder; each pattern is tried once without a mutant."""

    def __init__(self, build):
        self.build, self.programs, self.took = build, {}, {}
        self.parallel = ("--parallel", str(os.cpu_count()))
        if not (build / "CTestTestfile.cmake").exists():
            fail(f"'{build}' is no configured build folder")

    def make(self, targets):
        return not targets or succeeds("cmake", "--build", self.build,
                                       *self.parallel, "--target", *sorted(targets))

    def pass_(self, pattern, limit=None):
        return succeeds("ctest", "--test-dir", self.build, "-R", pattern,
                        "--no-tests=error", "--stop-on-failure", *self.parallel,
                        limit=limit)

    def try_without(self, pattern):
        found = output("ctest", "--test-dir", self.build, "-N", "-R", pattern)
        names = re.findall(r"Test +#\d+: (\S+)", found)
        self.programs[pattern] = set().union(*map(programs, names))
        begin = time.monotonic()
        if not (self.make(self.programs[pattern]) and self.pass_(pattern)):
            fail(f"'{pattern}' fails without a mutant, does not build, or is absent")
        self.took[pattern] = time.monotonic() - begin

    def judge(self, mutant):
        """True: killed; False: survived; None: it does not build."""
        path = ROOT / mutant.file
        source = path.read_text(encoding="utf-8")
        try:
            for pattern in mutant.tests:
                if pattern not in self.took:
                    path.write_text(source, encoding="utf-8")
                    self.try_without(pattern)
                path.write_text(source.replace(mutant.text, mutant.by),
                                encoding="utf-8")
                if not self.make(self.programs[pattern]):
                    return None
                if not self.pass_(pattern, limit=60 + 10 * self.took[pattern]):
                    return True
            return False
        finally:
            path.write_text(source, encoding="utf-8")


def listed(names):
    """The mutants of the list, or those of these names; all texts are where they are
    said to be."""
    mutants = [Mutant(*row[:4], row[4:]) for row in rows("mutants.txt", 5)]
    for file, text in [(m.file, m.text) for m in mutants] + [
            row[:2] for row in rows("equivalent.txt", 4)]:
        found = (ROOT / file).read_text(encoding="utf-8").count(text)
        if found != 1:
            fail(f"'{text}' is in {file} {found} times, want once")
    for name in set(names) - {m.name for m in mutants}:
        fail(f"'{name}' is not a mutant of the list")
    return [m for m in mutants if not names or m.name in names]


def changes(line, code, before):
    """What an operator, a constant or a call makes of a line. `code` is the line, and
    `before` what is before it, with neither comments nor texts."""
    code = SIZE.sub(lambda size: "_" * len(size[0]), code.rstrip())
    outside = not code[:1].isspace() and (
        not code.startswith("#define") if code[:1] == "#" else "=" not in code)
    if outside or HELD.search(code) or DECLARED.fullmatch(code):
        return
    for at in SWAPPED.finditer(code):
        yield line[:at.start()] + SWAPS[at[0]] + line[at.end():]
    for at in NUMBER.finditer(code):
        if at[0].isdigit():
            by = int(at[0]) + max(1, int(at[0]) // 2)
        else:
            by = 2 * float(at[0]) or 1.0
        yield f"{line[:at.start()]}{by}{line[at.end():]}"
    if CALL.fullmatch(code) and re.search(r"(?:[;{})]|else)$", before):
        yield "(void)0;"


def mutable(source):
    """The lines of a file that have changes: number, text, all that it may become."""
    code = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " " if m[0][0] == "/" else "_", m[0]),
                      source)
    begin = 0
    for number, line in enumerate(source.split("\n"), 1):
        end = begin + len(line)
        made = list(changes(line, code[begin:end], code[:begin].rstrip()))
        if made and source.count(line.strip()) == 1:
            yield number, line.strip(), [by.strip() for by in made]
        begin = end + 1


def units_below(folder):
    return [path.stem[len("test_"):] for path in sorted(
        (ROOT / "tests/unit" / folder).rglob("test_*.c"))]


def tests_of(file):
    """The file's own unit test, those of its folder or of one above, those of all of
    its top folder but core, which has too many, and what rooms.txt names."""
    folders = [file, *file.parents][:-1]
    rooms = dict(rows("rooms.txt", 2))
    units = next(filter(None, map(units_below, folders)), [])
    cli = next((rooms[str(at)] for at in folders if str(at) in rooms), "")
    own = [unit for unit in units if unit == file.stem]
    rest = [unit for unit in units if unit != file.stem]
    far = [] if file.parts[0] == "core" else [
        unit for unit in units_below(file.parts[0]) if unit not in units]
    return [rf"^unit\.({'|'.join(names)})$" for names in (own, rest, far) if names] + [
        rf"^cli\.{name}$" for name in cli.split()]


def drawn(seed, under):
    """Mutants at random, each once."""
    rng = random.Random(seed)
    past = {tuple(row[:3]) for row in rows("equivalent.txt", 4)}
    files = [file for file in output("git", "ls-files", *DRAWN, *NOT_DRAWN).split()
             if any(pathlib.PurePath(file).is_relative_to(room) for room in under)]
    if not files:
        fail(f"there is nothing to draw from under {' '.join(under)}")
    for _ in range(1000 * len(files)):
        file = rng.choice(files)
        lines = list(mutable((ROOT / file).read_text(encoding="utf-8")))
        if not lines:
            continue
        number, text, made = rng.choice(lines)
        by = rng.choice(made)
        if (file, text, by) not in past:
            past.add((file, text, by))
            yield Mutant(f"{file}:{number} {text} -> {by}", file, text, by,
                         tests_of(pathlib.PurePath(file)))


def run(tests, mutants, args):
    """Judge all of the list, or as many of a sample as are asked for and build."""
    begin, tried, killed = time.monotonic(), 0, 0
    for mutant in mutants:
        if tried == args.sample or time.monotonic() - begin > args.budget:
            break
        died = tests.judge(mutant)
        if died is not None:
            tried, killed = tried + 1, killed + died
            print("killed   " if died else "SURVIVED ", mutant.name, flush=True)
        elif args.sample is None:
            fail(f"{mutant.name} does not build")
    tests.make(set().union(*tests.programs.values()))
    print(f"{tried} tried, {killed} killed ({100 * killed / max(tried, 1):.0f} %), "
          f"{tried - killed} survived")
    return int(args.sample is None and killed < tried)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of the list")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="a configured build folder of this checkout, without "
                        "sanitizers [default: build]")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N instead")
    parser.add_argument("--seed", type=int, help="of the draws [default: the date]",
                        default=int(datetime.date.today().strftime("%Y%m%d")))
    parser.add_argument("--under", nargs="+", metavar="DIR", default=["."],
                        help="draw from these folders alone")
    parser.add_argument("--check", action="store_true",
                        help="only see that texts and tests of the lists are there")
    parser.add_argument("--budget", type=float, metavar="SECONDS",
                        default=float("inf"), help="begin none after so long")
    args = parser.parse_args()
    if args.names and args.sample is not None:
        parser.error("a sample has no names")
    if args.check:
        listed(args.names)
        for room, names in rows("rooms.txt", 2):
            for name in names.split():
                if not (ROOT / f"tests/cli/{name}.sh").exists():
                    fail(f"{room} names cli.{name}, which there is not")
        return 0
    if output("git", "status", "--porcelain", "--untracked-files=no"):
        fail("commit your changes first, since files are changed and restored")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tests = Tests(args.build.resolve())
    if args.sample is None:
        return run(tests, listed(args.names), args)
    print(f"seed {args.seed}", flush=True)
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        resource.setrlimit(limit, (MOST_BYTES, MOST_BYTES))
    return run(tests, drawn(args.seed, args.under), args)


if __name__ == "__main__":
    sys.exit(main())
