#!/usr/bin/env python3
"""What a model_type of Hugging Face is made of, as C: model_types.py OUT.c TYPES.csv

Each row of data/models/types.csv becomes a struct msim_model_family
(plan/describe/describe_internal.h).
"""
import csv
import os
import re
import sys

YES = {"no": "false", "yes": "true"}
# By columns: what its words are in C.
WORDS = {
    "stack": {word: f"MSIM_FAMILY_STACK_{word.upper()}" for word in ("decoder", "bert", "vit", "within")},
    "mlp": {"plain": "false", "gated": "true"},
    "norm": {"rmsnorm": "false", "layernorm": "true"},
    "bias": YES,
    "positions": {word: f"MSIM_POSITIONS_{word.upper()}" for word in ("rope", "learned", "alibi", "none")},
    "tied": YES,
    "qk_norm": YES,
}
MEMBERS = {"mlp": "gated", "norm": "layernorm"}  # where they are not the column's name


class Fault(Exception):
    """Why a row cannot be taken, and what is wanted."""


def member(column, value):
    if column == "type":
        if not re.fullmatch(r"[a-z0-9_-]+", value):
            raise Fault(f"'type' is '{value}', want a model_type")
        return f'.type = "{value}"'
    if column == "shared_experts":
        if not re.fullmatch(r"[0-9]", value):
            raise Fault(f"'{column}' is '{value}', want a digit")
        return f".{column} = {value}"
    if value not in WORDS[column]:
        raise Fault(f"'{column}' is '{value}', want one of {', '.join(WORDS[column])}")
    return f".{MEMBERS.get(column, column)} = {WORDS[column][value]}"


def read(path):
    rows, last = [], ""
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, restkey="", restval=None)
        want = ["type", *WORDS, "shared_experts"]
        if table.fieldnames != want:
            raise Fault(f"{path}: the header wants {','.join(want)}")
        for row in table:
            try:
                if "" in row or None in row.values():
                    raise Fault(f"other fields than the header's {len(want)}")
                if row["type"] <= last:
                    raise Fault(f"'{row['type']}' stands behind '{last}', want them sorted, each once")
                rows.append(", ".join(member(*cell) for cell in row.items()))
            except Fault as fault:
                raise Fault(f"{path}:{table.line_num}: {fault}") from None
            last = row["type"]
    return rows


def write(out, rows):
    with open(out + ".new", "w", encoding="utf-8") as file:
        file.write("/* Made of data/models/types.csv by cmake/model_types.py. */\n"
                   '#include "plan/describe/describe_internal.h"\n\n'
                   "const struct msim_model_family msim_model_families[] = {\n")
        for row in rows:
            file.write(f"    {{{row}}},\n")
        file.write("};\n\nconst size_t msim_model_families_n =\n"
                   "    sizeof(msim_model_families) / sizeof(*msim_model_families);\n")
    os.replace(out + ".new", out)


def main(arguments):
    out, path = arguments
    try:
        write(out, read(path))
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
