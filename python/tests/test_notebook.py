"""The notebooks of the documentation run from top to bottom, and every cell that
ends in an answer of ours shows something."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted(
    (Path(__file__).resolve().parents[2] / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path, monkeypatch):
    pytest.importorskip("torch", reason="no PyTorch")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    names = {}
    shown = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], "outputs are not kept: they would grow old"
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), names)
        if last is None:
            continue
        value = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
        text = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
        assert len(text) > 40
        shown += 1
    assert shown >= 5


def test_there_is_one():
    assert NOTEBOOKS
