"""Small files of every kind that novikoff writes, and what is seen in them.

``PYTHONPATH=tests python -m support.model_files`` writes ``tests/files/VERSION`` for the
version at hand: its files and, as ``seen.json``, what is seen in them. That is done once for each version,
when it is released, and never again: every later version must see the same in them
(test_files_of_old_versions.py).
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from novikoff import (
    KernelPerceptron,
    OnlineKernelPerceptron,
    OnlinePerceptron,
    Perceptron,
    Pocket,
    SequenceTagger,
    StructuredPerceptron,
    Templates,
    VotedPerceptron,
    Winnow,
    structured,
    theory,
)
from support.children import run_python
from support.lecture import SIX, SIX_Y
from support.places import TESTS

FOLDER = TESTS / "files"

# Decimals and zeros, in no order that any label follows.
X = np.array(
    [
        *([0.5, -1.25, 3.0], [1.1, 0.0, -2.0], [0.0, 2.7, 1.0], [-1.5, 0.3, 0.0], [2.0, 1.0, 1.0]),
        *([-0.25, -2.0, 0.7], [1.9, -0.6, -1.0], [0.0, 0.0, 2.2], [-3.0, 1.0, -0.1], [0.8, 0.8, 0.8]),
        *([-1.0, -1.0, 0.0], [0.1, 2.0, -3.0]),
    ]
)
TWO = np.array(["ham", "spam"])[[0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1]]
THREE = np.array([7, 3, 5, 7, 3, 7, 3, 5, 5, 3, 7, 5])
BITS = (X > 0.4).astype(np.float64)

ROWS = {  # files, by what reads them
    "libsvm": "\n".join(
        f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
        for x, t in zip(X.tolist(), THREE.tolist(), strict=True)
    ),
    "csv": "label,age,colour,note\n"
    "yes,31.5,red,old friend\nno,12,green,new\nyes,44,red,friend of a friend\nno,9.25,blue,new new\n",
    "vw": "1 |a price:0.5 red |b size:2\n-1 |a price:1.5 green |b size:1\n1 |a price:0.25 blue |b size:3\n",
    "jsonl": '{"label": "x", "features": {"a": 1.5, "b": "red"}}\n{"label": "y", "features": {"a": -1.0}}\n'
    '{"label": "z", "features": {"b": "green", "c": 2}}\n{"label": "x", "features": {"a": 2.5}}\n',
}
DICTS = [{"a": x[0], "b": x[1], "kind": "odd" if x[2] > 0.5 else "even"} for x in X.tolist()]
SENTENCES = [
    [["w=the", "d"], ["w=dog"], ["w=barks"]],
    [["w=cats"], ["w=sleep"]],
    [["w=a", "d"], ["w=cat"], ["w=barks"], ["w=a", "d"], ["w=dog"]],
]
TAGS = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["DET", "NOUN", "VERB", "DET", "NOUN"]]
CELLS = [[(token[0][2:],) for token in sentence] for sentence in SENTENCES]

Seen = dict[str, Any]
Kind = tuple[Callable[[Path], None], Callable[[Path], Seen]]  # how it is written, and what is seen in it


# ---- what is seen ------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(value, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))


def counts(model: Any) -> Seen:
    names = ("n_mistakes_", "n_updates_", "n_epochs_", "converged_", "verdict_", "training_errors_")
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    found["history"] = [{k: v for k, v in r.items() if k != "seconds"} for r in model.history_]
    assert model.report().in_full()
    return found


def see_linear(path: Path, *, X: Any = X, y: Any = TWO) -> Seen:
    model = Perceptron.load(path)
    seen = counts(model) | {"classes": model.classes_, "coef": model.coef_, "intercept": model.intercept_}
    seen |= {"predictions": model.predict(X), "scores": model.decision_function(X)}
    seen["parameters"] = {
        k: v for k, v in model.get_params().items() if k in ("rule", "average", "ties", "C")
    }
    assert (novikoff.load_model(path).predict(X) == model.predict(X)).all()
    model.partial_fit(X[::-1], y[::-1])
    return seen | {"learned on": [model.coef_, model.intercept_, model.n_mistakes_, model.n_updates_]}


def see_rows(path: Path, *, format: str) -> Seen:
    model: Any = novikoff.load_model(path)
    source = novikoff.open_source(io.BytesIO(ROWS[format].encode()), format=format, features=model.features)
    blocks = [(model.predict(block.X), model.scores(block.X)) for block in source.blocks()]
    predictions, scores = (np.concatenate(part) for part in zip(*blocks, strict=True))
    seen = {
        "classes": model.classes,
        "predictions": predictions,
        "scores": scores,
        "weights": model.weights(),
    }
    seen["names"] = model.features.names(range(model.features.n_columns))
    assert model.report.in_full()
    return seen


def see_kernel(path: Path, *, X: Any = X, y: Any = TWO) -> Seen:
    model = KernelPerceptron.load(path)
    seen = counts(model) | {"classes": model.classes_, "support": model.support_}
    seen |= {"alpha": np.atleast_2d(model.dual_coef_), "n_visits": model.n_visits_}
    seen |= {"predictions": model.predict(X), "scores": model.decision_function(X)}
    assert (novikoff.load_model(path).predict(X) == model.predict(X)).all()
    if model.kernel != "precomputed":
        model.partial_fit(X[::-1], y[::-1])
        seen["learned on"] = [np.atleast_2d(model.dual_coef_), model.support_, model.n_mistakes_]
    return seen


def see_estimator(path: Path, *, cls: Any, y: Any = TWO) -> Seen:
    """An estimator whose model differs from that of `Perceptron`."""
    model = cls.load(path)
    names = ("n_mistakes_", "n_updates_", "training_errors_", "n_promotions_", "survived_", "risk_")
    seen = {name: getattr(model, name) for name in names if hasattr(model, name)}
    seen |= {"classes": model.classes_, "coef": model.coef_, "intercept": model.intercept_}
    seen |= {"predictions": model.predict(BITS), "scores": model.decision_function(BITS)}
    loaded: Any = novikoff.load_model(path)
    assert (loaded.predict(BITS) == model.predict(BITS)).all()
    assert (loaded.scores(BITS) == model.decision_function(BITS)).all()
    if hasattr(model, "partial_fit"):
        model.partial_fit(BITS[::-1], y[::-1])
        seen["learned on"] = [model.coef_, model.intercept_, model.n_mistakes_, model.predict(BITS)]
    return seen


def see_online(path: Path, *, cls: Any = OnlinePerceptron, examples: Any = DICTS, y: Any = None) -> Seen:
    """With `y` also what comes of learning on."""
    model = cls.load(path)
    names = ("classes_", "n_visits_", "n_mistakes_", "n_updates_", "n_features_in_")
    seen = {name: getattr(model, name) for name in names}
    seen["predictions"] = [model.predict_one(x) for x in examples]
    seen["scores"] = [list(s.values()) if isinstance(s, dict) else s for s in map(model.score_one, examples)]
    if hasattr(model, "coef_"):
        seen |= {"coef": model.coef_, "intercept": model.intercept_}
    if y is not None:
        model.learn_many(examples[::-1], y[::-1].tolist())
        learned = [model.predict_one(x) for x in examples]
        seen["learned on"] = [learned, model.n_mistakes_, model.n_updates_, model.n_visits_]
    return seen


def see_tagger(path: Path, *, sentences: Any = SENTENCES) -> Seen:
    model = SequenceTagger.load(path)
    seen = counts(model) | {"classes": model.classes_, "predictions": model.predict(sentences)}
    seen |= {"features": sorted(model.top_features(n=99)), "transitions": sorted(model.top_transitions(n=99))}
    seen["margins"] = [margins.tolist() for margins in model.predict_marginal_scores(sentences)]
    model.partial_fit(sentences[::-1], TAGS[::-1])
    return seen | {"learned on": [model.n_mistakes_, model.n_updates_, model.predict(sentences)]}


def see_structured(path: Path, *, examples: Any, outputs: Any) -> Seen:
    model = StructuredPerceptron.load(path)
    loaded: Any = novikoff.load_model(path)
    seen = counts(model) | {"predictions": model.predict(examples), "scores": loaded.scores(examples)}
    model.partial_fit(examples[::-1], outputs[::-1])
    return seen | {"learned on": [model.n_mistakes_, model.n_updates_, model.predict(examples)]}


def see_text(path: Path) -> Seen:
    from novikoff.linear.text import from_text

    model = from_text(path.read_text(encoding="utf-8"))
    return {"classes": model.classes, "weights": model.weights(), "predictions": model.predict(X)}


def see_certificate(path: Path, *, X: Any = X, y: Any = TWO) -> Seen:
    certificate = theory.read_certificate(path)
    assert certificate.verify(X, y)
    return {"claims": [claim["claim"] for claim in certificate.claims]}


def see_checkpoint(path: Path) -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "checkpoint.novikoff")
        learned = _stream(Path(folder))
    (learner,) = learned.model.learners
    return {"weights": learned.model.coef(averaged=True), "visits": learner.native.visits}


# ---- how it is written -------------------------------------------------------------------------------
def linear(y: Any = TWO, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        Perceptron(**{"order": "cyclic", "max_epochs": 5, "random_state": 0} | parameters).fit(X, y).save(
            path
        )

    return write, partial(see_linear, y=y)


def linear_from_given_weights(path: Path) -> None:
    model = Perceptron(order="cyclic", max_epochs=3)
    model.fit(
        X, TWO, coef_init=[[0.5, -0.5, 0.25]], intercept_init=[0.1], sample_weight=np.arange(12) % 3
    ).save(path)


def frozen(path: Path) -> None:
    model = OnlinePerceptron(average=True, classes=["ham", "spam"])
    model.learn_many([dict(zip("abc", x, strict=True)) for x in X.tolist()], TWO.tolist())
    model.freeze().save(path)


def command(format: str, *options: str) -> Kind:
    """What ``novikoff fit`` writes."""

    def write(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder, f"rows.{format}")
            data.write_text(ROWS[format])
            fit = ("-m", "novikoff", "fit", data, "--model", path, "--quiet", "--epochs", 3)
            run_python(*fit, *options)

    return write, partial(see_rows, format=format)


def kernel(name: str = "rbf", X: Any = X, y: Any = TWO, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        KernelPerceptron(name, **{"order": "cyclic", "max_epochs": 4} | parameters).fit(X, y).save(path)

    return write, partial(see_kernel, X=X, y=y)


def online(y: Any = TWO, *, n: int = 12, goes_on: bool = True, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        model = OnlinePerceptron(**parameters)
        model.learn_many(DICTS[:n] * 2, y[:n].tolist() * 2)
        model.save(path)

    return write, partial(see_online, y=y if goes_on else None)


def online_kernel(y: Any = TWO, *, arrays: bool = False, **parameters: Any) -> Kind:
    examples = list(X) if arrays else DICTS

    def write(path: Path) -> None:
        model = OnlineKernelPerceptron(**{"random_state": 0} | parameters)
        model.learn_many(examples * 2, y.tolist() * 2)
        model.save(path)

    return write, partial(see_online, cls=OnlineKernelPerceptron, examples=examples, y=y)


def tagger(sentences: Any = SENTENCES, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        SequenceTagger(order="cyclic", max_epochs=6, **parameters).fit(sentences, TAGS).save(path)

    return write, partial(see_tagger, sentences=sentences)


def structure(problem: Any, examples: Any, outputs: Any, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        StructuredPerceptron(problem, order="cyclic", **parameters).fit(examples, outputs).save(path)

    return write, partial(see_structured, examples=examples, outputs=outputs)


def estimator(cls: Any, y: Any = TWO, **parameters: Any) -> Kind:
    def write(path: Path) -> None:
        cls(**{"random_state": 0, "max_epochs": 5} | parameters).fit(BITS, y).save(path)

    return write, partial(see_estimator, cls=cls, y=y)


def as_text(path: Path) -> None:
    from novikoff.linear.text import to_text

    model = Perceptron(order="cyclic", average=True, max_epochs=4).fit(X, THREE)
    path.write_text(to_text(model.to_linear()), encoding="utf-8")


def certificate(make: Callable[[], Any], X: Any = X, y: Any = TWO) -> Kind:
    return lambda path: make().save(path), partial(see_certificate, X=X, y=y)


def _stream(folder: Path, watch: Any = None) -> Any:
    from novikoff.data.labels import StreamClasses
    from novikoff.training import streaming
    from novikoff.training.checkpoint import Checkpoint
    from novikoff.training.plan import Plan
    from novikoff.training.weights import Settings

    data = folder / "rows.svm"
    data.write_text(ROWS["libsvm"])
    source = novikoff.open_source(data, block_size=60, n_jobs=1)
    how = {"rule": "perceptron", "average": True}
    keep, plan = Checkpoint(folder, how, every=5), Plan(max_epochs=3, order="cyclic")
    settings = Settings(average=True)
    return streaming.fit(
        source, StreamClasses(), settings, plan, watch=watch, checkpoint=keep, scale="standard"
    )


class Stop(Exception):
    pass


def checkpoint(path: Path) -> None:
    blocks = []

    def stop(progress: Any) -> None:
        blocks.append(progress)
        if len(blocks) > 12 and (Path(folder) / "checkpoint.novikoff").exists():
            raise Stop

    with tempfile.TemporaryDirectory() as folder:
        try:
            _stream(Path(folder), stop)
        except Stop:
            shutil.copy(Path(folder) / "checkpoint.novikoff", path)


RANKED = [np.array([[3.0, 1], [1, 1], [2, 0]]), np.array([[0.0, 1], [4, 2], [2, 2]])]
PAIRED = [-np.abs(np.array([3.0, 8, 5])[:, None] - np.array([6.0, 4, 8]))[:, :, None]]
PARSED = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")], [("dogs", "NN"), ("see", "VB"), ("cats", "NN")]]
POLICIES = ("projectron", "projectron++", "forgetron", "oldest", "random")

KINDS: dict[str, Kind] = {
    "linear-two": linear(),
    "linear-without-bias": linear(fit_intercept=False, ties="mistake"),
    "linear-three": linear(THREE),
    "linear-ovr": linear(THREE, multiclass="ovr"),
    "linear-averaged": linear(average=True, intercept_scaling=2.0),
    "linear-averaged-three": linear(THREE, average=True),
    "linear-normalized": linear(rule="normalized"),
    "linear-margin": linear(rule="margin", margin=0.5),
    "linear-pa": linear(rule="pa"),
    "linear-pa1": linear(THREE, rule="pa1", C=0.5),
    "linear-pa2": linear(rule="pa2", C=2.0, class_weight={"spam": 2.0}),
    "linear-shuffled": linear(THREE, order="shuffle", early_stopping=True, validation_fraction=0.25),
    "linear-from-given-weights": (linear_from_given_weights, see_linear),
    "linear-frozen": (frozen, see_linear),
    "voted-two": estimator(VotedPerceptron),
    "voted-three": estimator(VotedPerceptron, THREE, rule="pa1"),
    "voted-averaged": estimator(VotedPerceptron, predict_with="averaged"),
    "pocket-two": estimator(Pocket),
    "pocket-three": estimator(Pocket, THREE, ratchet=False),
    "winnow-two": estimator(Winnow),
    "winnow-three": estimator(Winnow, THREE, threshold=1.5, eliminate=True),
    "winnow-balanced": estimator(Winnow, alpha=1.5, balanced=True),
    "rows-libsvm-standard": command("libsvm", "--scale", "standard", "--average"),
    "rows-libsvm-maxabs": command("libsvm", "--scale", "maxabs"),
    "rows-libsvm-unit": command("libsvm", "--scale", "unit"),
    "rows-csv": command("csv", "--text", "note"),
    "rows-csv-hashed": command("csv", "--hash-bits", "6"),
    "rows-vw": command("vw"),
    "rows-jsonl": command("jsonl", "--average"),
    **{f"kernel-{name}": kernel(name) for name in ("linear", "poly", "rbf", "laplacian", "cosine")},
    "kernel-chi2": kernel("chi2", np.abs(X)),
    "kernel-monotone_conjunction": kernel("monotone_conjunction", BITS),
    "kernel-precomputed": kernel("precomputed", X @ X.T),
    "kernel-three": kernel(y=THREE, predict_with="averaged", fit_intercept=True, gamma=0.5),
    "kernel-joint": kernel("poly", y=THREE, multiclass="joint", predict_with="last", degree=2),
    **{
        f"kernel-budget-{policy}": kernel(budget=4, budget_policy=policy, random_state=0)
        for policy in POLICIES
    },
    "kernel-budget-three": kernel(y=THREE, budget=5, multiclass="joint", predict_with="last"),
    "online": online(),
    "online-three": online(THREE, average=True, rule="pa1"),
    "online-declared": online(THREE, classes=[7, 3, 5], fit_intercept=False),
    "online-hashed": online(hash_bits=5, seed=3, rule="margin", margin=0.5),
    "online-one-label": online(np.array(["ham"] * 12), n=3, goes_on=False),
    "online-kernel": online_kernel(),
    "online-kernel-averaged": online_kernel(THREE, predict_with="averaged", multiclass="joint"),
    "online-kernel-hashed": online_kernel(kernel="poly", hash_bits=5, budget=4),
    **{f"online-kernel-{p}": online_kernel(arrays=True, budget=3, budget_policy=p) for p in POLICIES},
    "tagger": tagger(),
    "tagger-averaged-hashed": tagger(average=True, hash_bits=6),
    "tagger-templates": tagger(CELLS, features=Templates("w[0]\nw[-1]|w[0]", columns=["w"]), average=True),
    "structured-multiclass": structure(structured.Multiclass(), list(SIX), [0, 1, 2, 0, 0, 2], max_epochs=9),
    "structured-chains": structure(structured.Chains(), SENTENCES, TAGS, average=True),
    "structured-ranking": structure(structured.Ranking(), RANKED, [[0, 2, 1], [1, 2, 0]]),
    "structured-matching": structure(structured.Matching(), PAIRED, [[1, 2, 0]]),
    "structured-trees": structure(structured.DependencyTrees(hash_bits=10), PARSED, [[2, 3, 0], [2, 0, 2]]),
    "text": (as_text, see_text),
    "certificate-separable": certificate(lambda: theory.certify(SIX, SIX_Y), SIX, SIX_Y),
    "certificate-inseparable": certificate(lambda: theory.certify(SIX, THREE[:6]), SIX, THREE[:6]),
    "certificate-errors": certificate(
        lambda: theory.certify(X, THREE, Perceptron(order="cyclic", max_epochs=1).fit(X, THREE)), y=THREE
    ),
    "certificate-run": certificate(
        lambda: theory.certify(SIX, SIX_Y, trace=theory.trace(SIX, SIX_Y, fit_intercept=False)), SIX, SIX_Y
    ),
    "certificate-kernel": certificate(
        lambda: theory.certify(SIX, SIX_Y, KernelPerceptron("poly", order="cyclic").fit(SIX, SIX_Y)),
        SIX,
        SIX_Y,
    ),
    "checkpoint": (checkpoint, see_checkpoint),
}


def write_all(folder: Path) -> None:
    """Every kind into a folder that is not there yet, and what is seen in them."""
    folder.mkdir(parents=True)
    seen = {}
    for name, (write, see) in KINDS.items():
        write(folder / name)
        seen[name] = plain(see(folder / name))
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in seen.items())
    (folder / "seen.json").write_text("{\n" + text + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_all((Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / novikoff.__version__)
