#!/usr/bin/env python3
"""Write data/platforms/names.csv: how traces and people call each platform.

    scripts/platform_names.py            write it
    scripts/platform_names.py --check    exit 1 where it is not what would be written

A program that looks for one GPU reads this table in place of every platform file. A
row has the size of the file that it is of, so that an edited file is read itself, and
a hash of its bytes (msim_hash_words() in core/base/hash.h): trees of a file that has
another are looked at before they are needed. Run this behind msim-fit, which writes
the files.
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


def hash_words(text):
    value = len(text)
    padded = text + bytes(-len(text) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        value = (value ^ word) * 1099511628211 & (1 << 64) - 1
        value ^= value >> 32
    return f"{value:016x}"


def rows():
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
