#!/usr/bin/env python3
"""Stacks by what they are asked for, as C: stack_rows.py OUT.h STACKS.csv

OUT.h may be --check: nothing is written.

data/laws/stacks.csv has a row a stack, those of one question together, the
first one first (data/laws/README.md). OUT.h has for each question a list,
MSIM_STACKS_QUESTION, which ends with NULL.
"""
import csv
import re
import sys

from kernel_rows import Fault, replace

COLUMNS = ("of", "stack", "how")
WORD = re.compile(r"[a-z][a-z0-9_]*")
STACK = re.compile(r"[A-Za-z0-9._-]+")


def read(path):
    lists, last = {}, ""
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.reader(file)
        if tuple(next(table, [])) != COLUMNS:
            raise Fault(f"{path}:1: want the columns {','.join(COLUMNS)}")
        for fields in table:
            where = f"{path}:{table.line_num}"
            if len(fields) != len(COLUMNS):
                raise Fault(f"{where}: {len(fields)} fields, want {len(COLUMNS)}")
            of, stack = fields[:2]
            if not WORD.fullmatch(of) or not STACK.fullmatch(stack):
                raise Fault(f"{where}: '{of}', '{stack}', want a word and a stack")
            if of < last:
                raise Fault(f"{where}: '{of}' stands behind '{last}', want "
                            "them sorted")
            if stack in lists.setdefault(of, []):
                raise Fault(f"{where}: '{stack}' is there already")
            lists[of].append(stack)
            last = of
    return lists


def main(arguments):
    header, path = arguments
    try:
        lists = read(path)
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    made = "/* Made of data/laws/stacks.csv by cmake/stack_rows.py. */\n" \
        "#ifndef MSIM_STACK_ROWS_H\n#define MSIM_STACK_ROWS_H\n"
    for of, stacks in lists.items():
        names = ", ".join(f'"{stack}"' for stack in stacks)
        made += f"#define MSIM_STACKS_{of.upper()} {names}, NULL\n"
    if header != "--check":
        replace(header, made + "#endif\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
