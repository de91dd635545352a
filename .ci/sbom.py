"""A software bill of materials, as CycloneDX 1.6 in JSON: what novikoff is made of, and what it needs.

Read from the packages that are installed: those that it needs (`required`), those of its extras
(`optional`), and those that only build it (`excluded`, but for nanobind, which is compiled into it with the
robin-map that it carries). The hashes of a package are those of requirements.txt: of all files that the
version can be installed from. There is neither a time nor a number drawn by chance in it: the same
environment gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from novikoff import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def normal(name: str) -> str:
    """A package's name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def known_hashes() -> dict[tuple[str, str], list[str]]:
    """Of each name and version, by requirements.txt."""
    text = (ROOT / "requirements.txt").read_text()
    entries = re.findall(r"^(\S+)==(\S+)((?: \\\n    --hash=\S+)+)", text, re.M)
    return {(normal(name), version): re.findall("[0-9a-f]{64}", hashes) for name, version, hashes in entries}


def needs(requirements: list[str], extras: set[str]) -> Iterator[Requirement]:
    """Those of the requirements that hold here, with these extras."""
    for each in map(Requirement, requirements):
        contexts = [{"extra": extra} for extra in extras or {""}]
        if each.marker is None or any(each.marker.evaluate(context) for context in contexts):
            yield each


class Bill:
    """Components and what each depends on."""

    def __init__(self) -> None:
        self.components: dict[str, dict[str, Any]] = {}
        self.dependencies: dict[str, set[str]] = {}
        self._hashes = known_hashes()

    def add(self, requirement: Requirement, scope: str, by: str) -> None:
        """A package and all it needs; the first scope that it is met in is the strictest."""
        try:
            found = distribution(requirement.name)
        except PackageNotFoundError:
            raise SystemExit(f"{requirement.name} is not installed: make sbom installs it.") from None
        name, version = normal(found.metadata["Name"]), found.version
        ref = f"pkg:pypi/{name}@{version}"
        self.dependencies.setdefault(by, set()).add(ref)
        if ref not in self.components:
            self.components[ref] = self._component(found, name, version, ref, scope)
            self.dependencies.setdefault(ref, set())
        for each in needs(found.requires or [], set(requirement.extras)):
            target = f"pkg:pypi/{normal(each.name)}@{_version(each.name)}"
            if target not in self.components or requirement.extras:
                self.add(each, scope, ref)
            else:
                self.dependencies[ref].add(target)

    def _component(
        self, found: Distribution, name: str, version: str, ref: str, scope: str
    ) -> dict[str, Any]:
        component: dict[str, Any] = {"type": "library", "bom-ref": ref, "name": name, "version": version}
        component |= {"scope": scope, "purl": ref, "licenses": licences(found)}
        if hashes := self._hashes.get((name, version)):
            component["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in hashes]
        return component


def _version(name: str) -> str:
    try:
        return distribution(name).version
    except PackageNotFoundError:
        raise SystemExit(f"{name} is not installed: make sbom installs it.") from None


def licences(found: Distribution) -> list[dict[str, Any]]:
    """As the package itself says: an SPDX expression, a classifier, or a line of text."""
    metadata = found.metadata
    if expression := metadata.get("License-Expression"):
        return [{"expression": expression}]
    classifiers = [c for c in metadata.get_all("Classifier", []) if c.startswith("License ::")]
    said = [c.rpartition(" :: ")[2] for c in classifiers] or (
        metadata.get("License") or ""
    ).strip().splitlines()[:1]
    return [{"license": {"name": name}} for name in said]


def robin_map() -> dict[str, Any]:
    """The C++ library inside nanobind, with the version that its header says."""
    spec = find_spec("nanobind")
    assert spec is not None and spec.origin is not None
    header = Path(spec.origin).parent / "ext/robin_map/include/tsl/robin_growth_policy.h"
    numbers = re.findall(r"#define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
    ref = f"pkg:github/tessil/robin-map@v{'.'.join(numbers)}"
    component = {"type": "library", "bom-ref": ref, "name": "robin-map", "version": ".".join(numbers)}
    return component | {"scope": "required", "purl": ref, "licenses": [{"license": {"id": "MIT"}}]}


def bill() -> dict[str, Any]:
    """The whole document."""
    project, made = PROJECT["project"], Bill()
    root = f"pkg:pypi/{project['name']}@{__version__}"
    native = Requirement(next(r for r in PROJECT["build-system"]["requires"] if r.startswith("nanobind")))
    for each in map(Requirement, project["dependencies"]):
        made.add(each, "required", root)
    made.add(native, "required", root)
    for extra in project["optional-dependencies"].values():
        for each in map(Requirement, extra):
            made.add(each, "optional", root)
    for each in map(Requirement, PROJECT["dependency-groups"]["build"]):
        made.add(each, "excluded", root)
    inside = robin_map()
    made.components[inside["bom-ref"]] = inside
    made.dependencies[f"pkg:pypi/nanobind@{_version('nanobind')}"].add(inside["bom-ref"])
    made.dependencies[inside["bom-ref"]] = set()
    novikoff = {"type": "library", "bom-ref": root, "name": project["name"], "version": __version__}
    novikoff |= {"purl": root, "licenses": [{"license": {"id": project["license"]}}]}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": novikoff},
        "components": [made.components[ref] for ref in sorted(made.components)],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(others)} for ref, others in sorted(made.dependencies.items())
        ],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
