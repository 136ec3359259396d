#!/usr/bin/env python3
"""Make the runs in the documentation again, as the program prints them now.

    scripts/readme_runs.py [--binary build/mystique-sim]

A run is a line "    $ mystique-sim ..." with lines below it, of which "..." stands
for some. Every other line becomes that line of the output, behind the last one,
which is most like it. tests/cli/readme.sh fails where they differ.
"""
import argparse
import difflib
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = "    $ mystique-sim "


def words(line):
    """What a line says, figures apart."""
    return re.sub(r"[-+]?[0-9][0-9.,]*", "0", line).strip(" #")


def nearest(shown, said, begin):
    """The index of the line of `said`, from `begin` on, most like `shown`."""
    def likeness(i):
        match = difflib.SequenceMatcher(None, words(shown), words(said[i]))
        return (match.ratio(), -i)
    return max(range(begin, len(said)), key=likeness)


def renewed(command, shown, binary):
    run = subprocess.run([binary, *shlex.split(command)], cwd=ROOT, text=True,
                         capture_output=True, check=False)
    said = [line.rstrip() for line in run.stdout.splitlines()]
    at = 0
    for line in shown:
        text = line[4:].rstrip()
        if not text or text.strip() == "...":
            yield line
            continue
        i = nearest(text, said, at)
        at = i + 1
        yield "    " + said[i]


def renew(page, binary):
    lines = page.read_text(encoding="utf-8").splitlines()
    out, i = [], 0
    while i < len(lines):
        out.append(lines[i])
        i += 1
        if not out[-1].startswith(COMMAND):
            continue
        end = i
        while end < len(lines) and not lines[end].startswith(COMMAND) and (
                lines[end].startswith("    ") or not lines[end]):
            end += 1
        out += renewed(out[-1][len(COMMAND):], lines[i:end], binary)
        i = end
    page.write_text("\n".join(out) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(ROOT / "build/mystique-sim"))
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
                 *sorted((ROOT / "docs/tutorials").glob("*.md"))]:
        renew(page, binary)


if __name__ == "__main__":
    main()
