"""What the tests share: the source tree's package, program and samples."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture
def gpt2() -> str:
    """A sample trace."""
    return str(ROOT / "data/traces/gpt2")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """program(TEXT): the package calls a script of bash instead."""

    def make(text: str) -> Path:
        path = tmp_path / "mystique-sim"
        path.write_text("#!/usr/bin/env bash\n" + text)
        path.chmod(0o755)
        monkeypatch.setenv("MYSTIQUE_SIM", str(path))
        return path

    return make


def pytest_report_header(config):
    return f"program: {os.environ.get('MYSTIQUE_SIM', 'as the package finds it')}"
