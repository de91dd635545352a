"""The lowest versions that pyproject.toml promises to work with, as constraints for pip.

They cover everything that is named there and used in the suite: the dependencies of the package, its extras,
and the groups for building and testing. Indirect dependencies are left to pip. [build-system] has exact
versions for isolated builds; builds from the environment use the bounds of the group instead.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROMISE = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[^]]*])?>=(?P<lowest>[\w.]+)")


def promised(project: dict[str, Any]) -> Iterator[str]:
    """Every requirement, wherever it is declared."""
    yield from project["project"]["dependencies"]
    for extra in project["project"]["optional-dependencies"].values():
        yield from extra
    for group in ("build", "test"):
        yield from project["dependency-groups"][group]


def lowest(project: dict[str, Any]) -> dict[str, str]:
    """The lowest version of each package; an error if two places promise different ones."""
    found: dict[str, str] = {}
    for requirement in promised(project):
        match = PROMISE.match(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound")
        version = found.setdefault(match["name"], match["lowest"])
        if version != match["lowest"]:
            raise SystemExit(f"pyproject.toml: {match['name']}>={version} and >={match['lowest']}")
        if match["extras"] == "[distributed]":  # it has the same version as dask
            found["distributed"] = version
    return dict(sorted(found.items()))


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in lowest(project).items())
