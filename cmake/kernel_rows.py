#!/usr/bin/env python3
"""Figures of kernels as C: kernel_rows.py OUT.h OUT.c KERNELS.csv

OUT.h may be --check: nothing is written, and rows have to be in order.

data/laws/kernels.csv has a row a figure (data/laws/README.md). OUT.h becomes
the enum of all figures, MSIM_FACT_KERNEL_FIGURE, for
core/work/kernel_fact.h, and OUT.c their rows. The value of an enumerator is
the place of its first row.
"""
import csv
import os
import re
import sys

COLUMNS = ("kernel", "figure", "value", "unit", "gpus", "since", "until",
           "library", "source", "how")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")
WORD = re.compile(r"[a-z][a-z0-9_]*")
GPUS = re.compile(r"[a-z0-9-]+( [a-z0-9-]+)*")
WANT = {"kernel": (WORD, "a word"), "figure": (WORD, "a word"),
        "value": (NUMBER, "a number"), "unit": (re.compile(".+"), "a unit"),
        "gpus": (GPUS, "words, or nothing"),
        "since": (NUMBER, "a version of PyTorch, or nothing"),
        "until": (NUMBER, "a version of PyTorch, or nothing")}
CONDITIONS = ("gpus", "since", "until")


class Fault(Exception):
    """Why a row cannot be taken, and what is wanted."""


def check(row):
    for column, (pattern, want) in WANT.items():
        if (row[column] or column not in CONDITIONS) \
                and not pattern.fullmatch(row[column]):
            raise Fault(f"'{column}' is '{row[column]}', want {want}")
    if not row["source"] and not row["how"]:
        raise Fault("'source' and 'how' are empty, want where the value is from")


def read(path):
    """The rows of each figure, by kernel and figure, in the file's order."""
    figures, last = {}, ("", "")
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.reader(file)
        if tuple(next(table, [])) != COLUMNS:
            raise Fault(f"{path}:1: want the columns {','.join(COLUMNS)}")
        for fields in table:
            where = f"{path}:{table.line_num}"
            if len(fields) != len(COLUMNS):
                raise Fault(f"{where}: {len(fields)} fields, want {len(COLUMNS)}")
            row = dict(zip(COLUMNS, fields))
            name = (row["kernel"], row["figure"])
            rows = figures.setdefault(name, [])
            try:
                check(row)
                if name < last:
                    raise Fault(f"'{','.join(name)}' stands behind "
                                f"'{','.join(last)}', want them sorted")
                if rows and not any(rows[-1][word] for word in CONDITIONS):
                    raise Fault("the row above holds for any GPU and version, "
                                "want it last")
                if rows and row["unit"] != rows[0]["unit"]:
                    raise Fault(f"'unit' is '{row['unit']}', want the figure's, "
                                f"'{rows[0]['unit']}'")
            except Fault as fault:
                raise Fault(f"{where}: {fault}") from None
            rows.append(row)
            last = name
    return figures


def c_name(name):
    return "MSIM_FACT_" + "_".join(name).upper()


def check_names(figures, path):
    seen = {}
    for name in figures:
        other = seen.setdefault(c_name(name), name)
        if other != name:
            raise Fault(f"{path}: '{','.join(name)}' and '{','.join(other)}' "
                        f"are {c_name(name)}, want other words")


def members(row, more):
    words = [f".value = {row['value']}"]
    gpus = [word for word in row["gpus"].split() if word != "amd"]
    if gpus:
        words.append(f'.gpus = " {" ".join(gpus)} "')
    if "amd" in row["gpus"].split():
        words.append(".amd = true")
    words += [f".{key} = {row[key]}" for key in ("since", "until") if row[key]]
    if any(row[key] for key in CONDITIONS):
        words.append(".holds_for_some = true")
    if more:
        words.append(".more = true")
    return "{" + ", ".join(words) + "}"


def replace(path, text):
    """A file that is the same stays: what includes it is not built again."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def write(header, source, figures):
    made = "/* Made of data/laws/kernels.csv by cmake/kernel_rows.py. */\n"
    names, rows = "", ""
    at = 0
    for name, table in figures.items():
        names += f"    {c_name(name)} = {at}, /* {table[0]['unit']} */\n"
        for k, row in enumerate(table):
            rows += f"    {members(row, k + 1 < len(table))},\n"
        at += len(table)
    replace(header, made + "#ifndef MSIM_KERNEL_ROWS_H\n"
            "#define MSIM_KERNEL_ROWS_H\n"
            f"enum msim_fact_name {{\n{names}}};\n#endif\n")
    replace(source, made + '#include "core/work/kernel_fact.h"\n\n'
            "const struct msim_fact_row msim_fact_rows[] = {\n"
            f"{rows}}};\n")


def main(arguments):
    header, *source, path = arguments
    try:
        figures = read(path)
        check_names(figures, path)
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    if header != "--check":
        write(header, source[0], figures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
