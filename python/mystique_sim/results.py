"""Answers of the program as objects: its JSON, tables of it, a notebook display.

Names and units are those of docs/json.md: ``_us`` is microseconds, ``_bytes``
bytes, a share is a fraction. What is not known is None.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Union

from . import html
from .program import PathLike

__all__ = [
    "Comparison", "Explanation", "Figure", "Info", "OpTable", "Plan", "Platforms",
    "Prediction", "Predictions", "Result", "Serving", "WhatIf",
]

Row = Dict[str, Any]


class Figure(NamedTuple):
    """A figure with its 90 % interval; `measured` is the trace's own."""

    predicted: Optional[float]
    low: Optional[float]
    high: Optional[float]
    measured: Optional[float]


def _figure(record: Any) -> Figure:
    record = record if isinstance(record, dict) else {}
    return Figure(*(record.get(name) for name in Figure._fields))


def flat(record: Mapping[str, Any], before: str = "") -> Row:
    """One level: ``{"period_us": {"low": 1}}`` is ``{"period_us.low": 1}``."""
    out: Row = {}
    for name, value in record.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{before}{name}."))
        else:
            out[before + name] = value
    return out


class Result:
    """What one run answered. `data` is the JSON object as a dict."""

    main_table = ""  #: what df() and rows() are of without a name

    def __init__(self, data: Dict[str, Any], messages: Iterable[str] = ()) -> None:
        self.data = data
        self.messages: List[str] = list(messages)  #: notes and warnings

    def __getitem__(self, member: str) -> Any:
        return self.data[member]

    def __contains__(self, member: object) -> bool:
        return member in self.data

    @property
    def schema(self) -> str:
        return str(self.data.get("schema", ""))

    @property
    def warnings(self) -> List[str]:
        """Sentences on what the reader should know."""
        return [str(text) for text in self.data.get("warnings") or []]

    def tables(self) -> List[str]:
        """Members that are tables, for rows() and df()."""
        return [name for name, value in self.data.items()
                if self._records(value) is not None]

    @staticmethod
    def _records(value: Any) -> Optional[List[Any]]:
        if isinstance(value, dict) and isinstance(value.get("rows"), list):
            value = value["rows"]  # a table of a comparison
        elif isinstance(value, dict) and value and all(
                isinstance(one, dict) for one in value.values()):
            value = [{"name": name, **one} for name, one in value.items()]
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            return value
        return None

    def rows(self, table: Optional[str] = None) -> List[Row]:
        """The records of a table, one flat dict each ("period_us.low"); records
        that have names for keys get a column "name"."""
        name = table or self.main_table
        found = self._records(self.data.get(name))
        if found is None:
            raise KeyError(f"no table '{name}', there are: {', '.join(self.tables())}")
        return [flat(record) for record in found]

    def df(self, table: Optional[str] = None) -> Any:
        """The same as a pandas DataFrame; pandas is imported here."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError(
                "df() needs pandas (pip install pandas); rows() does not"
            ) from error
        return pandas.DataFrame(self.rows(table))

    def metrics(self) -> Dict[str, float]:
        """All numbers that stand alone, by name ("period_us.predicted"): for
        mlflow.log_metrics() or wandb.log()."""
        return {name: float(value) for name, value in flat(self.data).items()
                if isinstance(value, (int, float)) and not isinstance(value, bool)}

    def to_json(self, path: Optional[PathLike] = None, indent: Optional[int] = None) -> str:
        """The JSON text; written to `path`, too, where one is given."""
        text = json.dumps(self.data, indent=indent, ensure_ascii=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8",
                                  errors="surrogateescape")
        return text

    def _repr_html_(self) -> str:
        head = html.line(repr(self))
        name = self.main_table
        rows = self.rows(name) if name and name in self.tables() else []
        body = html.table([{k: v for k, v in row.items() if not isinstance(v, list)}
                           for row in rows])
        return head + body + html.sentences(self.warnings)

    def __repr__(self) -> str:
        return html.plain(f"<{type(self).__name__}: {', '.join(self.data)}>")


def _ms(us: Optional[float]) -> str:
    return "not known" if us is None else f"{us / 1000:,.3f} ms"


def _span(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return _ms(figure.predicted)
    return f"{_ms(figure.predicted)} (90 %: {_ms(figure.low)} to {_ms(figure.high)})"


class Prediction(Result):
    """How long a job takes, and where the time goes (mystique-sim/prediction/1)."""

    main_table = "ops"

    @property
    def platform(self) -> Optional[str]:
        """The GPU that is predicted for; None: as traced."""
        name = self.data.get("platform")
        return None if name is None else str(name)

    @property
    def verdict(self) -> Optional[str]:
        """What bounds the job, in a sentence."""
        return self.data.get("verdict")

    @property
    def period_us(self) -> Figure:
        """From one iteration to the next in steady state, in microseconds."""
        return _figure(self.data.get("period_us"))

    @property
    def iteration_us(self) -> Figure:
        """The host's range of one iteration, in microseconds."""
        return _figure(self.data.get("iteration_us"))

    @property
    def kernel_us(self) -> Figure:
        """Compute kernels of one iteration, summed, in microseconds."""
        return _figure(self.data.get("kernel_us"))

    @property
    def breakdown_us(self) -> Dict[str, float]:
        """Each instant of an iteration by what runs, in microseconds."""
        return dict(self.data.get("breakdown_us") or {})

    @property
    def mfu(self) -> Optional[float]:
        """Share of the platform's peak arithmetic, 0 to 1."""
        return self.data.get("mfu")

    def __repr__(self) -> str:
        where = self.platform or "as traced"
        return html.plain(f"<Prediction {where}: period {_span(self.period_us)}>")

    def _repr_html_(self) -> str:
        figures = [{"": name, "predicted": _ms(f.predicted), "low": _ms(f.low),
                    "high": _ms(f.high), "measured": _ms(f.measured)}
                   for name, f in (("period", self.period_us),
                                   ("iteration", self.iteration_us),
                                   ("kernels", self.kernel_us))]
        rows = [{"operator": r.get("name"), "calls": r.get("calls"),
                 "time": _ms(r.get("predicted_us")), "model": r.get("model"),
                 "limit": r.get("limit")}
                for r in self.rows("ops")]
        return (html.line(self.verdict or repr(self), strong=True)
                + html.line(f"on {self.platform or 'the traced GPU'}, "
                            f"costs: {self.data.get('costs')}")
                + html.table(figures) + html.bars(self.breakdown_us)
                + html.table(rows) + html.sentences(self.warnings))


