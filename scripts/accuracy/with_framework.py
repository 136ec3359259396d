#!/usr/bin/env python3
"""with_framework.py TABLE [SOURCE]: a table of jobs with the columns `framework`, the
program that its source ran, and `network`, between the source's nodes, as CSV
(frameworks.csv beside this file; empty: not known, or the platform's own). SOURCE
is that of rows of a table without a column `source`."""

import csv
import gzip
import pathlib
import sys

KNOWN = ("framework", "network")

with open(pathlib.Path(__file__).with_name("frameworks.csv"), newline="") as table:
    SOURCES = {row["source"]: row for row in csv.DictReader(table)}

path, source = sys.argv[1], (sys.argv[2:] or [""])[0]
with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as table:
    rows = csv.DictReader(table)
    out = csv.DictWriter(sys.stdout, [*rows.fieldnames, *KNOWN], lineterminator="\n")
    out.writeheader()
    for row in rows:
        known = SOURCES.get(row.get("source", source), {})
        out.writerow({**row, **{column: known.get(column, "") for column in KNOWN}})
