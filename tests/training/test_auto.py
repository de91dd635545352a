"""`max_epochs="auto"` and `average="auto"`: when training ends, what is proved by then, and what predicts."""

import io
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from novikoff import Perceptron, VotedPerceptron, checker, open_source
from novikoff.proof.problem import read_problem
from novikoff.proof.wholes import least
from novikoff.training.loop import FIRST, WHEN_SEPARATED, WHILE_OPEN
from novikoff.training.run import Proof
from support.commands import run, svm_text

XOR, XOR_Y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float), [0, 0, 1, 1]


def auto(rule="perceptron", **options):
    return Perceptron(rule, **{"max_epochs": "auto", "average": "auto", "random_state": 0} | options)


def planted(seed, n=1000, d=20, classes=2):
    """Rows that some weights separate, often narrowly."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((classes, d))
    return X, (X @ W.T).argmax(axis=1)


def svm(X, y):
    """Rows as LIBSVM text that is read back unchanged."""
    lines = (
        " ".join([str(c), *(f"{j}:{x!r}" for j, x in enumerate(row, 1))])
        for row, c in zip(X.tolist(), y, strict=True)
    )
    return "\n".join(lines) + "\n"


def noisy(seed, n=300, d=8, classes=2):
    X, y = planted(seed, n, d, classes)
    rng = np.random.default_rng(seed)
    wrong = rng.random(n) < 0.2
    y[wrong] = rng.integers(0, classes, wrong.sum())
    return X, y


# ---- the three ends ------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:The training rows can be separated")
def test_all_separable_gaussian_sets_end_separated():
    """The 50 sets of 1,000 rows in 20 dimensions on 47 of which scikit-learn's perceptron stops too early."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X, u = rng.standard_normal((1000, 20)), rng.standard_normal(20)
        y = (X @ u > 0).astype(int)
        model = auto().fit(X, y)
        assert model.verdict_ == "separated", seed
        assert model.converged_ or model.n_epochs_ == WHEN_SEPARATED
        assert (model.predicts_with_ == "last") == model.converged_ <= (model.score(X, y) == 1), seed
        assert least(read_problem(X, y), *model.witness_) > 0


def test_few_mistakes_that_vary_by_chance_do_not_end_it():
    """Digits, of which any 1,347 can be separated, in 40 to 80 epochs: twenty of them tell little."""
    X, y = load_digits(return_X_y=True)
    for seed in range(10):
        some = np.random.default_rng(seed).permutation(len(y))[:1347]
        model = auto(random_state=seed).fit(X[some], y[some])
        assert model.verdict_ == "separated" and model.converged_ and model.n_epochs_ > FIRST


def test_an_early_clean_epoch_ends_as_it_always_did():
    X, y = planted(1, 20, 3)
    plain = Perceptron(average=False, max_epochs=1000, random_state=0).fit(X, y)
    model = auto().fit(X, y)
    assert model.converged_ and model.n_epochs_ == plain.n_epochs_ < FIRST
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predicts_with_ == "last" and model.verdict_ == "separated"


def test_inseparable_rows_end_after_ten_epochs_with_a_proof():
    X, y = noisy(2)
    model = auto().fit(X, y)
    assert (model.n_epochs_, model.verdict_, model.predicts_with_) == (FIRST, "inseparable", "averaged")
    mean = Perceptron(max_epochs=FIRST, average=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, mean.coef_)
    assert not model.converged_ and model.training_errors_ == mean.training_errors_ > 0
    certificate = model.certificate(X, y)
    assert certificate.claims[0]["claim"] == "inseparable"
    assert checker.verify(checker.parse(certificate.to_json()), (X, y))


def test_a_separated_set_gives_its_witness_as_certificate():
    X, y = planted(3, 200, 5)
    certificate = auto().fit(X, y).certificate(X, y)
    assert certificate.claims[0]["claim"] == "separable" and certificate.verify(X, y)


def test_a_certificate_is_only_for_what_was_proved():
    X, y = noisy(2)
    model = Perceptron(max_epochs=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"undecided.*theory\.certify"):
        model.certificate(X, y)
    with pytest.raises(checker.Refused):
        auto().fit(X, y).certificate(X + 1.0, y)


