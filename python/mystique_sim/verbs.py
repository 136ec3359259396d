"""The verbs of the program: one run each, its answer as an object."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import (
    Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union,
)

from . import program
from .errors import MystiqueError, UsageError
from .program import Option, PathLike
from .results import (
    Comparison,
    Explanation,
    Info,
    OpTable,
    Plan,
    Platforms,
    Prediction,
    Predictions,
    Result,
    Serving,
    WhatIf,
)

__all__ = [
    "compare", "grid", "info", "op", "plan", "platforms", "predict", "serve", "version",
    "whatif",
]

Change = Mapping[str, Any]
Changes = Union[PathLike, Mapping[str, Union[Change, Sequence[Change]]],
                Sequence[Mapping[str, Any]]]


class _Ours(str):
    """The path of a file that the caller does not know."""


def _plain(value: Any) -> Any:
    """A number of numpy or PyTorch as Python's, an array of them as a list."""
    if not hasattr(value, "tolist"):
        raise UsageError(f"{type(value).__name__} cannot be written as JSON, want "
                         "numbers, texts, lists and dicts of them")
    return value.tolist()


def _json(content: Any) -> str:
    try:
        return json.dumps(content, default=_plain, allow_nan=False)
    except ValueError as error:  # NaN, infinity
        raise UsageError(f"cannot be written as JSON: {error}") from None


@contextmanager
def _written(content: Any) -> Iterator[str]:
    """A JSON file with `content`; a path is taken as it is."""
    if isinstance(content, (str, os.PathLike)):
        yield os.fspath(content)
        return
    with tempfile.TemporaryDirectory(prefix="mystique-sim-") as folder:
        path = Path(folder) / "input.json"
        path.write_text(_json(content), encoding="utf-8", errors="surrogateescape")
        yield _Ours(path)


def _run(verb: str, options: Mapping[str, Option], operands: Sequence[PathLike],
         allowed: Tuple[int, ...] = (0,), stdin: Optional[str] = None
         ) -> Tuple[Dict[str, Any], List[str], int]:
    """The answer's JSON, messages and exit code; what was _written() is "input"."""
    ours = [one for one in (*operands, *options.values()) if isinstance(one, _Ours)]

    def named(said: str) -> str:
        for path in ours:
            said = said.replace(path, "input")
        return said

    try:
        text, messages, code = program.run(
            verb, {**options, "json": True}, operands, stdin, allowed)
    except MystiqueError as error:
        error.args = (named(str(error)),)
        error.messages = [named(line) for line in error.messages]
        raise
    return _answer(named(text)), [named(line) for line in messages], code


def _answer(text: str) -> Dict[str, Any]:
    try:
        data: Dict[str, Any] = json.loads(text)
    except ValueError:  # of an option such as `help`
        raise UsageError(
            "the program answered with a text and no JSON: an option asks for "
            f"something else than an answer with figures; it began: {text[:60]!r}"
        ) from None
    return data


def predict(
    *traces: PathLike, **options: Option
) -> Union[Prediction, Predictions, Explanation]:
    """How long a traced job takes, and where the time goes.

    traces    files and folders of one job (execution traces, Kineto, Chakra)
    options   as `mystique-sim predict --help` has them: platform="h100",
              scale=["kernels=0.5"], clock=1200 (MHz) or 0.8 (a share),
              power_cap (W), ranks, nodes, network, price (US$ an hour and GPU),
              per_iteration="32 samples", model="timm:resnet50" (without traces)

    A list of platforms gives Predictions, best first; explain="aten::mm" gives an
    Explanation.
    """
    data, messages, _ = _run("predict", options, traces)
    of: Dict[str, Type[Union[Prediction, Predictions, Explanation]]] = {
        "predictions": Predictions, "explanation": Explanation}
    return of.get(data["schema"].split("/")[1], Prediction)(data, messages)


def grid(**axes: Any) -> Dict[str, Any]:
    """Scenarios of all combinations: grid(gpu=["a100", "h100"], batch=[8, 16]).

    Names are changes of docs/whatif.md; a number for `kernels`, `communication`,
    `copies` or `host` is a factor of such durations. Answers have the values in
    columns grid.gpu, grid.batch. An axis that is no collection is one value.
    """
    return {"grid": {name: _values(axis) for name, axis in axes.items()}}


def _values(axis: Any) -> List[Any]:
    """A text and a change (a dict) are one value, though both can be walked."""
    one = isinstance(axis, (str, Mapping)) or not isinstance(axis, Iterable)
    return [axis] if one else list(axis)


