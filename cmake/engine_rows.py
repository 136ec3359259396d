#!/usr/bin/env python3
"""What engines do untold, as C: engine_rows.py WORDS.h OUT.c DEFAULTS.csv

Each row of data/engines/defaults.csv becomes the struct msim_engine_defaults of
its engine, a column a member. WORDS.h (serving/llm/llm.h) has the words of
the engines, each of which wants its row.
"""
import csv
import os
import re
import sys

# Of the machine; all others are members of .settings.
MACHINE = ("large_gpu_gib", "large_gpu_tokens", "small_gpu_tokens",
           "seqs_a_full_cache", "seqs_least", "seqs_most")
# Of the program as it is measured, like those of the machine outside .settings.
MEASURED = ("output_spread",)
VALUE = re.compile(r"true|false|[0-9]+(\.[0-9]+)?")


class Fault(Exception):
    """Why a row cannot be taken, and what is wanted."""


def engines_of(header):
    """Names in C by their words, in the order of MSIM_LLM_ENGINE_MAP."""
    with open(header, encoding="utf-8") as file:
        text = file.read()
    body = re.search(r"#define MSIM_LLM_ENGINE_MAP\(X\)((?:.*\\\n)+.*)", text)
    return {word: name for name, word in
            re.findall(r'X\((\w+), "(\w+)"\)', body.group(1))}


def members(row):
    settings, machine = [], []
    for column, value in row.items():
        if column in ("engine", "source") or not value:
            continue
        if not VALUE.fullmatch(value):
            raise Fault(f"'{column}' is '{value}', want true, false, or a number")
        into = machine if column in MACHINE + MEASURED else settings
        into.append(f".{column} = {value}")
    if not row.get("source"):
        raise Fault("'source' is empty, want where the values stand")
    for column, needs in (("max_num_batched_tokens", MACHINE[:3]),
                          ("max_num_seqs", MACHINE[3:])):
        for need in needs:
            if bool(row[column]) == bool(row[need]):
                raise Fault(f"'{column}' is '{row[column]}' and '{need}' "
                            f"'{row[need]}', want one of them")
    return settings, machine


def read(path, engines):
    rows = {}
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, restkey="", restval=None)
        for row in table:
            where = f"{path}:{table.line_num}"
            try:
                if "" in row or None in row.values():
                    raise Fault(f"other fields than the header's "
                                f"{len(table.fieldnames)}")
                if row["engine"] not in engines or row["engine"] in rows:
                    raise Fault(f"'engine' is '{row['engine']}', want each of "
                                f"{', '.join(engines)} once")
                rows[row["engine"]] = members(row)
            except Fault as fault:
                raise Fault(f"{where}: {fault}") from None
    for engine in engines:
        if engine not in rows:
            raise Fault(f"{path}: no row for '{engine}', want each of "
                        f"{', '.join(engines)} once")
    return rows


def write(out, engines, rows):
    with open(out + ".new", "w", encoding="utf-8") as file:
        file.write("/* Made of data/engines by cmake/engine_rows.py. */\n"
                   '#include "serving/app/app.h"\n\n'
                   "const struct msim_engine_defaults "
                   "msim_engine_table[MSIM_LLM_ENGINES] = {\n")
        for word, name in engines.items():
            settings, machine = rows[word]
            settings.insert(0, f".engine = MSIM_LLM_{name}")
            inner = ",\n                      ".join(settings)
            outer = "".join(f",\n         {member}" for member in machine)
            file.write(f"    [MSIM_LLM_{name}] =\n"
                       f"        {{.settings = {{{inner}}}{outer}}},\n")
        file.write("};\n")
    os.replace(out + ".new", out)


def main(arguments):
    header, out, path = arguments
    try:
        engines = engines_of(header)
        rows = read(path, engines)
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    write(out, engines, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
