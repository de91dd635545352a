"""The time of the exact checker: on as many vectors as a published certifier, and on real files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import novikoff
from benchmarks.table import Row, skipped, span
from benchmarks.timing import interleave
from novikoff.theory import certify, trace

DATA = Path(os.environ.get("NOVIKOFF_DATA", Path(__file__).parents[2] / "shared" / "data"))
PUBLISHED = "Coq-extracted certifier, as published"
LIMIT = 0.5  # seconds for 3,200 vectors


def verifying(repeat: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    u = rng.normal(size=10)
    X = X[np.abs(X @ u) > 0.1 * np.linalg.norm(u)][:3200]
    y = np.where(X @ u > 0, 1, -1)
    model = novikoff.Perceptron(order="cyclic", average=False, max_epochs=1000).fit(X, y)
    separating = certify(X, y, model)
    run = certify(X, y, trace=trace(X, y, model))
    for what, made in (("a separating model", separating), ("a whole run", run)):
        best = interleave({"novikoff": lambda made=made: made.verify(X, y)}, repeat)["novikoff"].best
        published = (PUBLISHED, "79–84 s", "", f"< {LIMIT} s", best < LIMIT) if made is separating else ()
        yield Row(f"verify {what}, 3,200 × 10, exact", span(best), *published)
    for name in ("mushrooms.txt.xz", "phishing.txt.xz"):
        path = DATA / "libsvm" / name
        if not path.exists():
            yield skipped(f"verdict on {name}", "not at hand")
            continue
        rows = novikoff.load(path)
        made = certify(*rows)
        times = interleave(
            {
                "certify": lambda rows=rows: certify(*rows),
                "verify": lambda made=made, rows=rows: made.verify(*rows),
            },
            repeat,
        )
        kind = made.claims[0]["claim"]
        best = times["certify"].best
        work = f"verdict on {name.split('.')[0]} ({kind}), with certificate"
        yield Row(work, span(best), "its checking", span(times["verify"].best), "", "< 5 s", best < 5)
