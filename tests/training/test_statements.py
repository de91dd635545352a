"""What reports, verdicts and warnings say is true of the weights that they name, in exact fractions."""

import io
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from novikoff import KernelPerceptron, Perceptron, VotedPerceptron, open_source
from support.fraction_lp import is_separable
from support.oracles import z_of

LECTURE = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=float)
LECTURE_Y = np.array([-1, 1, 1, -1, -1, 1])
STRICT = "every row lies strictly on its own side"


def small(seed):
    """Rows with ties, zeros, contradictions and extreme values; two classes or three."""
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(3, 9)), int(rng.integers(1, 4)), 2 + (seed % 3 == 0)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 4 == 1:
        X = np.sign(X) * rng.choice([1.0, 1e300, 5e-324, 1e-160, 0.1], (n, d))
    if seed % 5 == 0:
        X[rng.integers(n)] = 0
    if seed % 7 == 0:
        X[1] = X[0] * rng.choice([1.0, -1.0])
    y = rng.integers(0, classes, n)
    if seed % 2 and classes == 2:
        y = (np.arctan(X) @ rng.standard_normal(d) + 0.3 > 0).astype(int)
    y[0], y[-1] = 0, 1
    return X, y, rng


def margins(weights, X, labels):
    """The smallest difference, per row, of the score of its class to another."""
    found = []
    for x, own in zip(X.tolist(), labels.tolist(), strict=True):
        s = [
            sum((Fraction(a) * Fraction(b) for a, b in zip(w, x, strict=True)), Fraction(c))
            for w, c in zip(weights[0].tolist(), weights[1].tolist(), strict=True)
        ]
        one = s[0] if own else -s[0]
        found.append(one if len(s) == 1 else min(s[own] - v for c, v in enumerate(s) if c != own))
    return found


def said(model):
    return re.search(r"verdict\s+(.*)", str(model.report()))[1]


def estimators(rng):
    how = {
        "ties": str(rng.choice(["positive", "mistake"])),
        "fit_intercept": bool(rng.integers(2)),
        "max_epochs": ["auto", 1, 3][rng.integers(3)],
        "random_state": 0,
    }
    rule = str(rng.choice(["perceptron", "normalized", "margin", "pa", "pa1"]))
    yield Perceptron(rule, average=["auto", True, False][rng.integers(3)], **how)
    yield VotedPerceptron(predict_with=str(rng.choice(["voted", "averaged", "last"])), **how)


@pytest.mark.filterwarnings("ignore:The training rows")
@pytest.mark.parametrize("part", range(4))
def test_every_statement_is_true(part):
    seen = set()
    for seed in range(40 * part, 40 * part + 40):
        X, y, rng = small(seed)
        weight = None if rng.integers(3) else rng.choice([0.0, 1.0, 2.0], len(y))
        if weight is not None and len(np.unique(y[weight > 0])) < len(np.unique(y)):
            weight = None
        for model in estimators(rng):
            try:
                model.fit(X, y, sample_weight=weight)
            except OverflowError:
                continue  # refused: a step of such rows is no float
            kept = slice(None) if weight is None else weight > 0
            A, labels = X[kept], np.searchsorted(model.classes_, y[kept])
            bias = 1.0 if model.fit_intercept else 0.0
            z, _ = z_of({"classes": [str(c) for c in range(len(model.classes_))], "bias": bias}, A, labels)
            last = model._model.coef(averaged=False)
            least = min(margins(last, A, labels))
            assert model.training_errors_ == np.count_nonzero(model.predict(A) != y[kept])
            if model.converged_:
                assert least >= 0
            if model.verdict_ != "undecided":
                assert is_separable(list(z.values())) == (model.verdict_ == "separated")
            if model.verdict_ == "separated":
                assert min(margins(model.witness_, A, labels)) > 0
            text = said(model)
            seen.add(text.partition(":")[0])
            if text.startswith(("separated:", "separated by the last weights:")):
                assert least > 0
            if "get every one of these rows right, but some" in text:
                assert least == 0
            if "no weights put all" in text or "whether any weights get all" in text:
                assert model.training_errors_
            if "those that predict get every one" in text:
                assert not model.training_errors_
    assert {"undecided", "inseparable", "separated"} <= {text.split(" ")[0] for text in seen}


