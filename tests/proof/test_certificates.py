"""What `certify` claims, and the two commands."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import novikoff
from novikoff import Perceptron, checker
from novikoff.checker import Refused
from novikoff.proof import certificates
from novikoff.proof.verdicts import Undecided
from novikoff.theory import certify, read_certificate, trace
from support.commands import run
from support.marks import may_not_separate
from support.places import at_hand

VERIFIED = "verified, each number in the file read as the nearest double:"
SIX = np.array([[2.0, 1], [1, 2], [1, 1], [-1, -2], [-2, -1], [-1, -1]])
SIX_LABELS = np.array([1, 1, 1, -1, -1, -1])


def kinds(certificate):
    return [claim["claim"] for claim in certificate.claims]


def test_separable_rows_have_their_margin_between_two_numbers():
    """The z nearest to the origin is (1, 1), and the others lie beyond the line through it: γ = √2."""
    made = certify(SIX, SIX_LABELS, fit_intercept=False)
    assert kinds(made) == ["separable", "margin at most"]
    lower, upper = made.claims[0]["gamma"], made.claims[1]["epsilon"]
    assert lower <= np.sqrt(2) <= upper and upper - lower <= 1e-3 * upper
    assert made.verify(sp.csr_array(SIX), SIX_LABELS.astype(str)) == list(made.said)


def test_three_classes_that_only_pairs_can_be_told_apart():
    """Pairwise separable, but not jointly."""
    X = np.array([[0.0, 0], [2, 1], [1, 1], [0, 4], [4, 0], [1, 2]])
    made = certify(X, list("AABBCC"))
    assert kinds(made) == ["inseparable"] and set(made.claims[0]) == {"claim", "rows", "rivals", "weights"}
    assert made.verify(X, list("AABBCC"))


def test_a_limit_leaves_an_upper_bound(monkeypatch):
    def decide(problem, **options):
        return Undecided(-1.0, np.inf, np.zeros(problem.n_rows), "interrupted", interrupted=True)

    monkeypatch.setattr(certificates, "decide", decide)
    made = certify(SIX, SIX_LABELS, fit_intercept=False)
    assert kinds(made) == ["margin at most"] and made.interrupted
    assert made.claims[0]["epsilon"] == pytest.approx(np.sqrt(2))  # the shortest row alone


@may_not_separate
def test_models_of_any_make_and_their_errors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    for model in (LogisticRegression().fit(X, y), Perceptron(max_epochs=3).fit(X, y)):
        made = certify(X, y, model)
        assert kinds(made) == ["errors"]
        assert made.claims[0]["errors"] == np.count_nonzero(model.predict(X) != y)
    made = certify(SIX, SIX_LABELS, Perceptron().fit(SIX, SIX_LABELS))
    assert kinds(made) == ["errors", "separable"]
    assert made.said[0] == "the model makes exactly 0 errors"


def test_a_tie_is_counted_by_its_rule():
    class Flat:
        coef_, intercept_, classes_ = np.zeros((3, 2)), np.zeros(3), np.array([1, 2, 3])

    X, y = np.ones((3, 2)), [1, 2, 3]
    assert certify(X, y, Flat()).claims[0]["errors"] == 2  # the first class wins
    assert certify(X, y, Flat(), ties="mistake").claims[0]["errors"] == 3


def test_models_that_cannot_be_certified():
    with pytest.raises(ValueError, match="pass a fitted linear model"):
        certify(SIX, SIX_LABELS, object())
    with pytest.raises(ValueError, match="the model knows 0, 1"):
        certify(SIX, SIX_LABELS, Perceptron().fit(SIX, SIX_LABELS > 0))
    with pytest.raises(ValueError, match="need \\(1, 2\\)"):
        certify(SIX, SIX_LABELS, Perceptron().fit(SIX[:, :1], SIX_LABELS))


@pytest.mark.parametrize("ties", ["positive", "mistake"])
@pytest.mark.parametrize("order", ["cyclic", "shuffle"])
def test_a_run_keeps_its_bound(ties, order):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) * 0.1
    y = np.where(X @ [1.0, -2, 0.5, 0] > 0.01, 1, -1)
    u = certify(X, y).claims[0]
    run = trace(X, y, (np.array(u["coef"]), np.array(u["intercept"])), ties=ties, order=order, random_state=0)
    made = certify(X, y, trace=run)
    claim = made.claims[0]
    assert kinds(made) == ["run"] and claim["updates"] == run.visit.tolist()
    assert claim["epsilon"] < 1e-12 and len(claim["updates"]) * claim["gamma"] ** 2 <= run.radius**2 + 1e-12


def test_a_run_with_rounding_is_allowed_for_and_no_more():
    """With ε > 0 an update has W·z ≤ ε, and every other visit W·z ≥ −ε."""
    X = np.array([[0.1, 1.0], [0.1, 1.0], [0.1, 1.0], [1.0, 0.0]])
    content = certify(X, [1, 1, 1, -1], fit_intercept=False).content
    claim = {name: content["claims"][0][name] for name in ("coef", "intercept", "gamma")}
    run = {"claim": "run", "order": "cyclic", "visits": 4, "updates": [0, 3], "rivals": []} | claim
    strict = content | {"ties": "mistake"}

    def verified(epsilon, **other):
        return checker.verify(strict | {"claims": [run | other | {"epsilon": epsilon}]}, (X, [1, 1, 1, -1]))

    assert verified(0.0)  # exact: an update at the start, then the negative row
    with pytest.raises(Refused, match="visit 0, of row 0, is a mistake"):
        verified(0.0, updates=[3])
    assert verified(1e-9, updates=[0, 3])
    with pytest.raises(Refused, match="visit 1, of row 1, is listed as an update, but is not one"):
        verified(1e-9, updates=[0, 1, 3])  # W·z = 1.01 there
    with pytest.raises(Refused, match="visit 3, of row 3, is a mistake, but not among the updates"):
        verified(1e-9, updates=[0])


def test_runs_of_which_no_certificate_can_speak():
    run = trace(SIX, SIX_LABELS, np.array([1.0, 1.0, 0.0]), rule="normalized")
    with pytest.raises(ValueError, match="possible for 'perceptron' only"):
        certify(SIX, SIX_LABELS, trace=run)
    run = trace(SIX, SIX_LABELS, np.array([1.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="made on 6 rows"):
        certify(SIX[:4], SIX_LABELS[:4], trace=run)


def test_saving_is_exact(tmp_path):
    made = certify(SIX * 0.1, SIX_LABELS)
    made.save(tmp_path / "c.json")
    assert read_certificate(tmp_path / "c.json").content == made.content
    assert list(tmp_path.iterdir()) == [tmp_path / "c.json"]
    (tmp_path / "c.json").write_text("[]")
    with pytest.raises(Refused, match="does not hold a certificate"):
        read_certificate(tmp_path / "c.json")


# ---- commands ----------------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k:+d} 1:{x[0]:g} 2:{x[1]:g}" for x, k in zip(SIX, SIX_LABELS, strict=True)]
    Path("six.svm").write_text("\n".join(rows) + "\n")
    cells = [f"{x[0]:g},{x[1]:g},{k}" for x, k in zip(SIX, SIX_LABELS, strict=True)]
    Path("six.csv").write_text("\n".join(["a,b,label", *cells]) + "\n")
    return tmp_path


def test_commands_certify_and_verify(folder):
    assert "separable, with margin at least" in run("certify", "six.svm", "-o", "c.json").stdout
    for data in ("six.svm", "six.csv"):  # the same rows
        assert run("verify", "c.json", data).stdout.startswith(f"{VERIFIED}\n  separable")
    said = json.loads(run("verify", "c.json", "six.csv", "--json").stdout)
    assert said["verified"] and said["converted"] == ""
    Path("six.svm").write_text(Path("six.svm").read_text().replace("2", "3", 1))
    refused = run("verify", "c.json", "six.svm", code=1).stdout
    assert refused == "refused: the certificate is for other data: the digests differ\n"
    assert not json.loads(run("verify", "c.json", "six.svm", "--json", code=1).stdout)["verified"]


@pytest.mark.parametrize(
    "name", ["six.vw", "six.jsonl", "six.parquet", "six.tsv", "six.svm.gz", "six.svm.zst"]
)
def test_every_format_can_be_verified(folder, name):
    run("convert", "six.svm", name)
    run("certify", name, "-o", "c.json", "--quiet")
    done = run("verify", "c.json", name)
    assert done.stdout.startswith(VERIFIED)
    assert "converted" in done.stderr


def test_a_table_with_words_is_converted_first(folder):
    Path("t.csv").write_text("colour,size,label\nred,1,yes\nblue,2,no\nred,3,yes\n")
    run("certify", "t.csv", "-o", "c.json")
    assert "converted by novikoff" in run("verify", "c.json", "t.csv").stderr


def test_commands_with_a_model(folder):
    run("fit", "six.svm", "--model", "m.novikoff", "--quiet")
    assert "exactly 0 errors" in run("certify", "six.svm", "--model", "m.novikoff", "-o", "c.json").stdout
    assert run("verify", "c.json", "six.svm").stdout.count("\n") == 3
    Path("wide.svm").write_text(Path("six.svm").read_text().replace("\n", " 7:1\n", 1))
    Path("narrow.svm").write_text("+1 1:1\n-1 1:-1\n")
    for data in ("wide.svm", "narrow.svm"):  # more columns than the model has, or fewer
        assert "errors" in run("certify", data, "--model", "m.novikoff", "-o", "c.json").stdout
        run("verify", "c.json", data)
    run("fit", "six.csv", "--scale", "standard", "--model", "s.novikoff", "--quiet")
    assert "scales rows" in run("certify", "six.csv", "--model", "s.novikoff", "-o", "c.json", code=1).stderr


def test_the_command_certifies_a_run(folder):
    assert "1 updates" in run("certify", "six.svm", "--run", "-o", "c.json", "--no-intercept").stdout
    assert "a run of" in run("verify", "c.json", "six.svm").stdout
    Path("xor.svm").write_text("+1 1:1 2:1\n-1 1:1\n-1 2:1\n+1 1:0\n")
    assert (
        "only if the rows are separable" in run("certify", "xor.svm", "--run", "-o", "x.json", code=1).stderr
    )
    assert not Path("x.json").exists()
    assert run("certify", "xor.svm", "-o", "x.json").stdout.startswith("inseparable")
    assert run("verify", "x.json", "xor.svm").exit_code == 0


def test_commands_refuse_what_is_wrong(folder):
    run("certify", "six.svm", "-o", "six.csv", code=1)  # not overwritten
    assert Path("six.csv").read_text().startswith("a,b,label")
    run("certify", "six.svm", "-o", "nowhere/c.json", code=2)
    run("certify", "six.svm", code=2)
    Path("bad.json").write_text("{")
    assert run("verify", "bad.json", "six.svm", code=1).stdout.startswith(
        "refused: the certificate is not readable JSON"
    )
    assert "No such file" in run("verify", "none.json", "six.svm", code=1).stderr


def test_ctrl_c_saves_what_is_proved(folder, monkeypatch):
    def decide(problem, **options):
        return Undecided(-1.0, np.inf, np.zeros(problem.n_rows), "interrupted", interrupted=True)

    monkeypatch.setattr(certificates, "decide", decide)
    assert "interrupted" in run("certify", "six.svm", "-o", "c.json", code=130).stderr
    assert run("verify", "c.json", "six.svm").stdout.startswith(f"{VERIFIED}\n  margin at most")


# ---- real data ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "kind"), [("mushrooms.txt.xz", "separable"), ("phishing.txt.xz", "inseparable")]
)
def test_real_verdicts(name, kind, tmp_path):
    path = at_hand(f"libsvm/{name}")
    X, y = novikoff.load(path)
    made = certify(X, y)
    assert kinds(made)[0] == kind
    plain = tmp_path / "plain.svm"
    plain.write_bytes(lzma.decompress(path.read_bytes()))
    assert checker.verify(made.content, checker.read_data(plain)) == list(made.said)
