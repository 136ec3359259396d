#!/usr/bin/env python3
"""with_framework.py TABLE: a table of jobs with a column `framework`, the program
that its source ran (frameworks.csv beside this file; empty: not known), as CSV."""

import csv
import gzip
import pathlib
import sys

with open(pathlib.Path(__file__).with_name("frameworks.csv"), newline="") as table:
    PROGRAMS = {row["source"]: row["framework"] for row in csv.DictReader(table)}

path = sys.argv[1]
with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as table:
    rows = csv.DictReader(table)
    out = csv.DictWriter(sys.stdout, [*rows.fieldnames, "framework"], lineterminator="\n")
    out.writeheader()
    for row in rows:
        out.writerow({**row, "framework": PROGRAMS.get(row["source"], "")})
