"""Every table of parameters: defaults are legal, choices complete, and errors say what is expected."""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import novikoff.parameters


def tables() -> dict[str, Mapping[str, Any]]:
    """Every table in the modules of the package, by the name that it has there."""
    modules = [
        import_module(f"novikoff.parameters.{m.name}")
        for m in pkgutil.iter_modules(novikoff.parameters.__path__)
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Mapping) and value and all(hasattr(entry, "legal") for entry in value.values())
    }


TABLES = tables()
ENTRIES = {(table, name): entry for table, entries in TABLES.items() for name, entry in entries.items()}
STRANGE = [
    np.array([1.0, 2.0]),
    object(),
    math.nan,
    -math.inf,
    10**400,
    b"",
    {},
    1j,
    "\0",
    "no such thing",
]  # none is legal everywhere


def test_there_are_tables_and_they_know_their_parameters_by_name() -> None:
    assert len(TABLES) > 5 and len(ENTRIES) > 100
    assert all(name == entry.name for (_, name), entry in ENTRIES.items())


@pytest.mark.parametrize(("table", "name"), ENTRIES, ids=map(".".join, ENTRIES))
def test_a_parameter(table: str, name: str) -> None:
    entry = ENTRIES[table, name]
    assert entry.help.endswith(".") and entry.help[0].isprintable()
    if name != "problem":  # which has no default that would do
        entry.check(entry.default)
    for choice in entry.choices:
        entry.check(choice)
    refused = [value for value in STRANGE if not entry.legal(value)]
    assert refused
    with pytest.raises(ValueError, match=rf"^{name}=.* is not possible: expected ") as error:
        entry.check(refused[0])
    assert entry.expected in str(error.value)
    if entry.choices:
        assert not entry.legal("no such thing") and str(entry.choices[0]) in entry.expected
