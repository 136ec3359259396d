#!/usr/bin/env python3
"""Traces as Parquet, a file a rank, for DuckDB, Polars or Spark.

    scripts/fleet/to_parquet.py OUT TRACE|DIR... [--jobs N]

Of each trace `mystique-sim info --csv` writes the rows, which docs/fleet.md describes;
pyarrow (PyPI) makes OUT/PATH.parquet of them. Directories are searched. N traces are
converted at a time, each by a process of its own, so that memory is that of N ranks.
MYSTIQUE_SIM is the program. Files that are no traces are left out, with a message.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

TRACES = (".json", ".json.gz", ".json.zst", ".et", ".et.gz", ".et.zst", ".sqlite")
TEXTS = ["kind", "name", "family", "operator"]
NUMBERS = ["rank", "start_ps", "duration_ps", "device", "stream", "process", "thread", "bytes"]
# What our CSV has in front of what a spreadsheet would take for a formula.
GUARD = "(^|[;\t\n\r])( *)'('*[=+@\uff1d\uff0b\uff0d\uff20-])"


def found(operands):
    """(path, name below OUT) of the traces among files and directories."""
    for operand in map(pathlib.Path, operands):
        if not operand.is_dir():
            yield operand, operand.name
            continue
        for path in sorted(operand.rglob("*")):
            if path.is_file() and path.name.endswith(TRACES):
                yield path, str(path.relative_to(operand.parent))


def as_written(batch):
    """A batch of rows with texts as the trace has them, each text once."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns):
        if name in ("name", "operator"):
            column = pyarrow.compute.replace_substring_regex(
                column, pattern=GUARD, replacement=r"\1\2\3")
        columns.append(column.dictionary_encode() if name in TEXTS else column)
    return pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


def convert(path, to):
    """Why that trace is left out, or None."""
    types = {name: pyarrow.int64() for name in NUMBERS}
    types.update({name: pyarrow.string() for name in TEXTS})
    command = [os.environ.get("MYSTIQUE_SIM", "mystique-sim"), "info", "--csv", "--threads", "1",
               str(path)]
    with tempfile.TemporaryFile() as said, \
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as program:
        if program.stdout.peek(1):
            to.parent.mkdir(parents=True, exist_ok=True)
            draft = to.with_name(to.name + ".draft")
            rows = pyarrow.csv.open_csv(
                program.stdout,
                parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=types, strings_can_be_null=False))
            writer = None
            for batch in map(as_written, rows):
                writer = writer or pyarrow.parquet.ParquetWriter(
                    draft, batch.schema, compression="zstd")
                writer.write_batch(batch)
            if writer:
                writer.close()
        if program.wait() == 0 and writer:
            draft.rename(to)
            return None
        said.seek(0)
        return said.read().decode(errors="replace").strip() or "it has no rows"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    written = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        traces = list(found(options.traces))
        why = pool.map(lambda t: convert(t[0], options.out / (t[1] + ".parquet")), traces)
        for (path, _), reason in zip(traces, why):
            written += reason is None
            if reason:
                print(f"left out {path}: {reason}", file=sys.stderr)
    print(f"{written} of {len(traces)} traces are in {options.out}")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main())
