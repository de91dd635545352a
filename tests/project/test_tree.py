"""The tree is what CONTRIBUTING.md says: tests mirror the packages, and its map names what exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.places import ROOT, TESTS

PACKAGE = ROOT / "src" / "novikoff"
PACKAGES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
OWN = {"project", "support", "fuzzers", "files", "pictures"}  # folders of tests that mirror nothing
SPREAD = {"reference"}  # its twins are what the tests of the loops compare with


def test_every_package_has_a_folder_of_tests_and_every_folder_a_package() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    native = {path.name for path in (ROOT / "native").iterdir() if path.is_dir()}
    assert folders >= PACKAGES - SPREAD and folders - OWN <= PACKAGES | native
    assert all(list((TESTS / name).glob("test_*.py")) for name in PACKAGES - SPREAD)


def imported(file: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_no_test_imports_a_test() -> None:
    """What several tests use is in `support`; so every test file can be moved, renamed or left out alone."""
    names = [path.stem for path in TESTS.rglob("test_*.py")]
    assert len({*names}) == len(names) > 100  # pytest imports them by these names
    files = [*TESTS.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    wrong = {
        path.relative_to(ROOT): found for path in files if (found := {*names} & {*map(last, imported(path))})
    }
    assert wrong == {}


def last(module: str) -> str:
    return module.rpartition(".")[2]


def rows() -> list[tuple[Path, list[str], list[str]]]:
    """For each row of the map: whose folder, the places in it, and the names that stand beside them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found, root = [], PACKAGE
    for line in text.partition("## Where things are")[2].partition("\n## ")[0].splitlines():
        if heading := re.match(r"\| place, in `([\w/]+)/` \|", line):
            root = ROOT / heading[1]
        elif line.startswith("| `"):
            places, what = line.strip("| ").split(" | ")
            names = re.findall(r"`([a-z][a-z_0-9]*(?:\.\w+|/)?)`", what)
            found.append((root, re.findall("`([^`]+)`", places), names))
    return found


@pytest.mark.parametrize(
    ("root", "places", "names"), rows(), ids=[" ".join(places) for _, places, _ in rows()]
)
def test_the_map_names_only_what_exists(root: Path, places: list[str], names: list[str]) -> None:
    homes = [root / place for place in places]
    assert all(home.exists() for home in homes)
    inside = [path for home in homes for path in (home.rglob("*") if home.is_dir() else [home])]
    known = {name for path in inside for name in (path.name, path.stem, f"{path.name}/")}
    known |= {path.name for path in root.rglob("*.*")}  # with its ending a file may be anywhere
    code = "\n".join(path.read_text(encoding="utf-8") for path in inside if path.suffix in (".py", ".h"))
    missing = [name for name in names if name not in known and not re.search(rf"\b{name}\b", code)]
    assert not missing


def test_the_map_names_every_package_and_module() -> None:
    places = {place.rstrip("/") for _, found, _ in rows() for place in found}
    modules = {path.name for path in PACKAGE.glob("[a-z]*.py")} - {"dask.py"}  # of which `distributed/` tells
    native = {path.name for path in (ROOT / "native").iterdir()}
    assert PACKAGES | modules | native <= places
