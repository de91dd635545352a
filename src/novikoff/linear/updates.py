"""A run as the sequence of its updates: all that voting needs, without storing weight vectors.

The hypotheses are w₀ = 0 and w_k = w_{k−1} + τ_k·z_k, rounded as training rounds, where z_k is one of the
distinct rows that caused updates (the supports), and w_k survived c_k visits. Memory: the nonzeros of the
supports, and a few numbers per update.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff import _core
from novikoff.data import state as data_state
from novikoff.data.arrays import UnsortedIndices, in_order, raise_problem, rows_of, with_one_index_width
from novikoff.data.threads import results, threads
from novikoff.modelfile import checks
from novikoff.modelfile.container import Arrays, Facts
from novikoff.training.weights import Floats, Ints

Counts = npt.NDArray[np.int64]

BLOCK = 48  # rows that the native loop takes at a time
CALL_PRODUCTS = 1 << 31  # multiplications per native call: under a second, so that Ctrl-C works


class _Chunk(NamedTuple):
    """The updates that one call of fit or partial_fit added."""

    support: Counts  # row numbers, counted over all calls
    vectors: Any
    used: Counts  # which support each update used
    step: Floats
    label: Ints
    rival: Ints
    visit: Counts  # visits made before each update


class UpdateSequence:
    """The updates of a run with the rows that caused them; grows by `append`."""

    def __init__(self, n_classes: int, bias_square: float) -> None:
        self.n_classes, self.bias_square = n_classes, bias_square
        self.n_rows = self.n_visits = self._n_supports = 0
        self._chunks: list[_Chunk] = []
        self._ready: _core.Hypotheses | None = None

    def append(
        self,
        recorded: tuple[Counts, Ints, Ints, Floats, Counts],
        X: Any,
        n_visits: int,
        factors: Floats | None = None,
    ) -> None:
        """Append the recorded updates of a learner on `X`, which has made `n_visits` visits in all.

        A learner with factors adds τ·y·x times their squares to its weights: these are the vectors kept.
        """
        rows_of(X)  # refuses rows that were damaged since training
        row, label, rival, step, visit = recorded
        row, visit = row.view(np.int64), visit.view(np.int64)  # the core gives "long long"
        rows, first, inverse = np.unique(row, return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        rank = np.empty(len(rows), dtype=np.int64)
        rank[by_first] = np.arange(len(rows))
        support = rows[by_first]
        if self.n_classes == 2:
            step = np.where(label == 1, step, -step)
        if len(row) or not self._chunks:  # without updates only the storage format is needed
            vectors = _in_order(X[support]) if sp.issparse(X) else np.ascontiguousarray(X[support])
            if factors is not None:
                vectors = times(vectors, factors * factors)
            used = rank[inverse] + self._n_supports
            self._chunks.append(_Chunk(support + self.n_rows, vectors, used, step, label, rival, visit))
        self.n_rows += X.shape[0]
        self.n_visits = n_visits
        self._n_supports += len(support)
        self._ready = None

    def turn(self, *, discard: bool) -> None:
        """Make the only class so far the second of two: negate its updates, or discard them."""
        whole = self.whole
        if discard:
            self._n_supports = 0
            self._chunks = [_Chunk._make(part[:0] for part in whole)]
        else:
            self._chunks = [whole._replace(step=-whole.step, label=whole.rival, rival=whole.label)]
        self._ready = None

    @property
    def whole(self) -> _Chunk:
        """All updates so far, in one chunk; joined on demand, so that appending is cheap."""
        if len(self._chunks) > 1:
            parts = list(zip(*self._chunks, strict=True))
            vectors = _join(parts[1])
            self._chunks = [_Chunk(*(vectors if k == 1 else np.concatenate(p) for k, p in enumerate(parts)))]
        return self._chunks[0]

    @property
    def survived(self) -> Counts:
        """c₀ … c_K: the visits that each hypothesis survived, counting the one that created it."""
        return np.diff(self.whole.visit, prepend=0, append=self.n_visits)

    # -- voting --------------------------------------------------------------------------------------
    def votes(self, X: Any, n_jobs: int | None = None) -> Counts:
        """The votes for each row: (n,) for the second of two classes, or (n, n_classes) for each class.

        Each hypothesis votes as the weights held in training would: by the exact sign of w_k·x, or the exact
        argmax.
        """
        n, jobs = X.shape[0], threads(n_jobs)
        out = np.empty((n, 1 if self.n_classes == 2 else self.n_classes), dtype=np.int64)
        rows, hypotheses = rows_of(X), self._hypotheses()
        jobs = 1 if n <= BLOCK else jobs
        calls = (partial(hypotheses.vote, rows, *part, out) for part in self._parts(n, jobs))
        try:
            for outcome in results(calls, jobs):
                raise_problem(*outcome, X)
        except UnsortedIndices:
            return self.votes(in_order(X), n_jobs)
        return out[:, 0] if self.n_classes == 2 else out

    def decide(self, X: Any, n_jobs: int | None = None) -> tuple[Ints, Floats]:
        """The class of each row, and its scores: shares of the votes; for two classes from −1 to 1."""
        votes, visits = self.votes(X, n_jobs), self.n_visits
        if votes.ndim > 1:
            return votes.argmax(axis=1).astype(np.int32), votes / max(visits, 1)
        return (2 * votes >= visits).astype(np.int32), (2 * votes - visits) / max(visits, 1)

    def _hypotheses(self) -> _core.Hypotheses:
        """The hypotheses that vote, made on demand."""
        if self._ready is None:
            whole = self.whole
            updates = whole.used, whole.label, whole.rival, whole.step
            self._ready = _core.Hypotheses(
                rows_of(whole.vectors), self.n_classes, self.bias_square, updates, self.survived
            )
        return self._ready

    def _parts(self, n: int, jobs: int) -> Iterator[tuple[int, int]]:
        """Ranges of rows, one per native call."""
        vectors = self.whole.vectors
        products = (vectors.nnz if sp.issparse(vectors) else vectors.size) + len(self.whole.used)
        size = min(CALL_PRODUCTS // max(products, 1), -(-n // jobs))
        size = max(-(-size // BLOCK), 1) * BLOCK
        return ((begin, min(begin + size, n)) for begin in range(0, n, size))

    # -- files ---------------------------------------------------------------------------------------
    def state(self) -> checks.State:
        """The content of a model file."""
        whole = self.whole
        facts = {"n_rows": self.n_rows, "n_visits": self.n_visits, "n_features": int(whole.vectors.shape[1])}
        arrays = {name: getattr(whole, name) for name in whole._fields if name != "vectors"}
        if sp.issparse(whole.vectors):
            return facts | {"storage": "sparse"}, arrays | data_state.sparse_state("vectors", whole.vectors)
        return facts | {"storage": "dense"}, arrays | {"vectors": whole.vectors}

    @classmethod
    def from_state(cls, facts: Facts, arrays: Arrays, n_classes: int, bias_square: float) -> UpdateSequence:
        """The sequence with this `state`; a ValueError if its parts do not fit together."""
        sequence = cls(n_classes, bias_square)
        sequence.n_rows, sequence.n_visits = checks.count(facts, "n_rows"), checks.count(facts, "n_visits")
        support = checks.array(arrays, "support", np.int64, (None,))
        used = checks.array(arrays, "used", np.int64, (None,))
        m, updates = len(support), len(used)
        data_state.check_numbers(support, sequence.n_rows)
        if updates and not 0 <= used.min() <= used.max() < m:
            raise ValueError(f"the updates name supports that are not from 0 to {m - 1:,}")
        visit = checks.array(arrays, "visit", np.int64, (updates,))
        if updates and (visit[0] < 0 or visit[-1] >= sequence.n_visits or (np.diff(visit) < 0).any()):
            raise ValueError(
                f"the visits of the updates are not increasing numbers below {sequence.n_visits:,}"
            )
        label, rival = (checks.array(arrays, name, np.int32, (updates,)) for name in ("label", "rival"))
        for classes in (label, rival):
            if updates and not 0 <= classes.min() <= classes.max() < n_classes:
                raise ValueError(f"the updates name classes that are not from 0 to {n_classes - 1}")
        if (label == rival).any():
            raise ValueError("an update moves one class against itself")
        shape = m, checks.count(facts, "n_features", 0, checks.LARGEST)
        sparse = checks.choice(facts, "storage", ("dense", "sparse")) == "sparse"
        read = data_state.sparse_from_state if sparse else data_state.dense_from_state
        step = checks.array(arrays, "step", np.float64, (updates,))
        vectors = read(arrays, "vectors", shape)
        if not np.isfinite(vectors.data if sparse else vectors).all():
            raise ValueError("the supports hold NaN or infinity, expected finite numbers")
        sequence._n_supports = m
        sequence._chunks = [_Chunk(support, vectors, used, step, label, rival, visit)]
        return sequence

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_ready": None}


def times(X: Any, factors: Floats) -> Any:
    """The rows with each column multiplied by its factor, as doubles."""
    if not sp.issparse(X):
        return X * factors
    return type(X)((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)


def _in_order(X: Any) -> Any:
    """A copy of CSR rows with sorted indices, duplicates summed, and one index type."""
    return with_one_index_width(in_order(X))


def _join(parts: tuple[Any, ...]) -> Any:
    """The parts stacked, in the storage format of the first; number types widen as needed."""
    if not sp.issparse(parts[0]):
        return np.concatenate([p.toarray() if sp.issparse(p) else p for p in parts])
    kind = type(parts[0])
    joined = sp.vstack([p if sp.issparse(p) else sp.csr_array(p) for p in parts], format="csr")
    return _in_order(kind(joined))