def test_an_open_question_is_asked_again_while_mistakes_fall(monkeypatch):
    asked = []

    def unanswered(*rows, epochs, **how):
        asked.append(epochs)

    monkeypatch.setattr("novikoff.linear.perceptron.ask", unanswered)
    X, y = noisy(2, n=20_000)
    with pytest.warns(ConvergenceWarning, match="were not separated"):
        model = auto().fit(X, y)
    assert asked == [FIRST] and model.n_epochs_ == FIRST  # these mistakes do not fall
    assert model.verdict_ == "undecided" and model.predicts_with_ == "averaged"
    asked.clear()
    X, y = planted(0)  # these do, but for 578 epochs
    with pytest.warns(ConvergenceWarning, match="were not separated"):
        model = auto().fit(X, y)
    assert asked[0] == FIRST and all(b == 2 * a for a, b in itertools.pairwise(asked))
    assert model.n_epochs_ == asked[-1] <= WHILE_OPEN and model.verdict_ == "undecided"


def test_once_separated_training_goes_on_to_its_limit(monkeypatch):
    """Rounding can prevent a clean epoch for ever; here a witness for a rule that never ends does."""
    witness = np.array([[2.0]]), np.array([-1.0])
    found = Proof(True, *witness, consistent=True)
    monkeypatch.setattr("novikoff.linear.perceptron.ask", lambda *rows, **how: found)
    X, y = np.array([[0.0], [1.0 - 2**-40], [1.0], [1.0 + 2**-40]]), [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="not separated"):
        model = auto().fit(X, y)
    assert model.n_epochs_ == WHEN_SEPARATED and not model.converged_
    assert model.verdict_ == "undecided"  # the claim was checked, and does not hold


