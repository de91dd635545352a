"""One object in several threads that learn with it: it is refused, or no update is lost.

Whether an object may be shared is for it to say. That memory stays whole is promised for all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import novikoff
from fuzzers.mutation import Rng, one_of
from support import model_files
from support.children import run_all

X, TWO = np.tile(model_files.X, (30, 1)), np.tile(model_files.TWO, 30)
N = 4  # threads
IN_USE = (RuntimeError, ValueError)  # what an object may say that another thread is using


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.rows = folder / "rows.vw"
        self.rows.write_text("".join(f"{(-1) ** i} |a n{i}:1 m{i % 7}:2\n" for i in range(400)))

    def __call__(self, rng: Rng) -> str:
        ways = (self._partial_fit, self._partial_fit, self._online, self._features, self._tagger)
        acts, check = one_of(rng, ways)(rng)
        refused, errors, start = [], list[BaseException](), threading.Barrier(N)

        def work(act: Callable[[], Any]) -> None:
            start.wait()
            try:
                for _ in range(5):
                    act()
            except IN_USE as error:
                refused.append(error)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(acts[k % len(acts)],)) for k in range(N)]
        run_all(threads)
        if errors:
            raise errors[0]
        if refused:
            return "refused"
        check()
        return "accepted"

    def _partial_fit(self, rng: Rng) -> Any:
        kernel, policy = one_of(rng, ("rbf", "poly")), one_of(rng, ("projectron", "forgetron", "random"))
        model = one_of(
            rng,
            (
                novikoff.Perceptron(average=bool(rng.integers(2))),
                novikoff.VotedPerceptron(),
                novikoff.KernelPerceptron(kernel),
                novikoff.KernelPerceptron(kernel, budget=3, budget_policy=policy),
            ),
        )
        model.partial_fit(X, TWO)

        def use() -> None:
            model.predict(X)
            model.decision_function(X)

        return (lambda: model.partial_fit(X, TWO), use), use

    def _online(self, rng: Rng) -> Any:
        model: Any = one_of(rng, (novikoff.OnlinePerceptron, novikoff.OnlineKernelPerceptron))(
            hash_bits=one_of(rng, (None, 6)), **one_of(rng, ({}, {"classes": ["ham", "spam"]}))
        )
        taught = []

        def learn() -> None:
            for k, (x, y) in enumerate(zip(model_files.DICTS, TWO.tolist(), strict=False)):
                model.learn_one(x | {f"new{k}{len(taught)}": 1.0}, y)
                taught.append(y)

        def check() -> None:
            assert model.n_visits_ == len(taught), (model.n_visits_, len(taught))

        return (learn, lambda: [model.predict_one(x) for x in model_files.DICTS], learn), check

    def _features(self, rng: Rng) -> Any:
        source = novikoff.open_source(self.rows, block_size=int(rng.integers(100, 3000)), n_jobs=2)
        learn = novikoff.Perceptron(max_epochs=2, order="cyclic")
        features = source.features

        def look() -> None:
            for _ in range(20):
                features.names(range(features.n_columns))

        return (lambda: learn.fit_source(source), look), look

    def _tagger(self, rng: Rng) -> Any:
        templates = novikoff.Templates("w[0]\nw[-1]|w[0]\nlower(w[0])", columns=["w"])
        model = novikoff.SequenceTagger(features=templates, max_epochs=2)
        model.partial_fit(model_files.CELLS, model_files.TAGS)

        def use() -> None:
            model.predict(model_files.CELLS)

        return (lambda: model.partial_fit(model_files.CELLS, model_files.TAGS), use), use
