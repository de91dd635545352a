"""What a check costs is limited by its work, not by the size of what asks for it.

Steps are counted, not timed; a child that checks hostile certificates may have little memory besides what it
had before it saw them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from novikoff import checker
from novikoff.checker import Refused, TooMuchWork
from novikoff.theory import certify
from support.children import run_python
from support.commands import run
from support.costly_certificates import SIXTY, certificate, long_numbers, steep


# ---- refused before it is done -------------------------------------------------------------------------
def test_a_small_certificate_that_asks_for_large_powers_is_not_decided():
    content = steep()
    assert len(json.dumps(content, separators=(",", ":"))) < 720
    with pytest.raises(TooMuchWork, match=r"claim 1 \(kernel separable\): too much work: \d{9,} steps"):
        checker.verify(content, SIXTY)
    with pytest.raises(Refused, match="margin below"):  # a false claim, once it can be looked at
        checker.verify(steep(3, 1.0), SIXTY)


def test_long_whole_numbers_are_counted_by_their_length():
    content, rows = long_numbers()
    with pytest.raises(TooMuchWork, match="max-work"):
        checker.verify(content, rows)


def test_all_claims_share_one_limit():
    X, y = np.array([[2.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    content = certify(X, y).content
    beside = checker.Checker(content, checker.Data(X, y))
    content["claims"] = content["claims"][:1]
    beside.separable(content["claims"][0])
    assert 0 < beside.work < 1000
    assert len(checker.verify(content, (X, y), beside.work)) == 1
    with pytest.raises(TooMuchWork):
        checker.verify(content, (X, y), beside.work - 1)
    content["claims"] *= 2
    with pytest.raises(TooMuchWork, match="claim 2"):
        checker.verify(content, (X, y), 2 * beside.work - 1)
    assert len(checker.verify(content, (X, y), 2 * beside.work)) == 2


def test_work_grows_with_what_is_done():
    """Twice the rows, or numbers twice as long, are at least twice the work."""

    def work(n, gamma, degree):
        X, y = np.arange(1.0, n + 1)[:, None], np.arange(n) % 2
        kernel = {"name": "poly", "gamma": gamma, "coef0": 1.0, "degree": degree}
        claim = {"kernel": kernel, "rows": [0, 1], "alpha": [[1, 1]]}
        beside = checker.Checker(certificate((X, y), claim), checker.Data(X, y))
        beside.dual(claim)
        return beside.work

    assert work(80, 1.0, 2) > 1.9 * work(40, 1.0, 2)
    assert work(40, 5e-324, 200) > 2 * work(40, 5e-324, 100) > 100 * work(40, 1.0, 2)


# ---- memory ----------------------------------------------------------------------------------------------
CHILD = """
import resource
from pathlib import Path
from novikoff import checker
from support import costly_certificates as here
cases = [(here.steep(), here.SIXTY), here.long_numbers()]
for claim in (here.RUN, here.AT_MOST):
    for column in (10**6, 10**17):
        rows = here.wide(column=column)
        cases.append((here.many_classes(rows, claim), rows))
status = Path("/proc/self/status").read_text().splitlines()
(used,) = (int(line.split()[1]) for line in status if "VmSize" in line)
resource.setrlimit(resource.RLIMIT_AS, ((used << 10) + (100 << 20),) * 2)
for content, rows in cases:
    try:
        print("verified", *checker.verify(content, rows))
    except checker.Refused as error:
        print(type(error).__name__, error)
"""


def test_hostile_certificates_need_little_memory():
    """100 MB: for each class and column of the widest there would be 1.2 GB, or a million times as much."""
    said = run_python("-c", CHILD).stdout.splitlines()
    assert [line.split()[0] for line in said[:2]] == ["TooMuchWork", "TooMuchWork"]
    assert said[2].startswith("Refused claim 1 (run): coef must have 1000000 columns")
    assert said[3].startswith("Refused claim 1 (run): coef must have 100000000000000000 columns")
    assert said[4:] == ["verified margin at most 1000000000.0"] * 2


def test_long_rows_among_short_ones_are_looked_at_in_parts(monkeypatch):
    """However the rows lie: the same signs."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (40, 30)) * (rng.random((40, 30)) < rng.choice([0.02, 1.0], (40, 1)))
    y = rng.integers(0, 3, 40)
    beside = checker.Checker(certificate((X, y), {}, ("0", "1", "2")), checker.Data(X, y))
    w = checker.Weights(rng.integers(-3, 4, (3, beside.data.width)).astype(object), 0)
    whole = beside.signs(w, np.arange(40), beside.y)
    for entries in (1, 7, 100):
        monkeypatch.setattr(checker, "ENTRIES", entries)
        np.testing.assert_array_equal(beside.signs(w, np.arange(40), beside.y), whole)


# ---- what is said ------------------------------------------------------------------------------------------
def test_the_commands_say_that_it_is_not_decided(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:2\n1 1:1\n0 1:-1\n")
    run("certify", "rows.svm", "--output", "rows.json")
    said = run("verify", "rows.json", "rows.svm", "--max-work", 1, code=1).stdout
    assert said.startswith("not decided: claim 1 (separable): too much work") and "--max-work" in said
    told = json.loads(run("verify", "rows.json", "rows.svm", "--max-work", 1, "--json", code=1).stdout)
    assert told["verified"] is None and "too much work" in told["reason"]
    assert run("verify", "rows.json", "rows.svm", "--max-work", 10**6).stdout.startswith("verified")
    alone = ("-m", "novikoff.checker", "rows.json", "rows.svm")
    assert run_python(*alone, "--max-work=1", code=1).stderr.startswith("not decided: ")
    assert run_python(*alone, "--max-work=1000000").stdout.startswith("verified")
    for wrong in ("--max-work", "--max-work=x", "--more"):
        assert "expected the arguments" in run_python(*alone, wrong, code=1).stderr


def test_certificates_can_be_verified_with_more_work():
    X, y = np.array([[2.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    made = certify(X, y)
    with pytest.raises(TooMuchWork):
        made.verify(X, y, max_work=1)
    assert made.verify(X, y) == list(made.said)