def _scenarios(changes: Changes) -> Any:
    """What stands in a file of scenarios (docs/whatif.md); a path stays one."""
    if isinstance(changes, (str, os.PathLike)):
        return changes
    if isinstance(changes, Mapping):
        if "scenarios" in changes or "grid" in changes:
            return changes
        return {"scenarios": [
            {"name": name, "changes": [one] if isinstance(one, Mapping) else list(one)}
            for name, one in changes.items()]}
    return {"scenarios": [
        dict(one) if "changes" in one else {"name": _json(one), "changes": [one]}
        for one in changes]}


def whatif(
    traces: Union[PathLike, Sequence[PathLike]], changes: Changes, **options: Option
) -> WhatIf:
    """Changes to one job, traced or described, side by side.

    traces    a path, several of one job, or a described model's name or file
    changes   scenarios, as docs/whatif.md has the changes:
              {"half": {"scale": {"select": "kernels", "factor": 0.5}},
               "h100, batch 16": [{"gpu": "h100"}, {"batch": 16}]},
              a list of changes (one scenario each), grid(...), or a JSON file
    options   as `mystique-sim whatif --help`: platform, host, network, strategy
              (of a described model: a dict or a JSON file), usage, kernels
    """
    paths = [traces] if isinstance(traces, (str, os.PathLike)) else list(traces)
    given: Dict[str, Any] = dict(options)
    strategy = given.pop("strategy", None)
    with _written(_scenarios(changes)) as file, _written(strategy or "") as splits:
        if strategy:
            given["strategy"] = splits
        data, messages, _ = _run("whatif", given, [file, *paths], (0, 1))
    return WhatIf(data, messages)


def compare(
    a: Union[PathLike, Prediction], b: Union[PathLike, Prediction], **options: Option
) -> Comparison:
    """What changed from A to B: traces, folders, or predictions.

    options   as `mystique-sim compare --help`: platform="a100" or ("a100",
              "h100"), one a side; fail_above="5%" sets `failed` of the answer
    """
    with _side(a) as first, _side(b) as second:
        data, messages, code = _run("compare", options, [first, second], (0, 1))
    if options.get("fail_above") is not None:
        data["failed"] = code == 1
    return Comparison(data, messages)


@contextmanager
def _side(one: Union[PathLike, Prediction]) -> Iterator[str]:
    with _written(one.data if isinstance(one, Result) else one) as path:
        yield path


def info(*traces: PathLike, **options: Option) -> Info:
    """What is in traces, and what is missing for a good prediction."""
    data, messages, _ = _run("info", options, traces)
    return Info(data, messages)


def _csv(rows: Any) -> str:
    """A table of operators as CSV: a list of dicts, or a DataFrame."""
    if hasattr(rows, "to_csv"):
        return str(rows.to_csv(index=False))
    records = list(rows)
    columns = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def op(rows: Any, platform: PathLike, **options: Option) -> OpTable:
    """A prediction for every row of a table of operators.

    rows      a CSV file (plain or .gz), a list of dicts or a DataFrame, with the
              columns that `mystique-sim op --help` names (m, n, k, dtype; ...)
    platform  the GPU, a name or a file
    """
    is_path = isinstance(rows, (str, os.PathLike))
    data, messages, _ = _run(
        "op", {**options, "platform": os.fspath(platform)},
        [rows if is_path else "-"], (0, 1), stdin=None if is_path else _csv(rows))
    return OpTable(data, messages)


def platforms(name: Union[None, PathLike] = None) -> Platforms:
    """The known GPUs, or one with its data sheet, fits and errors."""
    data, messages, _ = _run("platforms", {}, [] if name is None else [name])
    return Platforms(data, messages)


def plan(spec: Union[PathLike, Mapping[str, Any]], **options: Option) -> Plan:
    """Which GPUs, how many, split how, at what cost (docs/plan.md).

    spec      a JSON file, or what it holds as a dict
    options   as `mystique-sim plan --help`; o="DIR" writes the report there

    Where nothing is feasible, or keeps the limits, `recommended` is None.
    """
    with _written(spec) as file:
        data, messages, _ = _run("plan", options, [file], (0, 1))
    return Plan(data, messages)


def serve(app: Union[PathLike, Mapping[str, Any]], **options: Option) -> Serving:
    """An application under load: latencies, promises, capacity (docs/serving.md).

    app       a JSON file, or what it holds as a dict
    options   as `mystique-sim serve --help`: rate (requests/s), num_requests, ...
    """
    with _written(app) as file:
        data, messages, _ = _run("serve", options, [file], (0, 1))
    return Serving(data, messages)


def version() -> str:
    """What the program says of itself: "mystique-sim 0.1.0 (commit)"."""
    return program.run("predict", {"version": True})[0].strip()