class Predictions(Result):
    """One prediction a platform, the shortest period first
    (mystique-sim/predictions/1). A sequence of Prediction: [0] is the best,
    ["a100"] that platform's; members of the answer are there by name, too."""

    main_table = "platforms"

    def __getitem__(self, member: Union[int, str]) -> Any:
        if isinstance(member, int):
            return Prediction(self.data["platforms"][member])
        if member in self.data:
            return self.data[member]
        for one in self:
            if one.platform == member:
                return one
        raise KeyError(f"{member}: no platform of {[p.platform for p in self]} and no member")

    def __len__(self) -> int:
        return len(self.data["platforms"])

    def __iter__(self) -> Iterator[Prediction]:
        return (Prediction(one) for one in self.data["platforms"])

    @property
    def best(self) -> Prediction:
        """That of the shortest period."""
        return next(iter(self))

    def rows(self, table: Optional[str] = None) -> List[Row]:
        if table not in (None, self.main_table):
            return super().rows(table)
        return [{"platform": p.platform, "period_us": p.period_us.predicted,
                 "low_us": p.period_us.low, "high_us": p.period_us.high,
                 "ratio_to_best": ratio.get("ratio"), "kernel_us": p.kernel_us.predicted,
                 "mfu": p.mfu, "cost_usd": p.data.get("cost_usd"),
                 "energy_joules": p.data.get("energy_joules")}
                for p, ratio in zip(self, self.data["ratios_to_best"])]

    def __repr__(self) -> str:
        each = (f"{p.platform} {_ms(p.period_us.predicted)}" for p in self)
        return html.plain(f"<Predictions: {', '.join(each)}>")


class Explanation(Result):
    """How the time of an operator comes about, shape by shape
    (mystique-sim/explanation/1)."""

    main_table = "works"

    def __repr__(self) -> str:
        return html.plain(f"<Explanation of {self['asked']} on {self['platform']}: "
                          f"{len(self['works'])} shapes>")


class WhatIf(Result):
    """Changes to a job, side by side (mystique-sim/whatif/1)."""

    main_table = "scenarios"

    def __len__(self) -> int:
        return len(self.data["scenarios"])

    def ratio(self, name: str) -> Figure:
        """The period of scenario `name` over the base's; None: see reason()."""
        return _figure(self._scenario(name).get("ratio"))

    def reason(self, name: str) -> Optional[str]:
        """Why the job cannot be predicted so; None where it can."""
        return self._scenario(name).get("reason")

    def _scenario(self, name: str) -> Row:
        for row in self.data["scenarios"]:
            if row["name"] == name:
                return dict(row)
        names = ", ".join(str(row["name"]) for row in self.data["scenarios"])
        raise KeyError(f"no scenario '{name}', there are: {names}")

    def __repr__(self) -> str:
        base = _figure(self.data["base"].get("period_us"))
        return f"<WhatIf of {len(self)}: base {_span(base)}>"

    def _repr_html_(self) -> str:
        rows = []
        for row in [self.data["base"], *self.data["scenarios"]]:
            ratio = _figure(row.get("ratio"))
            rows.append({
                "scenario": row.get("name"),
                "period": _span(_figure(row.get("period_us"))),
                "of the base": "" if ratio.predicted is None
                               else f"{ratio.predicted:.3f}",
                "": row.get("reason") or " ".join(row.get("guards") or [])})
        marked = (self.data.get("guards") or {}).get("text")
        return (html.table(rows) + (html.line(marked) if marked else "")
                + html.sentences(self.warnings))


