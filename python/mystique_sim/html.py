"""Small pieces of HTML for notebooks. Every text is made plain and escaped: a
name of a trace is a stranger's."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Mapping, Sequence

ROWS_SHOWN = 30

_COLOURS = {"compute": "#4c78a8", "communication": "#e45756",
            "memory_copy": "#f2cf5b", "host": "#72b7b2", "idle": "#bab0ac"}


def plain(text: Any) -> str:
    """One line as it reads: what would move a cursor, turn the writing around or
    is no character at all (half of a pair, a byte that is no UTF-8) is a '?'."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def _escaped(text: Any) -> str:
    return escape(plain(text), quote=True)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return _escaped(value)


def line(text: str, strong: bool = False) -> str:
    """A paragraph."""
    shown = _escaped(text)
    return f"<p><b>{shown}</b></p>" if strong else f"<p>{shown}</p>"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table; beyond 30 rows it says how many more there are."""
    if not rows:
        return ""
    columns = list(rows[0])
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(row.get(name))}</td>" for name in columns) + "</tr>"
        for row in rows[:ROWS_SHOWN]
    )
    more = len(rows) - ROWS_SHOWN
    tail = line(f"and {more} more rows") if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{tail}"


def bars(shares: Mapping[str, float]) -> str:
    """Parts of a whole, as one bar with a legend."""
    total = sum(value for value in shares.values() if value)
    if not total > 0:
        return ""
    pieces = "".join(
        f'<span title="{_text(name)}" style="display:inline-block;height:1em;'
        f'width:{100 * value / total:.2f}%;background:{_COLOURS.get(name, "#999")}">'
        "</span>"
        for name, value in shares.items() if value
    )
    legend = ", ".join(f"{name} {100 * value / total:.1f} %"
                       for name, value in shares.items() if value)
    return f'<div style="width:30em;white-space:nowrap">{pieces}</div>{line(legend)}'


def sentences(texts: Iterable[str]) -> str:
    """Warnings, as a list."""
    items = "".join(f"<li>{_escaped(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""
