"""What the program says where any two options of a verb stand together: a line for
each pair, with the exit code and a checksum of what it says and writes.

    pairs.py SIM FOLDER VERB ARGUMENT... -- OPTION...
    pairs.py SIM FOLDER VERB ARGUMENT... @BASE.json ... -- MEMBER=VALUE;VALUE...

An OPTION may have values behind "=", each tried ("--costs=model,measured"); one of "%"
is a file to be written. With "@" any two members are put into that file instead, their
values as JSON, between semicolons. FOLDER is where the arguments lie; its name is in no
checksum, nor is that of the data folder, MSIM_DATA.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib


def choices(options, between):
    """The ways to write each option."""
    for option in options:
        name, _, values = option.partition("=")
        yield [[name, value] for value in values.split(between)] if values else [[name]]


def pairs(options, between):
    alone = list(choices(options, between))
    for ways in alone:
        yield from ways
    for one, other in itertools.combinations(alone, 2):
        yield from (a + b for a, b in itertools.product(one, other))


def in_eight_digits(text):
    return re.sub(r"\d+\.\d+(?:e[-+]?\d+)?", lambda m: f"{float(m[0]):.8g}", text)


def with_members(arguments, pair, out):
    """The arguments, with a file of the base and the members of the pair."""
    given = []
    for argument in arguments:
        if argument.startswith("@"):
            whole = json.loads(pathlib.Path(argument[1:]).read_text(encoding="utf-8"))
            whole.update(zip(pair[::2], map(json.loads, pair[1::2])))
            argument = f"{out}/{os.path.basename(argument[1:])}"
            pathlib.Path(argument).write_text(json.dumps(whole), encoding="utf-8")
        given.append(argument)
    return given


def said(sim, folder, arguments, pair):
    with tempfile.TemporaryDirectory() as out:
        if any(argument.startswith("@") for argument in arguments):
            given = with_members(arguments, pair, out)
        else:
            given = [*arguments, *pair]
        given = [part.replace("%", f"{out}/out") for part in given]
        run = subprocess.run([sim, *given], check=False, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=600)
        text = run.stdout
        for file in sorted(pathlib.Path(out).rglob("*")):
            if file.is_file():
                text += file.name + file.read_bytes().decode("latin-1")
    for name, instead in ((out, "OUT"), (folder, "HERE"), (os.environ["MSIM_DATA"], "DATA")):
        text = text.replace(name, instead)
    text = in_eight_digits(text)
    return f"{run.returncode} [{zlib.crc32(text.encode())}]"


def main():
    sim, folder, *rest = sys.argv[1:]
    at = rest.index("--")
    in_file = any(argument.startswith("@") for argument in rest[:at])
    made = list(pairs(rest[at + 1:], ";" if in_file else ","))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = pool.map(lambda pair: said(os.path.abspath(sim), folder, rest[:at], pair), made)
        for pair, line in zip(made, lines):
            print(f"{' '.join(pair)} = {line}".replace(folder, "HERE"))


if __name__ == "__main__":
    main()
