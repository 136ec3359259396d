#!/usr/bin/env python3
"""The built-in table of operators as C: ops_rows.py RULES.h OUT.c FILE.csv...

OUT.c may be --check: nothing is written, and rows have to be in order.

Each row of data/ops becomes a struct msim_opmap_row, all of them sorted by
name for core/work/opmap/opmap_table.c. The language is that of --ops
(docs/operators.md), less what only an operator's own arguments tell: a row has
a rule, is like another one, or launches nothing. The words of rules and flags
are read from RULES.h and the header beside it, so that a misspelt one is found
here.
"""
import csv
import os
import re
import sys

COLUMNS = ("operator", "like", "law", "rule", "variant", "inputs",
           "flops_each", "kernels", "flags", "arg", "note")
NUMBERS = ("inputs", "flops_each", "kernels")
CALLS = ("aten::", "prims::", "extern_kernels.")
GLOB = re.compile(r"[*?\[\]\\]")


class Fault(Exception):
    """Why a row cannot be taken, and what is wanted."""


class Words:
    """The lists of core/work/rules/opmap_rules.h and opmap_rule.h."""

    def __init__(self, header):
        text = ""
        for name in (header, re.sub(r"_rules\.h$", "_rule.h", header)):
            with open(name, encoding="utf-8") as file:
                text += file.read()
        self.lists = {}
        for name, body in re.findall(r"#define MSIM_(\w+)_MAP\(X\)((?:.*\\\n)+.*)",
                                     text):
            rows = re.findall(r"X\(([^()]*)\)", body)
            self.lists[name] = {}
            for row in rows:
                parts = [part.strip().strip('"') for part in row.split(",")]
                self.lists[name][parts[0]] = parts[1:]

    def rule(self, word):
        """(group, list of the words of arg, columns) of a rule."""
        if word not in self.lists["RULE"]:
            raise Fault(f"'rule' is '{word}', want one of opmap_rules.h")
        group, args, columns = self.lists["RULE"][word]
        return group, args, columns.split()

    def name(self, of, word, column):
        """The name in C of a word of a list."""
        for name, rest in self.lists[of].items():
            if rest[0] == word:
                return name
        known = ", ".join(rest[0] for rest in self.lists[of].values())
        raise Fault(f"'{column}' is '{word}', want one of {known}")


def bare(name):
    for call in CALLS:
        if name.startswith(call):
            return name[len(call):]
    return name


def prefix(name):
    """What stands before the only '*', at the end; None of a plain name."""
    if not GLOB.search(name):
        return None
    plain = re.sub(r"\\(.)", r"\1", name[:-1])
    if not name.endswith("*") or GLOB.search(re.sub(r"\\.", "", name[:-1])):
        raise Fault(f"'operator' is '{name}', want a name, or the begin of "
                    "names and '*'")
    return plain


def number(row, column):
    text = row[column]
    if not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 255:
        raise Fault(f"'{column}' is '{text}', want a number up to 255")
    return text


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def of_rule(row, words):
    """The members of a row with a rule."""
    group, args, columns = words.rule(row["rule"])
    members = [f".rule = msim_rule_{row['rule']}"]
    for column in ("variant", "inputs", "flops_each", "kernels", "arg"):
        if not row[column]:
            continue
        if column not in columns:
            raise Fault(f"'{column}' is '{row[column]}', want it empty: rule "
                        f"{row['rule']} does not read it")
        if column == "variant":
            members.append(f".variant = {quoted(row[column])}")
        elif column == "arg" and args != "NUMBER":
            name = words.name(args, row[column], column)
            members.append(f".arg = MSIM_ARGS_{args}_{name}")
        else:
            members.append(f".{column} = {number(row, column)}")
    if args != "NUMBER" and not row["arg"]:
        raise Fault(f"'arg' is empty: rule {row['rule']} needs it")
    if "inputs" in columns and not row["inputs"]:
        raise Fault(f"'inputs' is empty: rule {row['rule']} needs it")
    return members + [f".group = MSIM_GROUP_{group}"]


