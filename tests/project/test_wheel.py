"""What `make wheel` refuses: a wheel that lacks a file, or has one too many."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable

import pytest

from support.places import ROOT

PACKAGE = ROOT / "src" / "novikoff"

if not (ROOT / ".ci").is_dir():
    pytest.skip("not in a source distribution", allow_module_level=True)


@pytest.fixture(scope="module")
def problems() -> Callable[[Iterable[str], str], list[str]]:
    return runpy.run_path(str(ROOT / ".ci" / "wheel.py"))["problems"]


def good() -> set[str]:
    """The names of the files in a wheel as it should be."""
    native = [f"novikoff/_core_{level}.cpython-311-x86_64-linux-gnu.so" for level in ("base", "v3")]
    about = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    kinds = ("*.py", "*.pyi", "py.typed")
    files = [str(path.relative_to(ROOT / "src")) for kind in kinds for path in PACKAGE.rglob(kind)]
    return {"novikoff/", *files, *native, *(f"novikoff-1.0.dist-info/{name}" for name in about)}


def test_a_wheel_as_it_should_be_has_no_problems(problems) -> None:
    assert problems(good(), "x86_64") == []
    assert problems({name for name in good() if "_core_v3" not in name}, "aarch64") == []


@pytest.mark.parametrize(
    "name",
    [
        "novikoff/py.typed",
        "novikoff/__init__.pyi",
        "novikoff/theory/__init__.pyi",
        "novikoff/linear/perceptron.py",
        "novikoff/_core_v3.cpython-311-x86_64-linux-gnu.so",
        "novikoff-1.0.dist-info/entry_points.txt",
    ],
)
def test_what_is_missing_is_named(problems, name) -> None:
    (said,) = problems(good() - {name}, "x86_64")
    assert said in (f"it lacks {name}", "it has 0 builds for v3", "it lacks entry_points.txt")


@pytest.mark.parametrize(
    "name",
    [
        "tests/project/test_wheel.py",
        "novikoff/_core_base.o",
        "novikoff/linear/__pycache__/model.cpython-311.pyc",
        "native/module.cpp",
        "novikoff/libstdc++.so.6",
    ],
)
def test_what_is_too_much_is_named(problems, name) -> None:
    assert problems(good() | {name}, "x86_64") == [f"it has {name}"]
