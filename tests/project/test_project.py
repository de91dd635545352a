"""What the project's own files promise: what is built anew, and which versions there are."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from support.places import ROOT

SOURCES = [path for folder in ("native", "src") for path in (ROOT / folder).rglob("*") if path.is_file()]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_whatever_source_changes_is_built_anew(tmp_path):
    """Asked about one file of each kind and folder; one folder, `cli/tag`, used to be forgotten."""
    for name in (".build", ".built", ".test"):
        (tmp_path / name).touch()

    def planned(*changed):
        command = ["make", "-n", "test", f"VENV={tmp_path}", *changed]
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
        return done.stdout

    assert "pip" not in planned()
    files = {(path.parent, path.suffix): path.relative_to(ROOT) for path in SOURCES if path.suffix != ".pyc"}
    forgotten = [path for path in files.values() if " -e " not in planned("-W", str(path))]
    assert len(files) > 10 and not forgotten


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_every_promise_has_a_lowest_version():
    command = [sys.executable, ROOT / ".ci" / "lowest.py"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
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
    command = [sys.executable, ROOT / ".ci" / "hashes.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (ROOT / "requirements.txt").read_text()
    assert "://" not in text and "index-url" not in text and "find-links" not in text


def test_builds_in_isolation_have_the_pinned_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pinned = {line.replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()}
    assert {*project["build-system"]["requires"]} <= pinned
    names = {each.partition("==")[0] for each in project["build-system"]["requires"]}
    assert names <= {each.partition(">=")[0] for each in project["dependency-groups"]["build"]}


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a source distribution")
def test_the_bill_of_materials_names_everything():
    pytest.importorskip("nanobind")
    command = [sys.executable, ROOT / ".ci" / "sbom.py"]
    bill = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
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
