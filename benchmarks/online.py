"""One example at a time: dicts of features, and single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as Peer

import novikoff
from benchmarks.table import Row, faster, skipped, span
from benchmarks.timing import interleave

EXAMPLES, FEATURES, NAMES = 2000, 20, 1000
AT_LEAST = {"river": 8.0, "Vowpal Wabbit, dict": 5.0, "Vowpal Wabbit, text": 5.0}
LONGEST = 1.5e-6  # seconds for one predict_one and one learn_one


def examples() -> list[tuple[dict[str, float], bool]]:
    rng = np.random.default_rng(0)
    teacher = rng.standard_normal(NAMES)
    found = []
    for _ in range(EXAMPLES):
        chosen, values = rng.choice(NAMES, FEATURES, replace=False), rng.random(FEATURES)
        features = {f"feature_{j}": float(v) for j, v in zip(chosen, values, strict=True)}
        found.append((features, bool(teacher[chosen] @ values > 0)))
    return found


def one_by_one(model: Any, stream: list[tuple[dict[str, float], bool]]) -> Callable[[], object]:
    """river's protocol, which OnlinePerceptron shares."""

    def run() -> None:
        predict_one, learn_one = model.predict_one, model.learn_one
        for x, y in stream:
            predict_one(x)
            learn_one(x, y)

    return run


def vowpal_wabbit(stream: list[tuple[dict[str, float], bool]]) -> dict[str, Callable[[], object]]:
    """One Example per row, made from the dict itself or from a line of text, serves both calls."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--binary --loss_function hinge --quiet")

    def learn(example: Any, label: bool) -> None:
        workspace.predict(example)
        example.set_label_string("1" if label else "-1")
        workspace.learn(example)
        workspace.finish_example(example)

    def from_dict() -> None:
        for x, y in stream:
            learn(workspace.example({"f": x}), y)

    def from_text() -> None:
        for x, y in stream:
            learn(workspace.example("| " + " ".join([f"{name}:{value}" for name, value in x.items()])), y)

    return {"Vowpal Wabbit, dict": from_dict, "Vowpal Wabbit, text": from_text}


def predict_and_learn(repeat: int) -> Iterator[Row]:
    work = f"dict of {FEATURES} features, predict_one + learn_one"
    stream, contenders = examples(), {}
    try:
        contenders["novikoff"] = one_by_one(novikoff.OnlinePerceptron(), stream)
    except AttributeError:
        yield skipped(work, "novikoff has no OnlinePerceptron")
    try:
        from river import linear_model

        contenders["river"] = one_by_one(linear_model.Perceptron(), stream)
    except ImportError as error:
        yield skipped(work, f"river: {error}")
    try:
        contenders |= vowpal_wabbit(stream)
    except ImportError as error:
        yield skipped(work, f"Vowpal Wabbit: {error}")
    times = {name: t.best / EXAMPLES for name, t in interleave(contenders, repeat).items()}
    if (ours := times.pop("novikoff", None)) is None:
        yield from (Row(work, "", name, span(seconds)) for name, seconds in times.items())
        return
    yield Row(work, span(ours), "", "", "", f"≤ {span(LONGEST)}", ours <= LONGEST)
    for name, seconds in times.items():
        yield faster(work, ours, name, seconds, at_least=AT_LEAST[name])


def partial_fit(repeat: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, FEATURES))
    y = (X @ rng.standard_normal(FEATURES) > 0).astype(np.int64)

    def one_row_each(model: Any) -> Callable[[], object]:
        model.partial_fit(X[:1], y[:1], classes=[0, 1])

        def run() -> None:
            for i in range(len(X)):
                model.partial_fit(X[i : i + 1], y[i : i + 1])

        return run

    contenders = {
        "novikoff": one_row_each(novikoff.Perceptron(average=False)),
        "scikit-learn": one_row_each(Peer()),
    }
    times = interleave(contenders, repeat)
    ours, theirs = (times[name].best / len(X) for name in contenders)
    yield faster(f"partial_fit of one row of {FEATURES}", ours, "scikit-learn", theirs, at_least=30)
