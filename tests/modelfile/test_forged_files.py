"""Model files made by somebody who means ill: what they claim is met in proportion to what they hold.

What is measured is the peak of resident memory of a child, which does not depend on the machine's speed or on
what else it does; every claim here would take hundreds of megabytes if it were met.
"""

import copy
import json
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

import novikoff
from novikoff import KernelPerceptron, OnlineKernelPerceptron, OnlinePerceptron, Perceptron, SequenceTagger
from novikoff.modelfile import container as modelfile
from novikoff.modelfile.container import kind_of_file, read_file, write_file
from support import forging
from support.children import run_python
from support.marks import may_not_separate

pytestmark = may_not_separate

FILES = forging.FILES
ROOM = 64 << 20  # bytes; the least of the claims would take four times as much
WARM = ("linear-averaged", "tagger", "online-kernel", "structured-trees", "kernel-poly", "online", "text")


# ---- sizes -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def rose(tmp_path_factory):
    """By how much memory each step with each forgery made the peak rise."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the peak of memory is known on Linux only")
    folder = tmp_path_factory.mktemp("forged")
    for name in WARM:  # what is imported and reserved once is no matter here
        shutil.copy(FILES / name, folder / f"warm-{name}")
    for name in forging.FORGERIES:
        forging.forged(name, folder / name)
    files = [*(f"warm-{name}" for name in WARM), *forging.FORGERIES]
    done = run_python("-m", "support.forging", *(folder / name for name in files))
    found = {}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    return found


@pytest.mark.parametrize("name", forging.FORGERIES)
def test_memory_is_in_proportion_to_the_file(rose, name):
    """Loading, predicting, inspecting, learning on, saving: files of 2 kB that claim millions of columns."""
    found = dict(rose[name])
    if name in forging.REFUSED:
        assert forging.REFUSED[name] in found["error"]
        return
    assert "error" not in found, found["error"]
    assert "load" in found and max(found.values()) < ROOM, found


@pytest.mark.parametrize("name", WARM)
def test_the_measure_measures_honest_files_too(rose, name):
    assert "error" not in rose[f"warm-{name}"] and "load" in rose[f"warm-{name}"]


def test_what_cannot_be_reserved_is_refused_in_words(tmp_path):
    """Addresses are reserved for all that is claimed; where that is not allowed there is one clear error."""
    forging.forged("averaged", tmp_path / "m")
    code = (
        "import resource, sys, novikoff, numpy, novikoff.linear.model;"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31)); novikoff.load_model(sys.argv[1])"
    )
    done = run_python("-c", code, tmp_path / "m", code=None)
    last = done.stderr.splitlines()[-1]
    assert "ValueError" in last and "claims 268,435,456 weights" in last


# ---- counters ----------------------------------------------------------------------------------------
READERS = {
    "linear-averaged": Perceptron.load,
    "linear-ovr": novikoff.load_model,
    "rows-csv-hashed": novikoff.load_model,
    "kernel-rbf": KernelPerceptron.load,
    "kernel-budget-random": KernelPerceptron.load,
    "online-three": OnlinePerceptron.load,
    "online-kernel": OnlineKernelPerceptron.load,
    "tagger-averaged-hashed": SequenceTagger.load,
    "structured-trees": novikoff.StructuredPerceptron.load,
    "structured-chains": novikoff.load_model,
}
COUNTERS = {
    *(
        "visits",
        "mistakes",
        "updates",
        "most_stored",
        "ties",
        "learner_mistakes",
        "learner_ties",
        "n_mistakes",
    ),
    *(
        "n_rows",
        "n_visits",
        "training_errors",
        "wrong",
        "close",
        "wrong_tokens",
        "invalid",
        "dropped",
        "n_seen",
    ),
    *("shuffled_in_blocks", "n_labels", "n_classes", "n_features", "size", "fractional"),
}


def counters(value, at=()):
    """The way to every counter that is read one by one; those of a history are numbers of any kind."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in COUNTERS and type(item) is int:
                yield (*at, key)
            elif key not in ("history", "parameters"):
                yield from counters(item, (*at, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from counters(item, (*at, place))


@pytest.mark.parametrize("name", READERS)
def test_counters_are_whole_numbers_with_room_to_count_on(name, tmp_path):
    kind = kind_of_file(FILES / name)
    facts, arrays = read_file(FILES / name, kind)
    ways = list(counters(facts))
    assert len(ways) >= 4
    for *way, last in ways:
        for wrong in (2**63 - 1, 2**62 + 1, -1, 1.0, True, "1", 10**400):
            forged = copy.deepcopy(facts)
            inner = forged
            for key in way:
                inner = inner[key]
            inner[last] = wrong
            write_file(tmp_path / "m", forged, arrays, kind)
            with pytest.raises(ValueError) as info:
                READERS[name](tmp_path / "m")
            assert "\n" not in str(info.value) and len(str(info.value)) < 400, (way, last, wrong)


def test_the_largest_counters_go_on(tmp_path):
    """2⁶² and one more is no overflow, here or in the loops."""
    facts, arrays = read_file(FILES / "linear-averaged", "model")
    facts["model"]["parts"][0] |= dict.fromkeys(("visits", "mistakes", "updates", "most_stored"), 1 << 62)
    write_file(tmp_path / "m", facts, arrays, "model")
    model = Perceptron.load(tmp_path / "m").partial_fit(np.ones((3, 3)), ["ham", "spam", "ham"])
    assert model._model.total("visits") == (1 << 62) + 3 and model.report().in_full()


# ---- JSON --------------------------------------------------------------------------------------------
def raw(path, text, kind="model"):
    """A file with these bytes for its facts, and a digest that fits."""
    tensors = {"facts": np.frombuffer(text, dtype=np.uint8)}
    head = {"format": 1, "kind": kind, "digest": modelfile._digest(kind, tensors)}
    path.write_bytes(save_tensors(tensors, metadata={"novikoff": modelfile.canonical(head)}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[" * 200_000, "nested more than 64 deep"),
        (b'{"a":' * 200_000, "nested more than 64 deep"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested more than 64 deep"),
        (b'{"a":1,"b":2,"a":3}', "a key is given twice among a, b, a"),
        (b'{"a":NaN}', "NaN is not JSON"),
        (b'{"a":-Infinity}', "-Infinity is not JSON"),
        (b'{"a":' + b"9" * 10_000 + b"}", "its JSON is invalid"),
        (b'{"a":{"float":[]}}', "its JSON is invalid"),
        (b'{"a":{"float":"one"}}', "its JSON is invalid"),
        (b'{"a":"\xff"}', "its JSON is invalid"),
        (b"[]", "its facts are not an object"),
        (b"", "its JSON is invalid"),
    ],
)
def test_facts_that_are_no_facts(tmp_path, text, said):
    raw(tmp_path / "m", text)
    with pytest.raises(ValueError, match=re.escape(said)) as info:
        novikoff.load_model(tmp_path / "m")
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("inner", [b'{"a":' * 100_000, b'{"__metadata__":{"novikoff":' + b"[" * 100_000])
def test_a_deep_header(tmp_path, inner):
    (tmp_path / "m").write_bytes(struct.pack("<Q", len(inner)) + inner)
    assert kind_of_file(tmp_path / "m") is None
    with pytest.raises(ValueError, match="is damaged or not a novikoff model"):
        novikoff.load_model(tmp_path / "m")


def test_a_deep_kind(tmp_path):
    """The metadata are JSON in JSON."""
    (tmp_path / "m").write_bytes(save_tensors({"a": np.zeros(1)}, metadata={"novikoff": "[" * 100_000}))
    assert kind_of_file(tmp_path / "m") is None
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        novikoff.load_model(tmp_path / "m")


# ---- what a call may use -----------------------------------------------------------------------------
GREEDY = {
    "n_jobs": 1000,
    "verbose": 9,
    "cache_mb": 1 << 40,
    "callback": "print",
    "checkpoint": "/",
    "client": "x",
}


@pytest.mark.parametrize(
    "name", ["linear-averaged", "kernel-rbf", "kernel-budget-random", "tagger", "structured-trees"]
)
def test_no_file_says_what_a_call_may_use(name, tmp_path):
    kind, load = kind_of_file(FILES / name), READERS.get(name, SequenceTagger.load)
    facts, arrays = read_file(FILES / name, kind)
    facts["parameters"] |= GREEDY
    write_file(tmp_path / "m", facts, arrays, kind)
    found, usual = load(tmp_path / "m").get_params(), load(FILES / name).get_params()
    assert found == usual and found.get("n_jobs") is None and not found["verbose"]


def test_reading_for_a_model_takes_no_limits_from_it(tmp_path):
    """Lines may be as long, and files expand as far, as the call or the default says."""
    from novikoff.cli.inputs import open_for_model, reading_of_model

    facts, arrays = read_file(FILES / "rows-libsvm-unit", "model")
    facts["parameters"] |= {"max_line": 1 << 60, "max_expansion": 1 << 60, "n_jobs": 1000, "skip_lines": 1}
    write_file(tmp_path / "m", facts, arrays, "model")
    model = novikoff.load_model(tmp_path / "m")
    assert reading_of_model(model.parameters) == {"skip_lines": 1}
    facts["parameters"] |= {"max_line": 1, "skip_lines": 0}
    write_file(tmp_path / "m", facts, arrays, "model")
    (tmp_path / "rows.svm").write_text("1 1:0.5 2:0.25\n")
    source = open_for_model(novikoff.load_model(tmp_path / "m"), [str(tmp_path / "rows.svm")], {})
    assert sum(block.n_rows for block in source.blocks()) == 1
    narrow = open_for_model(
        novikoff.load_model(tmp_path / "m"), [str(tmp_path / "rows.svm")], {"max_line": 5}
    )
    with pytest.raises(ValueError, match="max_line"):
        list(narrow.blocks())


# ---- checkpoints -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rows", -1),
        ("rows", "3"),
        ("visited", 2**63 - 1),
        ("heaviest", None),
        ("surveyed", 1),
        ("before", [1]),
        ("before", [1, 2**63]),
        ("began", [[0, "x"]]),
        ("settled_at", [[1]]),
        ("history", [{"mistakes": None, "updates": 1}]),
        ("class_weight", ["a"]),
        ("digest", ["not hexadecimal!", 1]),
        ("digest", ["0" * 16, 2**63]),
        ("weighted", "no"),
        ("parameters", []),
    ],
)
def test_a_forged_checkpoint_is_refused_in_words(name, wrong, tmp_path):
    from support.model_files import see_checkpoint

    facts, arrays = read_file(FILES / "checkpoint", "checkpoint")
    write_file(tmp_path / "m", facts | {name: wrong}, arrays, "checkpoint")
    with pytest.raises(ValueError, match=r"checkpoint\.novikoff: "):
        see_checkpoint(tmp_path / "m")
