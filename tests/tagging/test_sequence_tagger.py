"""`SequenceTagger`: the twin, constraints, stopping, going on, the bound, predicting, scikit-learn."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from novikoff import SequenceTagger
from novikoff.outward import root_up
from novikoff.reference import tagging as twin
from novikoff.tagging import training as tagging
from novikoff.tagging.templates import Templates
from support.children import Child
from support.sentences import TAGS, WORDS_OF, X, Y, corpus, listed


# ---- the twin ----------------------------------------------------------------------------------------
def as_numbers(X, model, names):
    index = {name: j for j, name in enumerate(names)}
    return [[[(index[f], 1.0) for f in token if f in index] for token in s] for s in X]


@pytest.mark.parametrize("transitions", ["first-order", "any"])
@pytest.mark.parametrize("min_count", [1, 5])
def test_fit_is_the_twin_over_the_same_orders(transitions, min_count):
    model = SequenceTagger(random_state=3, max_epochs=4, transitions=transitions, min_count=min_count).fit(
        X, Y
    )
    flat = [f for s in X for token in s for f in token]
    names = [f for f in dict.fromkeys(flat) if flat.count(f) >= min_count]
    labels = [[model.classes_.tolist().index(c) for c in y] for y in Y]
    n, rules = len(model.classes_), twin.anything(len(model.classes_))
    if transitions == "first-order":
        rules.step[...] = 0
        for y in labels:
            rules.step[y[:-1], y[1:]] = 1
    plain = twin.Twin(len(names), n, rules)
    sentences, rng = as_numbers(X, model, names), np.random.default_rng(3)
    for record in model.history_:
        before = plain.mistakes
        plain.epoch(sentences, labels, rng.permutation(len(X)).tolist())
        assert record["mistakes"] == plain.mistakes - before
    w, a = plain.mean()
    ours = {(f, c): v for f, c, v in model.top_features(n=10**6)}
    ours |= {(f, c): v for f, c, v in model.top_features(n=10**6, against=True)}
    for j, c in np.argwhere(w):
        assert ours.pop((names[j], model.classes_[c])) == w[j, c] / plain.visits
    assert not ours
    bigrams = {
        (p, c): v for p, c, v in [*model.top_transitions(999), *model.top_transitions(999, against=True)]
    }
    assert bigrams == {
        (model.classes_[p], model.classes_[c]): a[p, c] / plain.visits for p, c in np.argwhere(a * rules.step)
    }
    decoded = [twin.viterbi(twin.emissions(s, w), a, rules) for s in sentences]
    assert model.predict(X) == [[model.classes_[c] for c in y] for y in decoded]
    assert (model.n_mistakes_, model.radius_) == (plain.mistakes, root_up(Fraction(plain.radius2)))


def test_hashing_learns_from_the_sum_of_features_that_meet():
    """With 2**3 places features collide; the twin gets each feature's place as its number."""
    model = SequenceTagger(random_state=0, hash_bits=3, max_epochs=3, order="cyclic").fit(X, Y)
    features = model.to_model().features
    names = list(dict.fromkeys(f for s in X for token in s for f in token))
    index = dict(zip(names, features.place(names).tolist(), strict=True))
    sentences = [[[(index[f], 1.0) for f in token] for token in s] for s in X]
    labels = [[model.classes_.tolist().index(c) for c in y] for y in Y]
    rules = twin.Rules(*(getattr(model.to_model().allowed, n) for n in ("step", "start", "end")))
    plain = twin.Twin(8, len(model.classes_), rules)
    for _ in model.history_:
        plain.epoch(sentences, labels, range(len(X)))
    w, a = plain.mean()
    assert np.array_equal(model.to_model().scorer.a, a)
    decoded = [twin.viterbi(twin.emissions(s, w), a, rules) for s in sentences]
    assert model.predict(X) == [[model.classes_[c] for c in y] for y in decoded]
    assert model.n_features_in_ == 8


