"""Seeds and skips for every test and every example in the docs."""

from __future__ import annotations

import doctest
import importlib.util
import itertools
import random
import re
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest


# ---- randomness ----------------------------------------------------------------------------------------
# Unseeded generators get new seeds here for every test, so that all runs draw the same numbers.
class Unseeded:
    """`numpy.random.default_rng`, with the seeds 0, 1, 2, ... within a test where none is given."""

    def __init__(self) -> None:
        self.make = np.random.default_rng
        self.seeds = itertools.count()

    def __call__(self, seed: Any = None) -> np.random.Generator:
        return self.make(next(self.seeds) if seed is None else seed)

    def begin(self) -> None:
        self.seeds = itertools.count()
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002


unseeded = np.random.default_rng = Unseeded()


def pytest_runtest_setup() -> None:
    unseeded.begin()


# ---- absent packages -----------------------------------------------------------------------------------
def optional() -> set[str]:
    """The optional packages of novikoff, from pyproject.toml."""
    project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    declared = [*itertools.chain(*extras), *project["dependency-groups"]["test"]]
    names = {name for one in declared for name in re.findall(r"[a-z][\w-]*", re.split("[>=<!]", one)[0])}
    return names | {"cloudpickle"}  # a dependency of distributed


ABSENT = {name for name in optional() if importlib.util.find_spec(name) is None}


def absent(error: BaseException | None) -> str | None:
    """The absent package that caused this error, if one did."""
    if error is None:
        return None
    if isinstance(error, doctest.UnexpectedException):
        return absent(error.exc_info[1])
    if isinstance(error, BaseExceptionGroup):  # several failures found by Hypothesis
        names = [absent(each) for each in error.exceptions]
        return names[0] if all(names) else None
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        root = error.name.partition(".")[0]
        return root if root in ABSENT else None
    return absent(error.__cause__ or error.__context__)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    try:
        return (yield)
    except Exception as error:
        if name := absent(error):
            pytest.skip(f"needs {name}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    call = getattr(report, "call", None)
    if report.failed and call is not None and (name := absent(call.excinfo.value)):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"Skipped: needs {name}")
    return report
