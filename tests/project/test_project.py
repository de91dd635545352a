"""What the project's own files promise: what is built anew, and which versions there are."""

import json
import os
import re
import shutil
import subprocess
import tomllib

import pytest

import novikoff
from support.children import run_python
from support.places import ROOT, TESTS

SOURCES = [path for folder in ("native", "src") for path in (ROOT / folder).rglob("*") if path.is_file()]


TARGETS = (
    "test",
    "lint",
    "bench",
    "demo",
    "long",
    "steady",
    "sanitize",
    "sanitize-short",
    "fuzz",
    "kill-test",
)
TARGETS += ("kill-test", "real-data", "sbom", "wheel")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def plan(*arguments):
    """What `make` would run."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-n", *arguments]
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True).stdout


@needs_make
def test_whatever_source_changes_is_built_anew(tmp_path):
    """Asked about one file of each kind and folder; one folder, `cli/tag`, used to be forgotten."""
    for name in (".build", ".built", ".test"):
        (tmp_path / name).touch()

    def planned(*changed):
        return plan("test", f"VENV={tmp_path}", *changed)

    assert "pip" not in planned()
    files = {(path.parent, path.suffix): path.relative_to(ROOT) for path in SOURCES if path.suffix != ".pyc"}
    forgotten = [path for path in files.values() if " -e " not in planned("-W", str(path))]
    assert len(files) > 10 and not forgotten


@needs_make
@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
@pytest.mark.parametrize("target", TARGETS)
def test_every_file_and_module_that_a_target_names_is_there(target):
    said = plan(target)
    named = set(re.findall(r"(?<![\w/])(?:tests|examples|native|\.ci)(?:/[\w.]+)+", said))
    modules = set(re.findall(r"-m ((?:support|fuzzers|benchmarks)[\w.]*)", said))
    places = [ROOT / name for name in named]
    places += [(TESTS if each != "benchmarks" else ROOT) / each.replace(".", "/") for each in modules]
    missing = [str(path) for path in places if not (path.exists() or path.with_suffix(".py").exists())]
    assert not missing
    assert places or target in ("test", "long", "wheel")


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_every_promise_has_a_lowest_version():
    said = run_python(ROOT / ".ci" / "lowest.py").stdout.split()
    lowest = dict(line.split("==") for line in said)
    pinned = (ROOT / "constraints.txt").read_text().split()
    assert {"numpy", "nanobind", "rich", "distributed", "pytest"} <= lowest.keys()
    names = {line.split("==")[0].replace("_", "-").lower() for line in pinned}
    assert lowest.keys() <= names  # `make test` says exactly what it runs
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert f"numpy>={lowest['numpy']}" in project["project"]["dependencies"]


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_every_pinned_version_has_hashes():
    """For `pip install --require-hashes`; `make hashes` makes the file anew."""
    run_python(ROOT / ".ci" / "hashes.py", "--check")
    text = (ROOT / "requirements.txt").read_text()
    assert "://" not in text and "index-url" not in text and "find-links" not in text


def test_the_version_stands_in_one_place():
    """In `novikoff.__version__`, where the build reads it, so that wheels and sources say the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"] and "version" not in project["project"]
    settings = dict(project["tool"]["scikit-build"]["metadata"]["version"])
    regex = pytest.importorskip(settings.pop("provider"))
    assert (
        regex.dynamic_metadata("version", settings | {"input": str(ROOT / settings["input"])})
        == novikoff.__version__
    )


def test_builds_in_isolation_have_the_pinned_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pinned = {line.replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()}
    assert {*project["build-system"]["requires"]} <= pinned
    names = {each.partition("==")[0] for each in project["build-system"]["requires"]}
    assert names <= {each.partition(">=")[0] for each in project["dependency-groups"]["build"]}


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_the_bill_of_materials_names_everything():
    pytest.importorskip("nanobind")
    bill = json.loads(run_python(ROOT / ".ci" / "sbom.py").stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    found = {each["name"]: each for each in bill["components"]}
    for name in ("numpy", "scipy", "scikit-learn", "safetensors", "nanobind", "robin-map"):
        assert found[name]["scope"] == "required"
    assert found["cryptography"]["scope"] == found["pyarrow"]["scope"] == "optional"
    assert found["scikit-build-core"]["scope"] == "excluded"
    assert all(each["version"] for each in found.values()) and found["numpy"]["licenses"]
    refs = [each["bom-ref"] for each in bill["components"]]
    assert len({*refs}) == len(refs) == len(found)
    known = {*refs, bill["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in bill["dependencies"]} == known
    assert {other for each in bill["dependencies"] for other in each["dependsOn"]} <= known
