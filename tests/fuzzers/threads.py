"""Several threads at once: each on objects of its own, and all on objects that are only read.

Both must give what one thread gives. Under the thread sanitizer this is the test that they share nothing
which is written to.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff
from fuzzers.mutation import Rng, one_of
from novikoff import theory
from novikoff.data.sources.cache import cached
from support import model_files
from support.children import run_all
from support.lecture import SIX, SIX_Y

X, TWO, THREE = model_files.X, model_files.TWO, model_files.THREE
N = 4  # threads


def learners(rng: Rng) -> Any:
    average, kernel = bool(rng.integers(2)), one_of(rng, ("linear", "poly", "rbf", "laplacian", "cosine"))
    policy = one_of(rng, ("projectron", "projectron++", "forgetron", "oldest", "random"))
    common = {"max_epochs": 4, "random_state": 0}
    return one_of(
        rng,
        (
            novikoff.Perceptron(average=average, **common),
            novikoff.Perceptron("pa1", early_stopping=True, **common),
            novikoff.VotedPerceptron(**common),
            novikoff.Pocket(**common),
            novikoff.Winnow(balanced=True, **common),
            novikoff.KernelPerceptron(kernel, n_jobs=2, **common),
            novikoff.KernelPerceptron(kernel, budget=3, budget_policy=policy, **common),
        ),
    )


class Fuzzer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = folder / "rows.svm"
        self.rows.write_text("\n".join([model_files.ROWS["libsvm"]] * 20) + "\n")
        self.vw = folder / "rows.vw"
        self.vw.write_text(model_files.ROWS["vw"] * 40)

    def __call__(self, rng: Rng) -> str:
        what = one_of(rng, (self._learn, self._learn, self._read, self._online, self._tag, self._theory))
        act = what(rng)
        expected = [act(k) for k in range(N)]
        found: list[Any] = [None] * N
        errors: list[BaseException] = []
        start = threading.Barrier(N)

        def work(k: int) -> None:
            try:
                start.wait()
                found[k] = act(k)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(N)]
        run_all(threads)
        if errors:
            raise errors[0]
        assert found == expected, (found, expected)
        return "same"

    def _learn(self, rng: Rng) -> Callable[[int], Any]:
        """Learning apart from each other, from rows that all read; predicting with one model."""
        import sklearn

        model, y = learners(rng), one_of(rng, (TWO, THREE))
        rows = one_of(rng, (np.tile(X, (20, 1)), sp.csr_array(np.tile(X, (20, 1)))))
        labels = np.tile(y, 20)
        shared = sklearn.clone(model).fit(rows, labels)

        def act(k: int) -> Any:
            mine = sklearn.clone(model).fit(rows, labels)
            scores = shared.decision_function(rows).tolist(), shared.predict(rows).tolist()
            return mine.decision_function(rows).tolist(), *scores, str(shared.n_mistakes_)

        return act

    def _read(self, rng: Rng) -> Callable[[int], Any]:
        """The same files, each thread with a source of its own, which has threads too; and one cache."""
        path, size = one_of(rng, (self.rows, self.vw)), int(rng.integers(50, 2000))
        keep = bool(rng.integers(2))

        def act(k: int) -> Any:
            source = novikoff.open_source(path, block_size=size, n_jobs=3)
            source = cached(source) if keep else source
            model = novikoff.Perceptron(max_epochs=3, order="cyclic").fit_source(source)
            model.save(self.folder / "shared.novikoff")  # all to one path: each writes it whole
            novikoff.load_model(self.folder / "shared.novikoff")
            return model.coef_.tolist(), source.features.names(range(3))

        return act

    def _online(self, rng: Rng) -> Callable[[int], Any]:
        make = one_of(rng, (novikoff.OnlinePerceptron, novikoff.OnlineKernelPerceptron))
        bits = one_of(rng, (None, 5))
        examples, y = model_files.DICTS * 5, TWO.tolist() * 5
        shared = make(hash_bits=bits)
        shared.learn_many(examples, y)

        def act(k: int) -> Any:
            mine = make(hash_bits=bits)
            for x, label in zip(examples, y, strict=True):
                mine.learn_one(x, label)
            return [mine.predict_one(x) for x in examples], [shared.score_one(x) for x in examples]

        return act

    def _tag(self, rng: Rng) -> Callable[[int], Any]:
        cells = bool(rng.integers(2))
        given = model_files.CELLS if cells else model_files.SENTENCES
        features = novikoff.Templates("w[0]\nw[-1]|w[0]\nlower(w[0])", columns=["w"]) if cells else None

        def made() -> Any:
            model = novikoff.SequenceTagger(max_epochs=3, order="cyclic", n_jobs=2)
            return model.set_params(features=features) if cells else model

        shared = made().fit(given * 10, model_files.TAGS * 10)

        def act(k: int) -> Any:
            mine = made().fit(given * 10, model_files.TAGS * 10)
            return (
                mine.predict(given),
                shared.predict(given),
                shared.predict_marginal_scores(given)[0].tolist(),
            )

        return act

    def _theory(self, rng: Rng) -> Callable[[int], Any]:
        def act(k: int) -> Any:
            made = theory.certify(SIX, SIX_Y)
            return (
                made.to_json(),
                theory.radius(X),
                theory.max_margin(SIX, SIX_Y).lower,
            )

        return act
