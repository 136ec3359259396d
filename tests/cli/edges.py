"""What the program says of a file with each of its values put by one that is at or
behind its limits: a line for each, with the exit code and the message or a checksum.

    edges.py SIM FILE.json ARGUMENT...
    edges.py SIM FILE.json --in laws/serving.json ARGUMENT...

'@' of the arguments is the file, '%' a folder, whose files count as output. With --in
the file stands for that one of the data folder, MSIM_DATA; there each value is left
out, below 0, and of another type, and no more.
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
FACTS = {bool: ["word"], str: [-1], int: [-1, "word"], float: [-1, "word"]}
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


def cases(whole, instead):
    for path, old in leaves(whole):
        yield path, GONE
        for value in instead.get(type(old), [None, 1, [], {}] if instead is INSTEAD else [1]):
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


def stand_in(data, path, file):
    """A folder of links to what MSIM_DATA has, but for one file, `path`."""
    own = os.environ["MSIM_DATA"]
    for part in [pathlib.Path(), *reversed(pathlib.Path(path).parents[:-1])]:
        os.makedirs(f"{data}/{part}")
        for name in os.listdir(f"{own}/{part}"):
            at = str(part / name)
            if at != path and not path.startswith(at + "/"):
                os.symlink(os.path.abspath(f"{own}/{at}"), f"{data}/{at}")
    os.symlink(file, f"{data}/{path}")


def said(sim, base, arguments, whole, folder, number, path=None):
    file, out = f"{folder}/{number}.json", f"{folder}/{number}.out"
    data = f"{folder}/{number}.data"
    names = {f"{data}/{path}": "FILE", data: "DATA", file: "FILE", out: "OUT", folder: "HERE",
             os.path.dirname(base): "FOLDER"}
    env = dict(os.environ, MSIM_DATA=data) if path else None

    def plain(text):
        for name, instead in names.items():
            text = text.replace(name, instead)
        return text

    instead = {"@": file, "%": out}
    pathlib.Path(file).write_text(json.dumps(whole), encoding="utf-8")
    if path:
        stand_in(data, path, file)
    run = subprocess.run([os.path.abspath(sim), *(instead.get(a, a) for a in arguments)],
                         text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env)
    lines = [line[len("mystique-sim: "):] for line in run.stderr.splitlines()]
    first = next((line for line in lines if not line.startswith("note:")), "")
    if run.returncode in (0, 1):
        text = plain("".join([run.stdout, *written(out)]))
        first += f" [{zlib.crc32(in_eight_digits(text).encode())}]"
    os.unlink(file)
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(data, ignore_errors=True)
    return f"{run.returncode} {plain(first)}"


def main():
    sim, base, *arguments = sys.argv[1:]
    place = None
    if arguments[0] == "--in":
        _, place, *arguments = arguments
    whole = json.loads(pathlib.Path(base).read_text(encoding="utf-8"))
    made = list(cases(whole, FACTS if place else INSTEAD))
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            lines = pool.map(lambda n: said(sim, base, arguments, put(whole, *made[n]), folder, n,
                                            place), range(len(made)))
            for (path, value), line in zip(made, lines):
                shown = "gone" if value is GONE else json.dumps(value)
                print(f"{'.'.join(map(str, path))} = {shown}: {line}")


if __name__ == "__main__":
    main()
