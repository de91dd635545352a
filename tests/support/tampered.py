"""Model files that somebody has changed, and how they are refused.

A file has a digest of its content. `tampered` makes it anew, so that only the checks of each part stand
between a wrong value and a model.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import novikoff
from novikoff.modelfile.container import read_file, write_file

Change = Callable[[dict[str, Any], dict[str, Any]], object]  # of facts and arrays


def saved(model: Any) -> bytes:
    """The file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        return path.read_bytes()


def tampered(content: bytes, change: Change, kind: str = "model") -> bytes:
    """A file after a change of its facts and arrays, with the digest of what it holds now."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(content)
        facts, arrays = read_file(path, kind)
        arrays = {name: np.array(value) for name, value in arrays.items()}
        change(facts, arrays)
        write_file(path, facts, arrays, kind)
        return path.read_bytes()


# ---- changes -------------------------------------------------------------------------------------------
def put(*way: str | int, value: Any) -> Change:
    """Another value for the fact that is found this way."""

    def change(facts: Any, arrays: object) -> None:
        *outer, last = way
        for name in outer:
            facts = facts[name]
        facts[last] = value

    return change


def put_array(name: str, value: Any) -> Change:
    return lambda facts, arrays: arrays.update({name: np.asarray(value)})


def edit(name: str, place: Any, value: Any) -> Change:
    """Another value at a place of an array."""
    return lambda facts, arrays: arrays[name].__setitem__(place, value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def put_anything(draw: st.DataObject) -> Change:
    """Anything that JSON can say in place of a fact, however deep it lies."""

    def change(facts: Any, arrays: object) -> None:
        while True:
            key = draw.draw(st.sampled_from(sorted(facts) if isinstance(facts, dict) else range(len(facts))))
            deeper = isinstance(facts[key], dict | list) and len(facts[key]) > 0
            if not deeper or draw.draw(st.booleans()):
                facts[key] = draw.draw(ANYTHING)
                return
            facts = facts[key]

    return change


# ---- refusals ------------------------------------------------------------------------------------------
def refused(path: Path, content: bytes) -> str:
    """The one line with which these bytes are refused, less the name of the file."""
    path.write_bytes(content)
    with pytest.raises(ValueError) as info:
        novikoff.load_model(path)
    text = str(info.value)
    assert text.startswith(f"{path}: ") and "\n" not in text
    return text[len(f"{path}: ") :]


def loaded(path: Path, content: bytes) -> Any:
    """The model in these bytes; None where they are refused, which takes one line."""
    path.write_bytes(content)
    try:
        return novikoff.load_model(path)
    except ValueError as error:
        assert "\n" not in str(error)
        return None


def check_changed_bytes(path: Path, good: bytes, draw: st.DataObject) -> None:
    """Wherever up to three bytes are changed, the file is refused or the model is what it was."""
    content = bytearray(good)
    for _ in range(draw.draw(st.integers(1, 3))):
        content[draw.draw(st.integers(0, len(good) - 1))] = draw.draw(st.integers(0, 255))
    model = loaded(path, content)
    assert model is None or saved(model) == good
