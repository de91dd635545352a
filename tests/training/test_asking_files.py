"""What training asks about rows of files, of any number, is what it asks about the same rows in memory."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff import Perceptron, open_source
from novikoff.data.arrays import in_any_order
from novikoff.linear import perceptron
from novikoff.training import streaming


def auto(**options):
    return Perceptron(**{"max_epochs": "auto", "average": "auto", "random_state": 0} | options)


def rows(seed, *, classes=2, noise=0, zeros=0):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((300, 6)).round(2), rng.standard_normal((classes, 6))
    X[rng.random(X.shape) < 0.3] = 0
    y = (X @ W.T).argmax(axis=1)
    y[:noise] = (y[:noise] + 1) % classes
    X[:zeros], y[:zeros] = 0, classes - 1 if classes == 2 else 0
    return X, y


def write(path, X, y, weights=None):
    """As VW text, which has weights."""
    with path.open("w") as file:
        for i, (x, c) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            weight = "" if weights is None else f" {weights[i]:g}"
            pairs = "".join(f" {name}:{value!r}" for name, value in zip("abcdef", x, strict=True))
            file.write(f"{c}{weight} |{pairs}\n")
    return path


def outcome(model):
    run = model._run
    proofs = [(k, p.pairs.tolist(), p.weights) for k, p in run.proofs.items() if p.pairs is not None]
    facts = model.verdict_, model.n_epochs_, model.converged_, model.predicts_with_, run.witness_is
    return (*facts, model.coef_.tobytes(), model.intercept_.tobytes(), model.training_errors_, str(proofs))


CASES = [
    {},
    {"noise": 30},
    {"classes": 3},
    {"classes": 3, "noise": 40},
    {"zeros": 3},  # without a bias: rows that no weights put strictly on a side
    {"zeros": 3, "noise": 40},
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_large_files_give_the_bits_of_arrays(case, weighted, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_ROW_BYTES", 1000)
    kept = tmp_path / "temporary"
    kept.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    X, y = rows(4, **case)
    weights = np.where(np.arange(300) % 7, 1.0, 0.0) if weighted else None
    how = {"fit_intercept": not case.get("zeros")}
    path = write(tmp_path / "rows.vw", X, y, weights)
    source = auto(**how).fit_source(open_source(path))
    array = auto(**how).fit(X, y, sample_weight=weights)
    assert outcome(source) == outcome(array)
    assert not list(kept.iterdir())


def test_nothing_is_left_of_an_interrupted_question(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_ROW_BYTES", 1000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(perceptron, "ask", interrupted)
    model = auto()
    with pytest.raises(KeyboardInterrupt):
        model.fit_source(open_source(write(tmp_path / "rows.vw", *rows(4, noise=30))))
    assert model.n_epochs_ == 10 and model.verdict_ == "undecided"  # the model is usable
    assert not list((tmp_path / "temporary").iterdir())


def test_rows_with_indices_in_any_order_are_asked_about_like_others():
    """Scikit-learn's text vectorizers make such rows."""
    for case in CASES[:4]:
        X, y = rows(5, **case)
        sorted_ = sp.csr_array(X)
        other = sorted_.copy()
        for i in range(len(y)):
            part = slice(other.indptr[i], other.indptr[i + 1])
            other.indices[part], other.data[part] = other.indices[part][::-1], other.data[part][::-1]
        other.has_sorted_indices = False
        assert not getattr(in_any_order(other), "is_sorted", True)
        assert outcome(auto().fit(other, y)) == outcome(auto().fit(sorted_, y)) == outcome(auto().fit(X, y))


SCRIPT = """
import sys
from novikoff.cli import main
try:
    main()
finally:
    print(sorted({m.partition(".")[0] for m in sys.modules} & {"scipy", "sklearn", "threadpoolctl"}))
"""


@pytest.mark.parametrize("case", CASES[:4], ids=str)
def test_the_command_asks_without_scipy(case, tmp_path):
    path = write(tmp_path / "rows.vw", *rows(4, **case))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "fit", str(path), "--model", str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    assert ("inseparable" if "noise" in case else "separated") in done.stdout
    assert done.stdout.rstrip().endswith("[]")