def test_the_means_of_the_lecture_are_not_said_to_separate():
    """w̄ = (2, −2/3) after one epoch has a score of 0 on no row here, but errs on one; the last w on none."""
    how = {"fit_intercept": False, "order": "cyclic"}
    model = Perceptron(average=True, max_epochs=2, **how).fit(LECTURE, LECTURE_Y)
    assert said(model).startswith(f"separated by the last weights: {STRICT}")
    assert "the averaged ones predict" in said(model)
    auto = Perceptron(**how).fit(LECTURE, LECTURE_Y)
    assert auto.predicts_with_ == "last" and said(auto).startswith(f"separated: {STRICT}")


def test_one_class_against_the_rest_is_not_all_classes():
    """Three classes in a line: joint weights separate them, though nothing separates the middle one."""
    X, y = np.array([[-3.0], [-2.5], [0.0], [0.2], [2.5], [3.0]]), [0, 0, 1, 1, 2, 2]
    apart = Perceptron(multiclass="ovr", random_state=0).fit(X, y)
    assert apart.verdict_ == "inseparable" and "some class" in said(apart)
    joint = Perceptron(random_state=0).fit(X, y)
    assert joint.verdict_ == "separated" and said(joint).startswith(f"separated: {STRICT}")


@pytest.mark.filterwarnings("ignore:The training rows")
def test_ties_of_a_kernel_that_were_lifted_are_named():
    lifted = 0
    for seed in range(200):
        X, y, _ = small(seed)
        if np.abs(X).max() > 2 or len(set(y)) > 2 or (X % 1).any():
            continue
        model = KernelPerceptron("linear", fit_intercept=True, random_state=0, predict_with="last").fit(X, y)
        strict = min(np.where(y, 1, -1) * model.decision_function(X)) > 0
        if said(model).startswith("separated:"):
            assert strict
        if model.verdict_ == "separated" and not strict:
            lifted += 1
            assert "raised through the bias" in said(model) and "witness_" not in said(model)
    assert lifted


SCRIPT = """
import io, numpy as np, novikoff
from novikoff.linear import perceptron, voted
perceptron.ask = voted.ask = lambda *rows, **how: None
rng = np.random.default_rng(0)
X = rng.integers(-9, 10, (200, 5)).astype(float)
y = rng.integers(0, 2, 200)
rows = "\\n".join(f"{c} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) for x, c in zip(X, y)) + "\\n"
for seed in range(3):
    novikoff.Perceptron(random_state=seed).fit(X, y)
for seed in range(3):
    source = novikoff.open_source(io.BytesIO(rows.encode()), format="libsvm")
    novikoff.Perceptron(random_state=seed).fit_source(source)
for seed in range(3):
    novikoff.VotedPerceptron(random_state=seed, max_epochs="auto").fit(X, y)
"""


def test_repeated_warnings_are_folded_and_name_the_users_line(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    lines = re.findall(r"script\.py:(\d+): ConvergenceWarning", done.stderr)
    assert len(lines) == len(set(lines)) == 3 and done.stderr.count("ConvergenceWarning") == 3


def test_rows_read_once_say_so():
    class Once(io.BytesIO):
        def seekable(self):
            return False

    source = open_source(Once(b"1 1:1\n0 1:2\n1 1:3\n"), format="libsvm")
    if source.can_reread:
        pytest.skip("this stream can be read again")
    with pytest.warns(ConvergenceWarning, match="were not separated"):
        model = Perceptron().fit_source(source, classes=[0, 1])
    assert "read once" in said(model) and model.training_errors_ is None and not model.witness_
