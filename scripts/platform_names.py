#!/usr/bin/env python3
"""Write data/platforms/names.csv: how traces and people call each platform.

    scripts/platform_names.py            write it
    scripts/platform_names.py --check    exit 1 where it is not what would be written

A program that looks for one GPU reads this table in place of every platform file. A
row has the size of the file that it is of, so that an edited file is read itself.
Run this behind msim-fit, which writes the files.
"""
import csv
import io
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data/platforms"
TABLE = FOLDER / "names.csv"
COLUMNS = ("platform", "bytes", "kind", "name", "memory_from", "memory_to", "sms")


def rows():
    for path in sorted(FOLDER.glob("*.json"), key=lambda path: path.stem.encode()):
        text = path.read_bytes()
        platform = json.loads(text)
        begin = (path.stem, len(text))
        yield *begin, "generation", platform["generation"], "", "", ""
        for alias in platform.get("aliases", ()):
            yield *begin, "alias", alias, "", "", ""
        for device in platform.get("devices", ()):
            yield (*begin, "device", device["name"],
                   *(device.get(key, "") for key in COLUMNS[4:]))


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
