#!/usr/bin/env python3
"""How fast cuDNN's gradients of a filter a channel are, with channels last.

    scripts/accuracy/last_gradient.py --kernels FOLDER --keep DIR
                                      [--binary build/mystique-sim]

FOLDER has timm.csv.gz, DIR traces that timm_models.py --record made of its tables
'^train-amp-nhwc'. Models whose step such gradients make a twentieth longer or more
are predicted at one rate after the other: taps a clock cycle and SM, by halves. The
rate of least mean |log error| is "channels_last_gradient" of data/laws/kernels.json;
errors held out are by rates that were found without the model's family.
"""
import argparse
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
TABLE = re.compile(r"train-amp-nhwc-.*-rtx3090$")
RATES = [n / 2 for n in range(4, 21)]
NONE, TELLS = 1e9, 1.05


def rows(kernels, keep):
    """(model, trace, measured microseconds of the trace's batch)"""
    with gzip.open(kernels / "timm.csv.gz", "rt", newline="") as f:
        for r in csv.DictReader(f):
            trace = keep / f"{r['model']}-{r['image']}-train-nhwc_math.json.gz"
            if TABLE.match(r["table"]) and trace.exists():
                batch = int(pathlib.Path(str(trace).replace(".json.gz", ".batch")).read_text())
                yield r["model"], trace, 1e3 * float(r["step_ms"]) * batch / float(r["batch"])


def folder_of(rate, folder):
    """The data of the project with another rate."""
    laws = pathlib.Path(folder) / "laws"
    laws.mkdir()
    for path in DATA.iterdir():
        if path.name != "laws":
            (laws.parent / path.name).symlink_to(path)
    for path in (DATA / "laws").iterdir():
        if path.name != "kernels.json":
            (laws / path.name).symlink_to(path)
    facts = json.loads((DATA / "laws" / "kernels.json").read_text())
    facts["channels_last_gradient"]["value"] = rate
    (laws / "kernels.json").write_text(json.dumps(facts))


def predicted(binary, rate, found):
    with tempfile.TemporaryDirectory() as folder:
        folder_of(rate, folder)
        out = {}
        for model, trace, _ in found:
            done = subprocess.run([binary, "--platform", "rtx-3090", "--json", trace],
                                  env=dict(os.environ, MSIM_DATA=folder), text=True,
                                  capture_output=True, check=True)
            out[model] = json.loads(done.stdout)["iteration_us"]["predicted"]
        return out


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--kernels", type=pathlib.Path, required=True)
    a.add_argument("--keep", type=pathlib.Path, required=True)
    a.add_argument("--binary", default="build/mystique-sim")
    args = a.parse_args()
    found = list(rows(args.kernels, args.keep))
    without = predicted(args.binary, NONE, found)
    slow = predicted(args.binary, RATES[0], found)
    found = [f for f in found if slow[f[0]] > TELLS * without[f[0]]]
    by_rate = {rate: predicted(args.binary, rate, found) for rate in RATES}
    off = {rate: {m: math.log(p[m] / us) for m, _, us in found} for rate, p in by_rate.items()}
    families = collections.defaultdict(list)
    for model, _, _ in found:
        families[re.match("[a-z]+", model).group(0)].append(model)

    def best(models):
        return min(RATES, key=lambda r: statistics.mean(abs(off[r][m]) for m in models))

    held_out = []
    for name, models in sorted(families.items()):
        rate = best([m for m, _, _ in found if m not in models])
        for m in models:
            held_out.append(abs(math.expm1(off[rate][m])))
            print(f"{m}: {100 * math.expm1(off[rate][m]):+.1f} % at {rate}, found without "
                  f"'{name}'")
    rate = best([m for m, _, _ in found])
    none = [abs(without[m] / us - 1) for m, _, us in found]
    print(f"{len(found)} models: {rate} taps a cycle and SM; mean error "
          f"{100 * statistics.mean(abs(math.expm1(off[rate][m])) for m in off[rate]):.1f} %, held out "
          f"{100 * statistics.mean(held_out):.1f} %, at memory's pace {100 * statistics.mean(none):.1f} %")


if __name__ == "__main__":
    main()