# ---- constraints -------------------------------------------------------------------------------------
def chunked(scheme):
    rng, sentences, tags = np.random.default_rng(5), [], []
    for _ in range(40):
        words, labels = [], []
        while len(words) < 8:
            size, kind = int(rng.integers(1, 4)), str(rng.choice(["P", "Q"]))
            if rng.random() < 0.3:
                labels.append("O")
                words.append("o")
                continue
            words += [f"{kind.lower()}{rng.integers(3)}" for _ in range(size)]
            if scheme == "bio":
                labels += [f"B-{kind}"] + [f"I-{kind}"] * (size - 1)
            else:
                inner = [f"B-{kind}"] + [f"I-{kind}"] * (size - 2) + [f"E-{kind}"]
                labels += [f"S-{kind}"] if size == 1 else inner
        sentences.append([[w] for w in words])
        tags.append(labels)
    return sentences, tags


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_schemes_allow_exactly_what_they_say_and_predictions_keep_to_it(scheme):
    sentences, tags = chunked(scheme)
    model = SequenceTagger(random_state=0, max_epochs=2, transitions=scheme).fit(sentences, tags)

    def legal(y):
        """By the definition of a chunk: it begins with B (or S), goes on with its own type, and ends."""
        open_ = ""
        for label in y:
            tag, _, kind = label.partition("-")
            inside = tag in "IE"
            if inside != bool(open_ and tag in "IE") or (inside and kind != open_):
                return False
            if scheme == "iobes" and open_ and not inside:
                return False
            open_ = kind if tag in "BI" else ""
        return not (scheme == "iobes" and open_)

    rng = np.random.default_rng(0)
    noise = [[[str(rng.choice(["p0", "q1", "o", "new"]))] for _ in range(n)] for n in (1, 1, 2, 3, 30) * 8]
    for y in [*model.predict(noise), *model.predict(sentences)]:
        assert legal(y)
    free = SequenceTagger(random_state=0, max_epochs=2, transitions="any").fit(sentences, tags)
    assert not all(map(legal, free.predict(noise)))


@pytest.mark.parametrize(
    ("scheme", "y", "message"),
    [
        ("bio", [["O", "I-P"]], r"sentence 0, token 1: the label 'I-P' follows 'O'"),
        ("bio", [["B-P", "I-P"], ["I-P", "O"]], r"sentence 1, token 0: the label 'I-P' begins the sentence"),
        ("bio", [["B-P", "I-Q"]], "'I-Q' follows 'B-P'"),
        ("iobes", [["O", "B-P"]], "'B-P' ends the sentence"),
        ("iobes", [["B-P", "O"]], "'O' follows 'B-P'"),
        ("bio", [["NN", "O"]], "needs labels of the form B-…, I-…, O; got 'NN'"),
        ("bio", [["E-P", "O"]], "got 'E-P'"),
    ],
)
def test_labels_that_break_their_scheme_are_refused(scheme, y, message):
    x = [[["a"], ["b"]]] * len(y)
    with pytest.raises(ValueError, match=message):
        SequenceTagger(transitions=scheme).fit(x, y)


def test_where_nothing_is_allowed_everything_is():
    """Only "a b" was seen: no third label may follow, so a sentence of three is decoded freely."""
    model = SequenceTagger(random_state=0).fit([[["x"], ["y"]]], [["a", "b"]])
    assert model.predict([[["x"], ["y"]]]) == [["a", "b"]]
    assert len(model.predict([[["x"], ["y"], ["x"]]])[0]) == 3


# ---- going on ----------------------------------------------------------------------------------------
def test_partial_fit_is_one_epoch_in_the_given_order_and_adds_features():
    whole = SequenceTagger(order="cyclic", max_epochs=1, transitions="any").fit(X, Y)
    parts = SequenceTagger(transitions="any")
    for begin in range(0, 60, 20):
        parts.partial_fit(X[begin : begin + 20], Y[begin : begin + 20], classes=whole.classes_)
    assert parts.top_features(n=10**6) == whole.top_features(n=10**6)
    assert (parts.n_mistakes_, parts.radius_) == (whole.n_mistakes_, whole.radius_)
    assert parts.predict(X) == whole.predict(X)