# ---- what predicts -------------------------------------------------------------------------------------
@pytest.mark.parametrize("rule", ["perceptron", "normalized", "margin", "pa", "pa1", "pa2"])
@pytest.mark.parametrize("ties", ["positive", "mistake"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("rows", [planted, noisy])
def test_the_last_weights_predict_if_and_only_if_they_make_no_error(rule, ties, classes, multiclass, rows):
    if multiclass == "ovr" and classes == 2:
        pytest.skip("two classes share one vector")
    X, y = rows(5, 150, 4, classes)
    model = auto(rule, ties=ties, multiclass=multiclass, margin=0.5 * (rule == "margin")).fit(X, y)
    last = model._model.scorer(averaged=False).predict(X)
    wrong = np.count_nonzero(last != y)
    if model.predicts_with_ == "last":
        assert wrong == 0 and model.score(X, y) == 1
        np.testing.assert_array_equal(model.coef_, model._model.coef(averaged=False)[0])
    else:
        assert wrong or multiclass == "ovr"
        np.testing.assert_array_equal(model.coef_, model._model.coef(averaged=True)[0])
    if model.training_errors_ is not None:
        assert model.training_errors_ == np.count_nonzero(model.predict(X) != y)
    if model.converged_:
        assert model.predicts_with_ == "last"
    if rows is planted and multiclass == "joint":
        assert model.verdict_ == "separated" and model.converged_
    if rows is noisy:
        assert model.verdict_ == "inseparable" and model.n_epochs_ == FIRST


def test_held_out_rows_do_not_count():
    X = np.linspace(-1, 1, 40)[:, None]
    X, y = np.vstack([X, [[0.9]]]), np.append(X[:, 0] > 0, [False])  # no weights get the last right too
    found = 0
    for seed in range(40):
        model = auto(early_stopping=True, n_epochs_no_change=100, random_state=seed).fit(X, y)
        assert (model.predicts_with_ == "last") == model._run.consistent
        found += model.predicts_with_ == "last" and model.score(X, y) < 1
    assert found


def test_early_stopping_is_not_converged_unless_its_weights_are():
    X, y = planted(6, 400, 20)
    for seed in range(8):
        model = Perceptron(early_stopping=True, n_epochs_no_change=50, random_state=seed).fit(X, y)
        assert not model.converged_ or model._run.consistent


def test_rows_of_weight_0_are_not_asked_about_and_proofs_name_rows_as_given():
    X, y = planted(7, 100, 3)
    X, y = np.vstack([np.ones((5, 3)), X, XOR @ np.eye(2, 3)]), np.concatenate([[0, 1, 0, 1, 0], y, XOR_Y])
    weights = np.r_[np.zeros(5), np.ones(104)]
    model = auto().fit(X, y, sample_weight=weights)
    assert model.verdict_ == "inseparable"
    assert min(model.certificate(X, y).claims[0]["rows"]) >= 5
    weights[105:] = 0
    assert auto().fit(X, y, sample_weight=weights).verdict_ == "separated"


def test_ties_that_are_mistakes_forbid_what_is_only_consistent():
    """(1,0)+, (−1,0)+, (0,1)−: no error if a score of 0 is +, and no weights without one otherwise."""
    X, y = np.array([[1.0, 0], [-1, 0], [0, 1]]), [1, 1, -1]
    lax = auto(fit_intercept=False).fit(X, y)
    assert lax.converged_ and lax.predicts_with_ == "last" and lax.score(X, y) == 1
    strict = auto(fit_intercept=False, ties="mistake").fit(X, y)
    assert strict.verdict_ == "inseparable" and strict.n_epochs_ == FIRST
    margin = auto("margin", fit_intercept=False).fit(X, y)  # updates at every tie
    assert margin.verdict_ == "inseparable" and margin.n_epochs_ == FIRST


def test_partial_fit_predicts_with_the_mean():
    X, y = planted(8, 100, 3)
    model = auto().fit(X, y)
    assert model.predicts_with_ == "last"
    model.partial_fit(X, y)
    assert model.predicts_with_ == "averaged" and model.training_errors_ is None
    np.testing.assert_array_equal(model.coef_, model._model.coef(averaged=True)[0])


def test_starting_points():
    X, y = planted(9, 300, 10)
    model = auto(warm_start=True).fit(X, y)
    again = model.fit(X, y)
    assert again.n_epochs_ == 1 and again.converged_ and again.predicts_with_ == "last"
    other = auto().fit(X, y, coef_init=again.coef_, intercept_init=again.intercept_)
    assert other.n_epochs_ == 1 and other.verdict_ == "separated"


def test_explicit_values_are_as_they_were():
    X, y = noisy(10)
    for average in (False, True):
        model = Perceptron(average=average, max_epochs=12, random_state=0).fit(X, y)
        assert model.n_epochs_ == 12 and model.verdict_ == "undecided"
        assert model.predicts_with_ == ("averaged" if average else "last")


# ---- storage -------------------------------------------------------------------------------------------
def outcome(model):
    run = model._run
    proofs = [(k, p.pairs.tolist(), p.weights) for k, p in run.proofs.items() if p.pairs is not None]
    facts = model.verdict_, model.n_epochs_, model.converged_, model.predicts_with_, run.witness_is
    return (*facts, model.coef_.tobytes(), model.intercept_.tobytes(), model.margin_, str(proofs))


@pytest.mark.parametrize("rows", [planted, noisy])
@pytest.mark.parametrize("classes", [2, 3])
def test_storage_changes_no_bit(rows, classes):
    X, y = rows(11, 200, 6, classes)
    X = np.round(X, 1)  # numbers that float32 may round are given as doubles
    dense = outcome(auto().fit(X, y))
    assert outcome(auto().fit(sp.csr_array(X), y)) == dense
    assert outcome(auto().fit(np.asfortranarray(X), y)) == dense
    assert outcome(auto().fit(in_no_order(X), y)) == dense


def test_the_order_of_columns_is_no_reason_to_leave_a_question_open():
    """Rows that need many z to cancel out: rounding may keep a z more than the relation among them has."""
    X, y = load_svmlight_file(io.BytesIO(svm_text().encode()))
    X = X.toarray()
    models = []
    for seed in range(30):
        columns = np.random.default_rng(seed).permutation(X.shape[1]) if seed else np.arange(X.shape[1])
        model = auto().fit(X[:, columns], y)
        assert (model.n_epochs_, model.verdict_) == (FIRST, "inseparable")
        models.append(model.coef_[:, np.argsort(columns)].tobytes())
    assert len(set(models)) == 1


def in_no_order(X):
    """CSR rows whose indices fall, as scikit-learn's TfidfVectorizer may make them."""
    X = sp.csr_array(X)
    for begin, end in itertools.pairwise(X.indptr):
        X.indices[begin:end], X.data[begin:end] = X.indices[begin:end][::-1], X.data[begin:end][::-1]
    X.has_sorted_indices = False
    return X


@pytest.mark.parametrize("rows", [planted, noisy])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"multiclass": "ovr"}])
def test_rows_in_no_order_are_asked_about_as_others_are(rows, classes, options):
    """The answers: a witness, many rows that cancel out, and two that do."""
    X, y = rows(19, 400, 15, classes)
    dense = auto(**options).fit(X, y)
    assert dense.n_epochs_ >= FIRST and dense._run.proofs  # the question was answered
    assert outcome(auto(**options).fit(in_no_order(X), y)) == outcome(dense)
    X, y = np.vstack([X, X[:1]]), np.append(y, (y[0] + 1) % classes)
    twice = auto(**options).fit(in_no_order(X), y)
    assert twice.verdict_ == "inseparable" and outcome(twice) == outcome(auto(**options).fit(X, y))


