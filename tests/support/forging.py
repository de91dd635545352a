"""Model files whose claims are far larger than they are, and what using them takes.

`forged` writes one of each of the `FORGERIES`. ``PYTHONPATH=tests python -m support.forging FILE...`` uses
each of them as its reader would and prints, as JSON, by how many bytes the peak of resident memory rose at
each step.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.modelfile.container import kind_of_file, read_file, write_file
from support.places import TESTS

FILES = TESTS / "files" / "0.1.0"
BITS = 28
WIDE = 1 << BITS
SCANNED = 26  # bits where a step looks at every weight, which takes time and no memory


# ---- forging -----------------------------------------------------------------------------------------
def spread(arrays: dict[str, Any], name: str, width: int) -> None:
    """A matrix as its rows, and these far apart."""
    if name in arrays:
        whole = arrays.pop(name)
        arrays[f"{name}.rows"], arrays[f"{name}.values"] = np.arange(len(whole)), whole
    n = len(arrays[f"{name}.rows"])
    if n:
        arrays[f"{name}.rows"] = np.linspace(0, width - 1, n).astype(np.int64)


def numbered(facts: Any, arrays: Any, width: int = WIDE) -> None:
    facts["model"]["n_features"] = width
    if "features" in facts:
        facts["features"] = {"kind": "numbered", "state": {"n_columns": width, "zero_based": False}}
    for name in ("model.weights", "model.weight_sums"):
        if name in arrays or f"{name}.rows" in arrays:
            spread(arrays, name, width)
    if "scaling" in facts:
        facts["scaling"] = {"kind": "unit"}
        arrays["scaling.centre"] = arrays["scaling.scale"] = np.zeros(0)


def narrower(facts: Any, arrays: Any) -> None:
    numbered(facts, arrays, 1 << SCANNED)


def hashed(facts: Any, arrays: Any) -> None:
    numbered(facts, arrays)
    facts["features"] = {"kind": "named", "state": {"hash_bits": BITS, "seed": 0}}
    arrays["features.names"], arrays["features.name_offsets"] = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    arrays["features.name_columns"] = np.zeros(0, np.int64)


def table(facts: Any, arrays: Any) -> None:
    facts["features"]["state"]["vocabulary"]["hash_bits"] = BITS
    facts["model"]["n_features"] = WIDE
    del arrays["features.name_columns"]
    arrays["features.names"], arrays["features.name_offsets"] = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    arrays["features.name_columns"] = np.zeros(0, np.int64)
    spread(arrays, "model.weights", WIDE)


def online(facts: Any, arrays: Any) -> None:
    facts["parameters"]["hash_bits"] = SCANNED
    arrays["names"], arrays["name_offsets"] = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    for name in ("weights", "weight_sums"):
        if name in arrays or f"{name}.rows" in arrays:
            spread(arrays, name, 1 << SCANNED)


def online_kernel(facts: Any, arrays: Any) -> None:
    facts["parameters"]["hash_bits"], facts["learner"]["n_features"] = BITS, WIDE
    indices = arrays["learner.vectors.indices"]
    arrays["learner.vectors.indices"] = indices * (WIDE // 32)


def tagger(facts: Any, arrays: Any, bits: int = BITS) -> None:
    facts["features"]["state"]["hash_bits"] = bits
    for name in ("names", "name_columns"):
        arrays[f"features.{name}"] = arrays.get(f"features.{name}", np.zeros(0, np.uint8))[:0]
    arrays["features.name_offsets"] = np.zeros(1, np.int64)
    arrays["pairs.place"] = np.linspace(0, (1 << bits) - 1, len(arrays["pairs.count"])).astype(np.int64)


def tagger_to_go_on(facts: Any, arrays: Any) -> None:
    """Of which learning reserves, and does not take, a row of labels for every feature."""
    tagger(facts, arrays, 22)


def trees(facts: Any, arrays: Any) -> None:
    facts["problem"]["state"]["hash_bits"], facts["weights"]["size"] = 24, 1 << 24
    spread(arrays, "weights.values", 1 << 24)


def averaged_trees(facts: Any, arrays: Any) -> None:
    trees(facts, arrays)
    facts["parameters"]["average"] = True


def sparse_supports(facts: Any, arrays: Any) -> None:
    part = "dual" if "dual" in facts else "budgeted"
    m = len(arrays[f"{part}.support"])
    facts[part] |= {"n_features": WIDE, "storage": "sparse"}
    facts["features"]["state"]["n_columns"] = WIDE
    del arrays[f"{part}.vectors"]
    arrays |= {
        f"{part}.vectors.data": np.ones(m),
        f"{part}.vectors.indices": np.linspace(0, WIDE - 1, m).astype(np.int64),
        f"{part}.vectors.indptr": np.arange(m + 1),
    }


def counted(facts: Any, arrays: Any) -> None:
    """As many rows, visits and supports as can be said."""
    part = "dual" if "dual" in facts else "budgeted" if "budgeted" in facts else "learner"
    said = facts[part]
    said["n_rows"] = 1 << 40
    for name in ("n_visits", "visits"):
        if name in said:
            said[name] = 1 << 40
    if "budget" in said:
        said["budget"] = facts["parameters"]["budget"] = 1 << 40


def no_supports(facts: Any, arrays: Any) -> None:
    """So many classes that two numbers for each would be gigabytes."""
    facts["budgeted"]["n_classes"] = 1 << 30
    for name in ("alpha", "sums"):
        arrays[f"budgeted.{name}"] = np.zeros((1 << 30, 0))
    for name in ("support", "touched", "basis"):
        arrays[f"budgeted.{name}"] = np.zeros(0, np.int64)
    arrays["budgeted.factor"], arrays["budgeted.vectors"] = np.zeros(0), np.zeros((0, 3))


def many_columns(facts: Any, arrays: Any) -> None:
    facts["dual"]["kernel"]["n_columns"] = facts["features"]["state"]["n_columns"] = 1 << 33


def steep(facts: Any, arrays: Any) -> None:
    part = "dual" if "dual" in facts else "budgeted"
    facts[part]["kernel"]["degree"] = 1 << 30


FORGERIES: dict[str, tuple[str, Callable[[Any, Any], None]]] = {
    "numbered": ("linear-two", numbered),
    "hashed": ("linear-two", hashed),
    "three": ("linear-three", numbered),
    "ovr": ("linear-ovr", narrower),
    "averaged": ("linear-averaged", hashed),
    "averaged-three": ("linear-averaged-three", narrower),
    "table": ("rows-csv-hashed", table),
    "checkpoint": ("checkpoint", numbered),
    "online": ("online-hashed", online),
    "online-three": ("online-three", online),
    "online-one-label": ("online-one-label", online),
    "online-kernel": ("online-kernel-hashed", online_kernel),
    "online-kernel-counts": ("online-kernel-hashed", counted),
    "tagger": ("tagger-averaged-hashed", tagger),
    "tagger-templates": ("tagger-templates", tagger),
    "tagger-goes-on": ("tagger-averaged-hashed", tagger_to_go_on),
    "trees": ("structured-trees", trees),
    "trees-averaged": ("structured-trees", averaged_trees),
    "kernel": ("kernel-poly", sparse_supports),
    "kernel-laplacian": ("kernel-laplacian", sparse_supports),
    "kernel-counts": ("kernel-rbf", counted),
    "kernel-steep": ("kernel-poly", steep),
    "kernel-precomputed": ("kernel-precomputed", many_columns),
    "budget": ("kernel-budget-projectron", sparse_supports),
    "budget-counts": ("kernel-budget-random", counted),
    "budget-classes": ("kernel-budget-three", no_supports),
    "text": ("text", numbered),
}
REFUSED = {"kernel-steep": "smaller gamma or degree", "budget-classes": "expected int64 and (1073741824)"}


def forged(name: str, path: Path) -> None:
    """A file of this name, as its forger made it."""
    base, change = FORGERIES[name]
    if base == "text":
        text = (FILES / base).read_text(encoding="utf-8")
        path.write_text(re.sub(r'(n_features: |"n_columns":)3', rf"\g<1>{WIDE}", text), encoding="utf-8")
        return
    kind = kind_of_file(FILES / base) or ""
    facts, arrays = read_file(FILES / base, kind)
    change(facts, arrays)
    write_file(path, facts, arrays, kind)


# ---- using -------------------------------------------------------------------------------------------
def steps(path: Path) -> Iterator[str]:
    """Use the file as its reader would; the name of each step once it is done. A ValueError ends it."""
    import novikoff
    from novikoff import KernelPerceptron, OnlineKernelPerceptron, OnlinePerceptron, Perceptron
    from novikoff.cli import inspect
    from novikoff.cli.options import Options

    kind, again = kind_of_file(path), path.with_suffix(".again")
    if kind == "checkpoint":
        from novikoff.modelfile import checks
        from novikoff.training import state as training_state

        facts, arrays = read_file(path, kind)
        model = training_state.model_from_state(facts["model"], checks.sub("model", arrays))
        yield "load"
        facts, arrays = training_state.model_state(model, under_way=True)
        yield "save"
    elif kind is None:
        from novikoff.linear.text import from_text, to_text

        read = from_text(path.read_text(encoding="utf-8"))
        yield "load"
        read.predict(one_row(read))
        yield "predict"
        again.write_text(to_text(read), encoding="utf-8")
        yield "save"
    elif kind in ("online", "online kernel"):
        online: Any = (OnlinePerceptron if kind == "online" else OnlineKernelPerceptron).load(path)
        yield "load"
        x, y = {"a": 1.0, "kind": "odd"}, online.classes_
        online.predict_one(x), online.score_one(x)
        yield "predict"
        for label in [*y, y[-1] + y[-1], y[0]]:  # a new class too
            online.learn_one(x, label)
            online.learn_one({"b": -1.0}, label)
        yield "learn"
        online.save(again)
        yield "save"
    elif kind == "tagger":
        tagged: Any = novikoff.SequenceTagger.load(path)
        yield "load"
        sentence = [[["w=the"], ["w=dog"]]] if tagged.features is None else [[("the",), ("dog",)]]
        tagged.predict(sentence)
        yield "predict"
        inspect.inspect.run(Options(model=path, top=5, json=True, trust_patterns=False))
        yield "inspect"
        tagged.save(again)
        yield "save"
        if "goes-on" not in path.name:
            return
        tagged.partial_fit(sentence, [["NOUN", "NOUN"]])
        yield "learn"
        tagged.save(again)
        yield "save again"
    elif kind == "structured":
        structured: Any = novikoff.StructuredPerceptron.load(path)
        yield "load"
        tree = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")]]
        structured.predict(tree)
        yield "predict"
        structured.report().in_full()
        yield "report"
        structured.partial_fit(tree, [[0, 1, 1]])
        yield "learn"
        structured.save(again)
        yield "save"
    else:
        loaded: Any = novikoff.load_model(path)
        yield "load"
        linear = not hasattr(loaded, "dual")
        row = one_row(loaded)
        if row is not None:
            loaded.predict(row)
            yield "predict"
        inspect._lines(loaded, path, 5, verbose=True)
        inspect._facts(loaded, path, 5)
        yield "inspect"
        loaded.save(again)
        yield "save"
        estimator: Any = (Perceptron if linear else KernelPerceptron).load(path)
        yield "load as estimator"
        if row is not None:
            estimator.predict(row)
            estimator.partial_fit(row, estimator.classes_[:1])
            estimator.predict(row)
            yield "learn"
            estimator.report().in_full()
            estimator.save(again)
            yield "save again"


def one_row(model: Any) -> Any:
    """A row of one value, sparse."""
    import scipy.sparse as sp

    d = model.model.n_features if hasattr(model, "model") else model.n_features
    return sp.csr_array(([1.5], [2], [0, 1]), shape=(1, d)) if d <= 2 * WIDE else None


def peak() -> int:
    """Bytes of resident memory at most, so far, of this program."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    raise OSError("no VmHWM in /proc/self/status")


def measured(path: Path) -> dict[str, Any]:
    """By how many bytes the peak rose at each step; with the error that ended them, if one did."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    rose: dict[str, Any] = {}
    before = peak()
    try:
        for step in steps(path):
            rose[step], before = peak() - before, peak()
    except ValueError as error:
        rose["error"] = str(error)
    return rose


if __name__ == "__main__":
    import os
    import warnings

    warnings.simplefilter("ignore")
    answers = os.dup(1)
    os.dup2(2, 1)  # what the steps print is not the answer
    for name in sys.argv[1:]:
        os.write(answers, (json.dumps({Path(name).name: measured(Path(name))}) + "\n").encode())
