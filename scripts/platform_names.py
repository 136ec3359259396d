#!/usr/bin/env python3
"""Write data/platforms/names.csv: how traces and people call each platform.

    scripts/platform_names.py            write it
    scripts/platform_names.py --check    exit 1 where it is not what would be written

A program that looks for one GPU reads this table in place of every platform file. A
row has the size of the file that it is of, so that an edited file is read itself, and
a hash of its bytes (msim_hash_words() in core/base/hash.h): cells of a file that has
another are looked at before they are needed. The first rows are of the laws that all
GPUs share and of the fits of steps. Run this behind msim-fit, msim-fit-shared and
msim-fit-steps, which write the files.
"""
import csv
import io
import json
import pathlib
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data/platforms"
TABLE = FOLDER / "names.csv"
COLUMNS = ("platform", "bytes", "hash", "kind", "name", "memory_from", "memory_to", "sms")


def times_prime(value):
    return value * 1099511628211 & (1 << 64) - 1


def hash_words(text):
    behind = len(text) // 32 * 32
    lanes = [0] * 4
    for words in struct.iter_unpack("<4Q", text[:behind]):
        lanes = [times_prime(lane ^ word) for lane, word in zip(lanes, words)]
    rest = text[behind:] + bytes(-len(text) % 8)
    value = len(text)
    for word in (*lanes, *(word for (word,) in struct.iter_unpack("<Q", rest))):
        value = times_prime(value ^ word)
        value ^= value >> 32
    return f"{value:016x}"


def rows():
    for name in ("../laws/common", "../laws/steps"):
        text = (FOLDER / f"{name}.json").read_bytes()
        yield name, len(text), hash_words(text), "laws", "", "", "", ""
    for path in sorted(FOLDER.glob("*.json"), key=lambda path: path.stem.encode()):
        text = path.read_bytes()
        platform = json.loads(text)
        begin = (path.stem, len(text), hash_words(text))
        yield *begin, "generation", platform["generation"], "", "", ""
        for alias in platform.get("aliases", ()):
            yield *begin, "alias", alias, "", "", ""
        for device in platform.get("devices", ()):
            yield (*begin, "device", device["name"],
                   *(device.get(key, "") for key in COLUMNS[5:]))


def main():
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(rows())
    if sys.argv[1:] == ["--check"]:
        if TABLE.read_text(encoding="utf-8") != out.getvalue():
            sys.exit("data/platforms/names.csv is not of the platform files: run "
                     "scripts/platform_names.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        TABLE.write_text(out.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
