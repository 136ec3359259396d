"""The sample traces that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Dict

from .program import find

__all__ = ["sample", "samples"]


def samples() -> Dict[str, str]:
    """The folders of sample traces by name: gpt2, resnet, bert, ..."""
    program = find()
    places = (
        program.parent.parent / "share/doc/mystique-sim/data/traces",
        program.parent.parent / "data/traces",  # a source tree
        Path(__file__).resolve().parents[2] / "data/traces",
    )
    for place in places:
        if place.is_dir():
            return {one.name: str(one) for one in sorted(place.iterdir()) if one.is_dir()}
    return {}


def sample(name: str) -> str:
    """The folder of one sample trace; KeyError names those there are."""
    found = samples()
    if name not in found:
        raise KeyError(f"no sample '{name}', there are: {', '.join(found)}")
    return found[name]
