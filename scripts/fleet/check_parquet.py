#!/usr/bin/env python3
"""Ask DuckDB of Parquet files what `info` and `select` say of the traces: equal figures.

    scripts/fleet/check_parquet.py TRACE|DIR...

Operators, kernels and copies of each file, and the time of its GPUs by kind, which is a
sum over instants that activities share. MYSTIQUE_SIM is the program; wants pyarrow and
duckdb (PyPI). docs/fleet.md has the queries.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MYSTIQUE_SIM", "mystique-sim")


def queries():
    """The SQL of docs/fleet.md, by the comment on its first line."""
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sql\n-- (\w+)[^\n]*\n(.*?)```", page, re.DOTALL)
    return dict(blocks)


def ours(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    sql, checked = queries(), 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "scripts/fleet/to_parquet.py", folder, *sys.argv[1:]], check=True,
                       stderr=subprocess.DEVNULL)
        sys.path.insert(0, str(ROOT / "scripts" / "fleet"))
        from to_parquet import found
        for path, name in found(sys.argv[1:]):
            parquet = pathlib.Path(folder) / (name + ".parquet")
            info = ours("info", "--json", str(path))
            if not parquet.exists() or not info:
                continue
            base = duckdb.connect()
            base.execute(f"CREATE VIEW fleet AS SELECT * FROM read_parquet('{parquet}', "
                         "filename = true)")
            counts = dict(base.execute(sql["counts"]).fetchall())
            file = info["files"][0]
            assert counts.get("operator", 0) == file["ops"], (path, counts, file)
            assert (counts.get("kernel", 0) + counts.get("communication", 0)
                    == file["kernels"]), (path, counts, file)
            checked += 1
            fleet = ours("select", "--json", str(path))
            if not fleet or not fleet["jobs"][0]["gpus"]:
                continue
            job = fleet["jobs"][0]
            theirs = dict(base.execute(sql["times"]).fetchall())
            for kind, share in job["shares"].items():
                us = share * job["device_time_us"]
                assert math.isclose(us, theirs.get(kind, 0), rel_tol=1e-9, abs_tol=1e-3), (
                    path, kind, us, theirs)
            checked += 1
    print(f"{checked} answers are equal")
    return 0 if checked else 1


if __name__ == "__main__":
    sys.exit(main())