class Comparison(Result):
    """What changed from A to B (mystique-sim/comparison/1)."""

    main_table = "ops"

    @property
    def ratio(self) -> Optional[float]:
        """The period of B over that of A."""
        change = self.data.get("period_us") or {}
        return change.get("ratio")

    @property
    def failed(self) -> bool:
        """With fail_above: B's period is longer by more than that."""
        return bool(self.data.get("failed"))

    def __repr__(self) -> str:
        change = self.data.get("period_us") or {}
        ratio = "not known" if self.ratio is None else f"{self.ratio:.3f}"
        return (f"<Comparison: period {_ms(change.get('a'))} to "
                f"{_ms(change.get('b'))}, ratio {ratio}>")

    def _repr_html_(self) -> str:
        rows = [{"operator": r.get("name") or r.get("b_name"), "A": _ms(r.get("a_us")),
                 "B": _ms(r.get("b_us")), "B - A": _ms(r.get("difference_us")),
                 "B / A": r.get("ratio"), "only": r.get("only")}
                for r in self.rows()]
        return html.line(repr(self)) + html.table(rows) + html.sentences(self.warnings)


class Info(Result):
    """What is in traces, and what is missing (mystique-sim/info/1)."""

    main_table = "files"

    @property
    def missing(self) -> List[str]:
        """Sentences on what a prediction will lack."""
        return [str(text) for text in self.data.get("missing") or []]

    def __repr__(self) -> str:
        n, ranks = len(self.data.get("files") or []), self.data.get("ranks")
        return (f"<Info: {n} file{'' if n == 1 else 's'}, "
                f"{ranks} rank{'' if ranks == 1 else 's'}>")

    def _repr_html_(self) -> str:
        columns = ("path", "format", "rank", "gpu", "ops", "kernels", "collectives",
                   "steps", "linked")
        rows = [{name: r.get(name) for name in columns} for r in self.rows()]
        return (html.line(repr(self)) + html.table(rows) + html.sentences(self.missing)
                + html.sentences(self.warnings))


class OpTable(Result):
    """A prediction for every row of a table of operators
    (mystique-sim/operations/1)."""

    main_table = "rows"

    def rows(self, table: Optional[str] = None) -> List[Row]:
        """A dict a row: its own columns, as texts, and predicted_us, low_us,
        high_us, model, source, emulated (None where there is none), guards and
        the reason why there is none."""
        if table not in (None, self.main_table):
            return super().rows(table)
        return [{**row["input"], **{k: v for k, v in row.items() if k != "input"}}
                for row in self.data["rows"]]

    def __len__(self) -> int:
        return len(self.data["rows"])

    def __repr__(self) -> str:
        return f"<OpTable: {len(self)} rows>"


class Platforms(Result):
    """The known GPUs (mystique-sim/platforms/1), or one (.../platform/1)."""

    main_table = "platforms"

    @property
    def names(self) -> List[str]:
        """What `platform` takes."""
        return [str(one["name"]) for one in self.data.get("platforms", [self.data])]

    def __repr__(self) -> str:
        return html.plain(f"<Platforms: {', '.join(self.names)}>")


class Plan(Result):
    """Which GPUs, how many, split how, at what cost (mystique-sim/plan/1 and
    plan/serving/1)."""

    main_table = "frontier"

    @property
    def recommended(self) -> Optional[Row]:
        """The point that is recommended; None where nothing is feasible."""
        return self.data.get("recommended")

    def __repr__(self) -> str:
        point = self.recommended or {}
        what = (f"{point.get('gpus')} x {point.get('platform')}" if point
                else "nothing is feasible")
        n = self.data.get("feasible")  # of training
        return html.plain(f"<Plan: {what}>" if n is None else
                          f"<Plan: {what}, {n} feasible point{'' if n == 1 else 's'}>")


class Serving(Result):
    """An application under load (mystique-sim/serving/1)."""

    main_table = "classes"

    def __repr__(self) -> str:
        return html.plain(
            f"<Serving: classes {', '.join(self.data.get('classes') or {})}>")