def test_partial_fit_refuses_new_labels_and_other_settings_and_leaves_the_model_as_it_was():
    model = SequenceTagger().partial_fit(X, Y)
    before = model.top_features(n=10**6), model.n_features_in_
    with pytest.raises(
        ValueError, match="sentence 1, token 0: the label 'NEW' was not declared; known are 'A'"
    ):
        model.partial_fit([[], [["w=brand-new"]]], [[], ["NEW"]])
    with pytest.raises(ValueError, match="needs all sentences at once"):
        model.set_params(min_count=2).partial_fit(X, Y)
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(min_count=1, average=False).partial_fit(X, Y)
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.set_params(average=True).partial_fit(X, Y, classes=["A"])
    assert (model.top_features(n=10**6), model.n_features_in_) == before


def test_partial_fit_goes_from_whole_numbers_to_values():
    model = SequenceTagger().partial_fit(X, Y)
    model.partial_fit([[{"w=the": 0.5}]], [["N"]])
    assert model.to_model().pairs.w.tolist() != [int(v) for v in model.to_model().pairs.w]


def test_a_saved_model_goes_on_as_the_one_in_memory(tmp_path):
    model = SequenceTagger(random_state=0).fit(X[:30], Y[:30])
    model.save(tmp_path / "m")
    loaded = SequenceTagger.load(tmp_path / "m")
    for each in (model, loaded):
        each.partial_fit(X[30:], Y[30:])
    assert sorted(model.top_features(n=10**6)) == sorted(loaded.top_features(n=10**6))
    assert model.predict(X) == loaded.predict(X)


# ---- stopping ----------------------------------------------------------------------------------------
def test_early_stopping_keeps_the_epoch_that_held_out_sentences_like_best():
    noisy, tags = corpus(80, seed=4, noise=0.3)
    model = SequenceTagger(
        random_state=0, early_stopping=True, validation_fraction=0.25, n_epochs_no_change=3, max_epochs=60
    ).fit(listed(noisy), tags)
    scores = [record["validation_score"] for record in model.history_]
    assert len(scores) < 60
    best = int(np.argmax(scores))
    assert best == len(scores) - 4
    again = SequenceTagger(random_state=0, early_stopping=True, validation_fraction=0.25, max_epochs=best + 1)
    again.fit(listed(noisy), tags)
    assert again.top_features(n=10**6) == model.top_features(n=10**6)
    assert model.margin_upper_ == again.margin_upper_  # of the weights kept, not of those dropped
    assert model.n_updates_ == sum(record["updates"] for record in model.history_)
    with pytest.raises(ValueError, match="leaves none to learn from"):
        SequenceTagger(early_stopping=True).fit(X[:1], Y[:1])


def test_callback_and_verbose(capsys):
    seen = []
    model = SequenceTagger(
        random_state=0, verbose=1, callback=lambda r: seen.append(r) or len(seen) == 2
    ).fit(X, Y)
    assert len(model.history_) == 2
    assert seen == model.history_
    assert capsys.readouterr().err.count("mistakes") == 2
    assert set(seen[0]) >= {"epoch", "mistakes", "updates", "wrong_tokens", "norm", "seconds"}


