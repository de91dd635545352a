"""Every version reads the files of all versions before it: docs/models.md promises it."""

import json
import math

import pytest

import novikoff
from novikoff import KernelPerceptron, OnlineKernelPerceptron, OnlinePerceptron, Perceptron
from novikoff.modelfile.container import kind_of_file, read_file, write_file
from support.marks import may_not_separate
from support.model_files import FOLDER, KINDS, plain

pytestmark = [may_not_separate, pytest.mark.filterwarnings("ignore:X does not have valid feature names")]

VERSIONS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
SEEN = {v: json.loads((FOLDER / v / "seen.json").read_text(encoding="utf-8")) for v in VERSIONS}


def check_installed(name):
    """Skip what needs an extra that is not there."""
    if "csv" in name:
        pytest.importorskip("pyarrow")


def same(found, expected, close):
    """Equal; where a kernel's values depend on the machine's exp, nearly so."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and same(found[name], value, close) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            same(a, b, close) for a, b in zip(found, expected, strict=True)
        )
    if isinstance(expected, float) and isinstance(found, float):
        if math.isnan(expected):
            return math.isnan(found)
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12) if close else found == expected
    return found == expected


@pytest.mark.parametrize(("version", "name"), [(v, name) for v in VERSIONS for name in SEEN[v]])
def test_what_was_seen_in_a_file_is_seen_today(version, name):
    """Predictions, scores, weights, counts, and what comes of learning on."""
    check_installed(name)
    found, expected = plain(KINDS[name][1](FOLDER / version / name)), SEEN[version][name]
    for part, value in expected.items():
        assert same(found[part], value, "kernel" in name), part


def test_there_are_files_of_this_version():
    """Every file is accounted for, and none is missing: a new version writes its own (see model_files.py)."""
    assert novikoff.__version__ in VERSIONS
    for version in VERSIONS:
        files = {path.name for path in (FOLDER / version).iterdir()}
        assert files == {*SEEN[version], "seen.json"} and {*SEEN[version]} <= {*KINDS}


@pytest.mark.parametrize("name", KINDS)
def test_files_of_every_kind_can_be_written(name, tmp_path):
    check_installed(name)
    write, see = KINDS[name]
    write(tmp_path / name)
    assert plain(see(tmp_path / name))


# ---- one parameter more, or less ---------------------------------------------------------------------
def changed(path, tmp_path, change):
    """A copy of a file whose facts were changed."""
    kind = kind_of_file(path)
    facts, arrays = read_file(path, kind)
    change(facts)
    write_file(tmp_path / "changed", facts, arrays, kind)
    return tmp_path / "changed"


READERS = {
    "online": OnlinePerceptron.load,
    "online-kernel": OnlineKernelPerceptron.load,
    "linear-two": Perceptron.load,
    "kernel-rbf": KernelPerceptron.load,
    "tagger": novikoff.SequenceTagger.load,
    "structured-multiclass": novikoff.StructuredPerceptron.load,
}
FILES = FOLDER / VERSIONS[0]


@pytest.mark.parametrize("name", READERS)
def test_a_parameter_that_an_older_file_does_not_have_is_its_default(name, tmp_path):
    """As if it had been added since: whichever parameter that is."""
    load = READERS[name]
    whole = load(FILES / name)
    usual = type(whole)(**({"problem": whole.problem} if hasattr(whole, "problem") else {})).get_params()
    parameters = read_file(FILES / name, kind_of_file(FILES / name))[0]["parameters"]
    for left_out in parameters:
        path = changed(FILES / name, tmp_path, lambda facts, p=left_out: facts["parameters"].pop(p))
        found = load(path).get_params()
        for parameter, value in whole.get_params().items():
            if (name, left_out, parameter) != ("kernel-rbf", "gamma", "gamma"):  # the kernel itself has its γ
                assert repr(found[parameter]) in (repr(value), repr(usual[parameter]))


@pytest.mark.parametrize("name", ["online", "online-kernel"])
def test_a_parameter_of_a_newer_version_is_refused_in_words(name, tmp_path):
    path = changed(FILES / name, tmp_path, lambda facts: facts["parameters"].update(momentum=0.5))
    with pytest.raises(ValueError, match=r"changed: .*does not know \('momentum'\).*update novikoff"):
        READERS[name](path)


def test_settings_of_another_version(tmp_path):
    for setting in ("ties", "margin", "C", "multiclass", "rule"):
        path = changed(
            FILES / "linear-two", tmp_path, lambda facts, s=setting: facts["model"]["settings"].pop(s)
        )
        assert Perceptron.load(path).get_params() == Perceptron.load(FILES / "linear-two").get_params()
    path = changed(FILES / "linear-two", tmp_path, lambda f: f["model"]["settings"].update(momentum=0.5))
    with pytest.raises(ValueError, match=r"changed: .*settings .*does not know \('momentum'\)"):
        Perceptron.load(path)


def test_a_checkpoint_of_an_older_version_goes_on(tmp_path):
    """A parameter that it does not have had its default then."""
    from novikoff.training.checkpoint import CheckpointFile

    facts, arrays = read_file(FILES / "checkpoint", "checkpoint")
    source = facts["source"]
    now = facts["parameters"] | {"ties": "positive", "hash_bits": None, "intercept_scaling": 1.0}
    write_file(tmp_path / "checkpoint.novikoff", facts, arrays, "checkpoint")
    assert CheckpointFile(tmp_path, now).read(source, "rows")[0]["rows"] == facts["rows"]
    with pytest.raises(ValueError, match="another fit: ties was 'positive' and is 'mistake'"):
        CheckpointFile(tmp_path, now | {"ties": "mistake"}).read(source, "rows")
