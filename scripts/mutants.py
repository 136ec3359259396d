#!/usr/bin/env python3
"""Break one line of the program after the other, and see a test fail.

    scripts/mutants.py                            the kept list
    scripts/mutants.py gemm-depth gemm-wave       some of it
    scripts/mutants.py --sample 40 --budget 900   lines drawn at random

tests/mutants/mutants.txt is the list: the name of a mutant, a file, a text that the
file has once, what replaces it, and the tests that must fail then. --sample draws a
file, a line of it, and an operator, a constant or a call of that. The unit tests of
its top folder are tried first, the nearest before, then what rooms.txt names beside
the list, then all other unit tests, until one fails. What does not build is drawn
again; so is what no test can tell from the program, since the compiler makes the same
objects of it or equivalent.txt names it.
Files have "|" between fields, and "\\|" for one in a text.

The build folder is one of its own, with shared libraries, so that a line that changes
is one file to compile and one library to link. MSIM_TRACES names a folder of real
traces, for the tests that need it.

The checkout may have no changes: each file is restored, also on an interruption. The
exit code is 1 where a mutant of the list survives; 2 where one does not build, or
where its tests are absent or fail without it, since that would kill any.
"""
import argparse
import collections
import datetime
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mutants"))
from mutant_build import Build  # noqa: E402
from mutant_tests import Tests  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests/mutants"
# Sources to draw from; what needs a GPU or PyTorch has tests of another kind.
DRAWN = [f"{room}/*.c" for room in ("core", "models", "predict", "plan", "serving",
                                    "replay", "calibrate", "profilers", "cli")]
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
# Two values that differ are in the same order by < and by <=.
DIFFER = re.compile(r"if \((\S+) != (\S+)\)\s+return \1 [<>] \2;$")
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


class Judge:
    """Breaks a line, builds, and runs tests until one fails."""

    def __init__(self, folder, is_strict):
        self.build, self.is_strict = Build(folder), is_strict
        self.sound = {}  # by name of a test: whether it passes without a mutant
        if not self.build.make():
            fail(f"'{folder}' does not build without a mutant")
        self.tests = Tests(folder)

    def fails_anyway(self, name):
        """Whether a test does without a mutant. Only those that seem to kill are asked,
        each once."""
        if name not in self.sound:
            self.build.restore()
            self.sound[name] = self.tests.first_failure([name]) is None
            if not self.sound[name]:
                print(f"{name} fails without a mutant", file=sys.stderr)
        return not self.sound[name]

    def named(self, mutant):
        if not self.is_strict:
            return [name for name in mutant.tests if name in self.tests.all]
        found = [name for test in mutant.tests for name in self.tests.named(test)]
        return found or fail(f"there is no test '{mutant.tests[0]}'")

    def killer(self, mutant):
        """The test that fails; "": none does; None: it does not build, or to the same
        objects."""
        names = [name for name in self.named(mutant) if self.sound.get(name, True)]
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        while True:
            with self.build.changed(mutant.file,
                                    source.replace(mutant.text, mutant.by)):
                if (not self.build.take(mutant.file) or
                        self.build.is_same(mutant.file)):
                    return None
                failed = self.tests.first_failure(names)
            if failed is None:
                return ""
            if not self.fails_anyway(failed):
                return failed
            if self.is_strict:
                fail(f"'{failed}' would kill any mutant")
            names.remove(failed)


def listed(names):
    """The mutants of the list, or those of these names; all texts are where they are
    said to be."""
    mutants = [Mutant(*row[:4], row[4:]) for row in rows("mutants.txt", 5)]
    for file, text in [(m.file, m.text) for m in mutants] + [
            row[:2] for row in rows("equivalent.txt", 4)]:
        found = (ROOT / file).read_text(encoding="utf-8").count(text)
        if found != 1:
            fail(f"'{text}' is in {file} {found} times, want once")
    for m in mutants:
        if " " in m.tests[0]:
            fail(f"{m.name}: '{m.tests[0]}' names no test, want one pattern")
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
    swapped = [] if DIFFER.search(f"{before}\n{code}") else SWAPPED.finditer(code)
    for at in swapped:
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


def tests_of(file):
    """Tests that may see a file: its own unit test, those of its top folder by how much
    of their path they share with it, what rooms.txt names, all other unit tests."""
    folders = [file, *file.parents][:-1]
    rooms = dict(rows("rooms.txt", 2))
    cli = next((rooms[str(at)] for at in folders if str(at) in rooms), "")
    below = pathlib.Path("tests/unit")
    units = {at.stem[len("test_"):]: set(at.relative_to(ROOT / below).parents)
             for at in sorted((ROOT / below).rglob("test_*.c"))}
    shared = {name: len(at & set(file.parents)) for name, at in units.items()}
    near = sorted((name for name in units if shared[name] > 1),
                  key=lambda name: (name != file.stem, -shared[name]))
    return ([f"unit.{name}" for name in near] + [f"cli.{name}" for name in cli.split()] +
            [f"unit.{name}" for name in units if shared[name] == 1])


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


def run(judge, mutants, args):
    """Judge all of the list, or as many of a sample as are asked for and build."""
    begin, tried, killed = time.monotonic(), 0, 0
    for mutant in mutants:
        if tried == args.sample or time.monotonic() - begin > args.budget:
            break
        killer = judge.killer(mutant)
        if killer is not None:
            tried, killed = tried + 1, killed + bool(killer)
            print(f"killed    {mutant.name} ({killer})" if killer else
                  f"SURVIVED  {mutant.name}", flush=True)
        elif args.sample is None:
            fail(f"{mutant.name} does not build, or to the same objects")
    judge.build.restore()
    print(f"{tried} tried, {killed} killed ({100 * killed / max(tried, 1):.0f} %), "
          f"{tried - killed} survived; {time.monotonic() - begin:.0f} s")
    return int(args.sample is None and killed < tried)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of the list")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants",
                        help="made, or brought up to date [default: build-mutants]")
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
    judge = Judge(args.build.resolve(), args.sample is None)
    if args.sample is None:
        return run(judge, listed(args.names), args)
    print(f"seed {args.seed}", flush=True)
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        resource.setrlimit(limit, (MOST_BYTES, MOST_BYTES))
    return run(judge, drawn(args.seed, args.under), args)


if __name__ == "__main__":
    sys.exit(main())