def test_an_interrupt_leaves_a_usable_model():
    def interrupt(record):
        raise KeyboardInterrupt

    model = SequenceTagger(random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    one = SequenceTagger(random_state=0, max_epochs=1).fit(X, Y)
    assert model.predict(X) == one.predict(X)
    assert model.n_epochs_ == 1


def test_control_c_is_heard_within_an_epoch():
    """An epoch is many native calls; this one has no end."""
    code = """
import itertools
import numpy as np
from novikoff import SequenceTagger
from novikoff.tagging.sequences import Sequences

ranges = Sequences.ranges

def endless(*given):
    calls = list(ranges(*given))
    for k, call in enumerate(itertools.cycle(calls)):
        if k == 1:
            print("one of several calls:", len(calls) > 1, flush=True)
        yield call

Sequences.ranges = endless
rng = np.random.default_rng(0)
sentence = [[f"f{j}" for j in rng.integers(0, 5000, 10)] for _ in range(2000)]
y = [f"L{c}" for c in rng.integers(0, 120, 2000)]
model = SequenceTagger(random_state=0)
try:
    model.fit([sentence] * 40, [y] * 40)
except KeyboardInterrupt:
    Sequences.ranges = ranges
    print("raised", model.history_, len(model.predict([sentence])[0]))
"""
    with Child.python(code) as child:
        child.wait_for("one of several calls: True")
        child.interrupt()
        assert child.end() == 0
    assert child.output.splitlines()[1:] == ["raised [] 2000"]


# ---- the bound ---------------------------------------------------------------------------------------
@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_mistakes_keep_to_the_bound_of_collins(seed, n_words, average):
    """On separable sequences: mistakes ≤ (R/γ)² with γ ≥ the witness's margin, and γ ≤ ‖w‖/updates."""
    rng = np.random.default_rng(seed)
    words = [rng.integers(0, n_words, rng.integers(1, 5)).tolist() for _ in range(6)]
    x = [[[f"w{w}"] for w in s] for s in words]
    y = [[f"t{w % 3}" for w in s] for s in words]
    model = SequenceTagger(max_epochs=200, random_state=seed, average=average, transitions="any").fit(x, y)
    assert model.converged_
    report = model.report()
    if model.verdict_ == "separated":
        assert 0 < model.margin_ <= model.margin_upper_ * (1 + 1e-12) or model.n_updates_ == 0
        assert model.n_mistakes_ * model.margin_**2 <= model.radius_**2 * (1 + 1e-12)
        assert report.bound_lower <= report.bound_upper * (1 + 1e-12)
        w = tagging.scorer(model.to_model().weights(), last=True)
        labels = [[model.classes_.tolist().index(c) for c in s] for s in y]
        a, dense = w.a, np.zeros((n_words, len(model.classes_)))
        rows = np.repeat(w.pairs.feature, np.diff(w.pairs.at))
        names = model.to_model().features.names(range(w.pairs.n_features))
        for j, c, v in zip(rows, w.pairs.label, w.w, strict=True):
            dense[int(names[j][1:]), c] = v
        rules = twin.anything(len(model.classes_))
        gaps = [
            twin.gap(twin.emissions([[(f, 1.0)] for f in s], dense), a, rules, c)
            for s, c in zip(words, labels, strict=True)
        ]
        norm = math.sqrt((dense**2).sum() + (a**2).sum())
        assert model.margin_ == pytest.approx(min(gaps) / norm)


def test_a_run_that_is_not_separated_says_so():
    model = SequenceTagger(random_state=0, max_epochs=3).fit(X, Y)
    assert model.verdict_ == "undecided"
    assert "undecided" in model.report().in_full()
    assert model.training_errors_ == sum(a != b for a, b in zip(model.predict(X), Y, strict=True))


# ---- predicting --------------------------------------------------------------------------------------
def test_margins_to_the_runner_up():
    model = SequenceTagger(random_state=0).fit(X, Y)
    margins, tagger = model.predict_marginal_scores(X[:20]), model.to_model()
    scores, found = tagger.scores(X[:20]), tagger.tag(X[:20])
    for m, s, y in zip(margins, scores, found, strict=True):
        at = [model.classes_.tolist().index(c) for c in y]
        best = s[np.arange(len(at)), at]
        assert np.array_equal(best, s.max(axis=1))
        assert np.allclose(best, best[0])  # the best of all goes through every position
        rest = s.copy()
        rest[np.arange(len(at)), at] = -np.inf
        assert np.array_equal(m, best - rest.max(axis=1))
        assert (m >= 0).all()


def test_one_label_has_no_runner_up():
    model = SequenceTagger().fit([[["a"], ["b"]]], [["N", "N"]])
    assert model.predict([[["c"]], []]) == [["N"], []]
    assert np.isinf(model.predict_marginal_scores([[["c"]]])[0]).all()


def test_sentences_of_any_length():
    model = SequenceTagger(random_state=0).fit([*X, [], [["w=dog", "BOS"]]], [*Y, [], ["N"]])
    long = [["w=the"], ["w=dog"], ["nothing known"], []] * 2500
    tags = model.predict([[], [["w=dog", "BOS"]], long, [["unheard"], ["of"]]])
    assert [len(t) for t in tags] == [0, 1, 10_000, 2]
    assert tags[1] == ["N"]
    again = SequenceTagger(random_state=0, max_epochs=3).fit([long, *X], [tags[2], *Y])
    assert again.score([long], [tags[2]]) > 0.9


def test_threads_change_nothing():
    words, _ = corpus(500, seed=9, length=30)
    x = listed(words)
    model = SequenceTagger(random_state=0).fit(X, Y)
    expected = model.predict(x)
    margins = model.predict_marginal_scores(x)
    for jobs in (2, 3, -1):
        model.set_params(n_jobs=jobs)
        assert model.predict(x) == expected
        assert all(map(np.array_equal, model.predict_marginal_scores(x), margins))


def test_score_counts_tokens_and_unknown_labels_are_wrong():
    model = SequenceTagger(random_state=0).fit(X, Y)
    found = model.predict(X)
    pairs = [(a, b) for y, z in zip(Y, found, strict=True) for a, b in zip(y, z, strict=True)]
    assert model.score(X, Y) == np.mean([a == b for a, b in pairs])
    assert model.score([[["w=dog"]]], [["never seen"]]) == 0
    with pytest.raises(ValueError, match="no tokens to score"):
        model.score([], [])


def test_top_features_and_transitions():
    clean, tags = corpus(100, seed=1)
    model = SequenceTagger(random_state=0).fit(listed(clean), tags)
    (name, label, weight), *_ = model.top_features("N", 3)
    assert (TAGS[name.removeprefix("w=")], label) == ("N", "N")
    assert weight > 0
    assert all(w < 0 for _, _, w in model.top_features(against=True, n=5))
    with pytest.raises(ValueError, match="no label 'Z'"):
        model.top_features("Z")


# ---- scikit-learn ------------------------------------------------------------------------------------
def test_clone_grid_search_and_cross_validation():
    model = SequenceTagger(random_state=0, max_epochs=3)
    assert clone(model).get_params() == model.get_params()
    scores = cross_val_score(model, X, Y, cv=3)
    assert (scores > 0.7).all()
    search = GridSearchCV(model, {"max_epochs": [1, 3], "average": [True, False]}, cv=KFold(3)).fit(X, Y)
    assert search.best_params_["max_epochs"] in (1, 3)
    assert search.predict(X[:2]) == search.best_estimator_.predict(X[:2])


def test_a_pickled_estimator_is_the_same_and_goes_on_the_same():
    for settings in ({}, {"features": Templates(["columns: w", "w[0]", "w[-1]"])}, {"hash_bits": 9}):
        x = [[(w,) for w in s] for s in WORDS_OF] if "features" in settings else X
        model = SequenceTagger(random_state=0, max_epochs=3, **settings).fit(x, Y)
        other = pickle.loads(pickle.dumps(model))
        assert other.history_ == model.history_
        for each in (model, other):
            each.partial_fit(x[:5], Y[:5])
        assert other.predict(x) == model.predict(x)
        assert sorted(other.top_features(n=10**6)) == sorted(model.top_features(n=10**6))


def test_the_seed_decides_everything():
    one, same, other = (SequenceTagger(random_state=s, max_epochs=2).fit(X, Y) for s in (1, 1, 2))
    assert one.top_features(n=10**6) == same.top_features(n=10**6)
    assert one.top_features(n=10**6) != other.top_features(n=10**6)
