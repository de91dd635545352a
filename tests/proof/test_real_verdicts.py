"""Verdicts recorded in docs/separability.md, where the data are at hand; all of them by `make real-data`."""

import re
import sys

import pytest

from novikoff.proof.problem import read_problem
from novikoff.proof.rational import is_relation, to_integers
from novikoff.theory import separability
from support.places import LONG, ROOT

sys.path.insert(0, str(ROOT))
verdicts = pytest.importorskip("benchmarks.verdicts")

LINES = [
    [cell.strip() for cell in line.strip("|\n ").split("|")]
    for line in (ROOT / "docs" / "separability.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [^|]+ \| [\d,]+ × ", line)
]
QUICK = {"mushrooms", "phishing", "a9a.t", "splice", "sms_spam", "ijcnn1.trn"}


def test_every_set_is_in_the_table():
    assert {line[0] for line in LINES} <= set(verdicts.SETS) and {line[0] for line in LINES} >= QUICK


@pytest.mark.parametrize("line", LINES, ids=[line[0] for line in LINES])
def test_recorded(line):
    name, shape, *words = line
    one = verdicts.SETS[name]
    if not verdicts.is_at_hand(one):
        pytest.skip("the data are not at hand")
    if name not in QUICK and not LONG:
        pytest.skip("takes long: make real-data")
    X, y = verdicts.load(one)
    assert shape == f"{X.shape[0]:,} × {X.shape[1]:,}"
    for fit_intercept, recorded in zip((True, False), words, strict=False):
        limit = None if name in QUICK else one.limit  # the suite does not depend on the machine's speed
        verdict = separability(X, y, fit_intercept=fit_intercept, time_limit=limit)
        assert verdict.verdict == recorded.split(";")[0]
        problem = read_problem(X, y, fit_intercept=fit_intercept)
        if verdict.verdict == "inseparable":
            z = problem.signed_rows(verdict.pairs)
            z = z if isinstance(z, type(verdict.pairs)) else z.toarray()
            assert is_relation(to_integers(z), list(verdict.weights))
            assert min(verdict.weights) > 0 and len(verdict.pairs) <= problem.dimension + 1
        elif verdict.verdict == "separable":
            assert problem.smallest(verdict.u).value > 0