def members_of(row, words):
    kinds = [kind for kind in ("like", "law", "rule") if row[kind]]
    if len(kinds) != 1:
        raise Fault(f"{len(kinds)} of 'like', 'law', 'rule' are there, want one")
    if row["law"] and row["law"] != "nothing":
        raise Fault(f"'law' is '{row['law']}', want nothing: times by formulas "
                    "are for tables of users")
    if row["rule"]:
        members = of_rule(row, words)
    else:
        members = []
        for column in ("variant", "inputs", "flops_each", "kernels", "arg"):
            if row[column]:
                raise Fault(f"'{column}' is '{row[column]}', want it empty: "
                            "there is no 'rule'")
    if row["like"] and row["flags"]:
        raise Fault(f"'flags' is '{row['flags']}', want it empty: it is the "
                    "other row's")
    flags = ["MSIM_OPMAP_" + words.name("FLAG", word, "flags")
             for word in row["flags"].split()]
    if flags:
        members.append(".flags = " + " | ".join(flags))
    return members


def read(path, words, names, prefixes):
    """Add the rows of a file: name to its members, the row, where it stands."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        for column in header:
            if column not in COLUMNS:
                raise Fault(f"{path}:1: column '{column}' is not known, want "
                            + ", ".join(COLUMNS))
        for fields in rows:
            where = f"{path}:{rows.line_num}"
            try:
                if len(fields) != len(header):
                    raise Fault(f"{len(fields)} fields, want {len(header)}")
                row = dict.fromkeys(COLUMNS, "")
                row.update(zip(header, fields))
                begin = prefix(row["operator"])
                into, name = ((names, bare(row["operator"])) if begin is None
                              else (prefixes, begin))
                if not name:
                    raise Fault("'operator' is empty, want a name")
                if name in into:
                    raise Fault(f"'{name}' stands in {into[name][2]}, too: want "
                                "each name once")
                into[name] = (members_of(row, words), row, where)
            except Fault as fault:
                raise Fault(f"{where}: {fault}") from None


def check_order(table):
    """Rows of a file are sorted by their names: a change of one shows as that.
    Names that begin alike are sorted downwards: the first that matches counts.
    """
    before = {}
    for row, where in table:
        path, _, _ = where.rpartition(":")
        name, last = row["operator"], before.get(path, "")
        down = prefix(name) is not None
        if last and (name.encode() > last.encode()) == down:
            raise Fault(f"{where}: '{name}' stands behind '{last}', want them "
                        f"sorted {'down' if down else 'up'}")
        before[path] = name


def resolve(names, order):
    """Rows that are like another one point to it."""
    for members, row, where in names.values():
        if not row["like"]:
            continue
        other = bare(row["like"])
        if other not in order or names[other][1]["like"]:
            raise Fault(f"{where}: 'like' is '{row['like']}', want a row that "
                        "has a rule or launches nothing")
        members.append(f".like = &names[{order[other]}]")


def write(out, names, prefixes):
    with open(out + ".new", "w", encoding="utf-8") as file:
        file.write("/* Made of data/ops by cmake/ops_rows.py. */\n"
                   '#include "core/work/opmap/opmap_internal.h"\n'
                   '#include "core/work/rules/opmap_rules.h"\n')
        for array, table in (("names", names), ("prefixes", prefixes)):
            file.write(f"\nstatic const struct msim_opmap_row {array}[] = {{\n")
            for name, (members, _, _) in table.items():
                file.write("    {"
                           + ", ".join([f".name = {quoted(name)}"] + members)
                           + "},\n")
            file.write(f"}};\nconst struct msim_opmap_table msim_opmap_{array} "
                       f"= {{\n    {array}, sizeof({array}) / "
                       f"sizeof({array}[0])}};\n")
    os.replace(out + ".new", out)


def ordered(table, backwards):
    return dict(sorted(table.items(), key=lambda item: item[0].encode(),
                       reverse=backwards))


def main(arguments):
    header, out, *files = arguments
    names, prefixes = {}, {}
    try:
        words = Words(header)
        for path in sorted(files):
            read(path, words, names, prefixes)
        if out == "--check":
            for table in (names, prefixes):
                check_order((row, where) for _, row, where in table.values())
        names = ordered(names, False)
        # of two that begin alike the longer stands first
        prefixes = ordered(prefixes, True)
        resolve(names, {name: k for k, name in enumerate(names)})
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    if out != "--check":
        write(out, names, prefixes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