@pytest.mark.parametrize("rows", [planted, noisy])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_sources_give_the_bits_of_arrays(rows, classes, multiclass, tmp_path):
    X, y = rows(12, 200, 6, classes)
    path = tmp_path / "rows.svm"
    path.write_text(svm(X, y))
    how = {"order": "cyclic", "multiclass": multiclass}
    source = auto(**how).fit_source(open_source(path))
    array = auto(**how).fit(X, y.astype(float))
    assert outcome(source)[:-1] == outcome(array)[:-1]
    if multiclass == "joint" and source.verdict_ != "undecided":
        assert source.certificate(X, y.astype(float)).claims == array.certificate(X, y.astype(float)).claims


def test_rows_that_are_read_once_make_one_epoch():
    X, y = noisy(13)

    class Once(io.RawIOBase):
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, into):
            return self.data.readinto(into)

    source = open_source(Once(svm(X, y).encode()), format="libsvm")
    if source.can_reread:
        pytest.skip("this stream can be read again")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto().fit_source(source, classes=[0, 1])
    assert model.n_epochs_ == 1 and model.verdict_ == "undecided" and model.predicts_with_ == "averaged"


def test_files_keep_what_predicts_the_witness_and_the_proof(tmp_path):
    for rows, seed in ((planted, 14), (noisy, 15)):
        X, y = rows(seed)
        model = auto().fit(X, y)
        model.save(tmp_path / "model")
        loaded = Perceptron.load(tmp_path / "model")
        assert loaded.predicts_with_ == model.predicts_with_ and loaded.average == "auto"
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        np.testing.assert_array_equal(loaded.witness_[0], model.witness_[0])
        assert loaded.certificate(X, y).content == model.certificate(X, y).content
        loaded.partial_fit(X, y)
        model.partial_fit(X, y)
        np.testing.assert_array_equal(loaded.coef_, model.coef_)


# ---- other ways to call it -----------------------------------------------------------------------------
def test_the_command_learns_until_it_is_done(tmp_path):
    X, y = noisy(16)
    (tmp_path / "rows.svm").write_text(svm(X, y))
    model = str(tmp_path / "m")
    done = run("fit", str(tmp_path / "rows.svm"), "--epochs", "auto", "--model", model)
    assert "inseparable" in done.stdout
    bad = run("fit", str(tmp_path / "rows.svm"), "--epochs", "soon", "--model", model, code=2)
    assert "'auto' or a whole number" in bad.stderr


def test_votes_end_in_the_same_way():
    X, y = noisy(17)
    model = VotedPerceptron(max_epochs="auto", random_state=0).fit(X, y)
    assert model.n_epochs_ == FIRST and model.verdict_ == "inseparable"


@pytest.mark.parametrize("value", ["Auto", 0, -1, 2.5, None, "10"])
def test_illegal_numbers_of_epochs_are_refused(value):
    with pytest.raises(ValueError, match="'auto' or a whole number"):
        Perceptron(max_epochs=value).fit(XOR, XOR_Y)


def test_a_user_who_chose_is_not_warned():
    X, y = noisy(18)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for options in ({"max_epochs": 3}, {"average": True, "max_epochs": 5}, {"max_epochs": 999}):
            Perceptron(random_state=0, **options).fit(X, y)
        auto().fit(X, y)  # proved: nothing is left to say
