"""What the program says of a file with each of its values put by one that is at or
behind its limits: a line for each, with the exit code and the message or a checksum.

    edges.py SIM FILE.json ARGUMENT...

'@' of the arguments is the file, '%' a folder, whose files count as output.
"""
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

NUMBERS = [0, 1, 2, -1, 1.5, 10 ** 16, "word"]
INSTEAD = {bool: [True, False, 1, "word"], str: ["", "word", 1, True],
           int: NUMBERS, float: NUMBERS}
GONE = object()


def leaves(value, path=()):
    """The paths of all values in it, lists and objects among them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, path + (key,))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            if at == 0 or isinstance(item, dict):
                yield from leaves(item, path + (at,))
    if path:
        yield path, value


def put(whole, path, value):
    whole = json.loads(json.dumps(whole))
    at = whole
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return whole


def cases(whole):
    for path, old in leaves(whole):
        yield path, GONE
        for value in INSTEAD.get(type(old), [None, 1, [], {}]):
            if value != old or type(value) is not type(old):
                yield path, value


def in_eight_digits(text):
    return re.sub(r"\d+\.\d+(?:e[-+]?\d+)?", lambda m: f"{float(m[0]):.8g}", text)


def written(folder):
    """The texts of all files in it, by name."""
    for file in sorted(pathlib.Path(folder).rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            yield file.name + (gzip.decompress(data) if file.suffix == ".gz" else data).decode()


def said(sim, base, arguments, whole, folder, number):
    file, out = f"{folder}/{number}.json", f"{folder}/{number}.out"
    names = {file: "FILE", out: "OUT", folder: "HERE", os.path.dirname(base): "FOLDER"}

    def plain(text):
        for name, instead in names.items():
            text = text.replace(name, instead)
        return text

    instead = {"@": file, "%": out}
    pathlib.Path(file).write_text(json.dumps(whole), encoding="utf-8")
    run = subprocess.run([os.path.abspath(sim), *(instead.get(a, a) for a in arguments)],
                         text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    lines = [line[len("mystique-sim: "):] for line in run.stderr.splitlines()]
    first = next((line for line in lines if not line.startswith("note:")), "")
    if run.returncode in (0, 1):
        text = plain("".join([run.stdout, *written(out)]))
        first += f" [{zlib.crc32(in_eight_digits(text).encode())}]"
    os.unlink(file)
    shutil.rmtree(out, ignore_errors=True)
    return f"{run.returncode} {plain(first)}"


def main():
    sim, base, *arguments = sys.argv[1:]
    whole = json.loads(pathlib.Path(base).read_text(encoding="utf-8"))
    made = list(cases(whole))
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            lines = pool.map(lambda n: said(sim, base, arguments, put(whole, *made[n]), folder, n),
                             range(len(made)))
            for (path, value), line in zip(made, lines):
                shown = "gone" if value is GONE else json.dumps(value)
                print(f"{'.'.join(map(str, path))} = {shown}: {line}")


if __name__ == "__main__":
    main()
