"""Traces of a CPU as if the GPU that is made up had run them.

    fake_traces.py FROM TO

FROM has captures (scripts/capture.py) or traces of kernels (record_kernels.py),
TO gets each of them whole, by rename. Kernels take made-up times, and the device
is called FAKE wherever it is named.
"""

import gzip
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernels"))
import as_on_gpu  # noqa: E402

NAME = "FAKE GPU, figures of an H100"


def fake_trace(path):
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    as_on_gpu.on_gpu(trace)
    trace["deviceProperties"] = [{**as_on_gpu.GPU, "name": NAME}]
    with gzip.open(path, "wt") as file:
        json.dump(trace, file)


def fake_capture(folder):
    for path in (folder / "kineto").glob("*.json.gz"):
        fake_trace(path)
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    (folder / "meta.json").write_text(json.dumps({**meta, "device": NAME}, indent=2)
                                      + "\n", encoding="utf-8")


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    source.mkdir(parents=True, exist_ok=True)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        to = target / path.name
        if path.suffix == ".part" or to.exists():
            continue
        draft = to.with_name(to.name + ".part")
        if path.is_dir():
            shutil.copytree(path, draft, dirs_exist_ok=True)
            fake_capture(draft)
        else:
            shutil.copy(path, draft)
            fake_trace(draft)
        draft.rename(to)


if __name__ == "__main__":
    main()
