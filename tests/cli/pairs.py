"""What the program says where any two options of a verb stand together: a line for
each pair, with the exit code and a checksum of what it says and writes.

    pairs.py SIM FOLDER VERB ARGUMENT... -- OPTION...

An OPTION may have values behind "=", each tried ("--costs=model,measured"); one of "%"
is a file to be written. FOLDER is where the arguments lie; its name is in no checksum.
"""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib


def choices(options):
    """The ways to write each option."""
    for option in options:
        name, _, values = option.partition("=")
        yield [[name, value] for value in values.split(",")] if values else [[name]]


def pairs(options):
    alone = list(choices(options))
    for ways in alone:
        yield from ways
    for one, other in itertools.combinations(alone, 2):
        yield from (a + b for a, b in itertools.product(one, other))


def in_eight_digits(text):
    return re.sub(r"\d+\.\d+(?:e[-+]?\d+)?", lambda m: f"{float(m[0]):.8g}", text)


def said(sim, folder, arguments, pair):
    with tempfile.TemporaryDirectory() as out:
        given = [part.replace("%", f"{out}/out") for part in (*arguments, *pair)]
        run = subprocess.run([sim, *given], check=False, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=600)
        text = run.stdout
        for file in sorted(pathlib.Path(out).rglob("*")):
            if file.is_file():
                text += file.name + file.read_bytes().decode("latin-1")
    text = in_eight_digits(text.replace(out, "OUT").replace(folder, "HERE"))
    return f"{run.returncode} [{zlib.crc32(text.encode())}]"


def main():
    sim, folder, *rest = sys.argv[1:]
    at = rest.index("--")
    made = list(pairs(rest[at + 1:]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = pool.map(lambda pair: said(os.path.abspath(sim), folder, rest[:at], pair), made)
        for pair, line in zip(made, lines):
            print(f"{' '.join(pair)} = {line}".replace(folder, "HERE"))


if __name__ == "__main__":
    main()
